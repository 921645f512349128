"""A chain of filters: order, what each answer does, and filters that fail."""

from __future__ import annotations

import logging

import pytest

from vanling.filters.chain import (
    Break,
    Consumed,
    Continue,
    Filter,
    FilterChain,
    FilterContext,
    SessionFilters,
    no_filters,
)
from vanling.session.frame import Abort, Frame, Text

CTX = FilterContext("s1", lambda _: None)


class Says(Filter[Frame]):
    """Answers as it was told, and notes in the common course that it was asked."""

    def __init__(self, name: str, answer: object, course: list[str]) -> None:
        self.name, self.answer, self.course = name, answer, course
        self.closed = 0

    def process(self, ctx: FilterContext, frame: Frame) -> Continue[Frame] | Consumed | Break:
        assert ctx is CTX
        self.course.append(f"{self.name}:{frame.ref}")
        if isinstance(self.answer, Exception):
            raise self.answer
        if isinstance(self.answer, Frame):
            return Continue(self.answer)
        if isinstance(self.answer, Consumed | Break):
            return self.answer
        return Continue(frame)

    def close(self, ctx: FilterContext) -> None:
        self.closed += 1
        if isinstance(self.answer, Exception):
            raise self.answer


def chain(*answers: object) -> tuple[FilterChain[Frame], list[str]]:
    course: list[str] = []
    return FilterChain([Says(f"f{n}", answer, course) for n, answer in enumerate(answers, 1)], CTX), course


FRAME = Text(text="hi", ref="a")
OTHER = Abort(ref="b")


@pytest.mark.parametrize(
    ("answers", "verdict", "course"),
    [
        ([], Continue(FRAME), []),
        ([None], Continue(FRAME), ["f1:a"]),
        ([None, None, None], Continue(FRAME), ["f1:a", "f2:a", "f3:a"]),
        ([OTHER], Continue(OTHER), ["f1:a"]),
        ([OTHER, None], Continue(OTHER), ["f1:a", "f2:b"]),
        ([None, OTHER, None], Continue(OTHER), ["f1:a", "f2:a", "f3:b"]),
        ([Consumed(), None], Consumed(), ["f1:a"]),
        ([None, Consumed(), None], Consumed(), ["f1:a", "f2:a"]),
        ([Break("no"), None], Break("no"), ["f1:a"]),
        ([None, Break(), Consumed()], Break("filter"), ["f1:a", "f2:a"]),
        ([Consumed(), Break()], Consumed(), ["f1:a"]),
        ([RuntimeError("x"), None], Consumed(), ["f1:a"]),
        ([None, RuntimeError("x"), None], Consumed(), ["f1:a", "f2:a"]),
    ],
)
def test_filters_run_in_their_order_until_one_does_not_go_on(
    answers: list[object], verdict: object, course: list[str]
) -> None:
    filters, asked = chain(*answers)
    assert filters.run(FRAME) == verdict
    assert asked == course


def test_a_filter_that_fails_is_reported_once_with_its_session(caplog: pytest.LogCaptureFixture) -> None:
    filters, asked = chain(RuntimeError("a fault"), None)
    with caplog.at_level(logging.DEBUG):
        for _ in range(5):
            assert filters.run(FRAME) == Consumed()
    assert asked == ["f1:a"] * 5, "it is asked again: the next frame may suit it"
    assert [record.levelno for record in caplog.records] == [logging.ERROR] + [logging.DEBUG] * 4
    assert all(vars(record)["session_id"] == "s1" and record.exc_info for record in caplog.records)


def test_every_filter_is_closed_also_behind_one_that_fails() -> None:
    first, second = Says("f1", RuntimeError("x"), []), Says("f2", None, [])
    FilterChain([first, second], CTX).close()
    assert (first.closed, second.closed) == (1, 1)


def test_whether_there_are_filters() -> None:
    assert not no_filters(CTX)
    assert not SessionFilters()
    assert SessionFilters(input=[Says("f", None, [])])
    assert SessionFilters(output=[Filter()])
