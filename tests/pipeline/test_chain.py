"""The chain: order, taps, instances, concurrency, failure and end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.virtual import run_virtual, virtual
from tests.pipeline.bench import Bench, Mark
from vanling.pipeline.chain import HearingHalf, run_reply
from vanling.pipeline.events import Event
from vanling.pipeline.node import AsyncNode, AsyncTemplate, NodeContext, Out, SyncNode, SyncTemplate


class Sync(SyncTemplate):
    """Makes nodes of a class of their own, which add their name, or double or swallow events."""

    def __init__(self, name: str, copies: int = 1) -> None:
        self.name, self.copies = name, copies
        self.made: list[SyncNode] = []
        self.closed = 0

    def new_instance(self, context: NodeContext) -> SyncNode:
        template = self

        class Node(SyncNode):
            def __init__(self) -> None:
                self.seen = 0

            def push(self, event: Event, out: Out) -> None:
                self.seen += 1
                assert isinstance(event, Mark)
                for _ in range(template.copies):
                    out(Mark(f"{event.name}{template.name}"))

            def close(self) -> None:
                template.closed += 1

        Node.__name__ = self.name
        self.made.append(Node())
        return self.made[-1]


def test_taps_see_every_event_before_and_after_each_node_in_order() -> None:
    seen: list[str] = []
    out: list[Event] = []
    half = HearingHalf(
        [Sync("A"), Sync("B")],
        Bench().context,
        out.append,
        lambda when, name, event: seen.append(f"{when} {name} {event.name}"),  # type: ignore[attr-defined]
    )
    half.push(Mark("-"))
    assert seen == ["before A -", "after A -A", "before B -A", "after B -AB"]
    assert out == [Mark("-AB")]


@pytest.mark.parametrize("tapped", [True, False])
@pytest.mark.parametrize(("copies", "expected"), [(0, 0), (1, 1), (2, 4)])
def test_a_node_may_hand_on_any_number_of_events(tapped: bool, copies: int, expected: int) -> None:
    out: list[Event] = []
    tap = (lambda when, name, event: None) if tapped else None
    HearingHalf([Sync("A", copies), Sync("B", copies)], Bench().context, out.append, tap).push(Mark())
    assert len(out) == expected


def test_a_half_without_nodes_hands_on_what_it_gets() -> None:
    out: list[Event] = []
    HearingHalf([], Bench().context, out.append).push(Mark("x"))
    assert out == [Mark("x")]


def test_instances_share_nothing_but_their_template() -> None:
    template = Sync("A")
    first = HearingHalf([template, template], Bench().context, lambda event: None)
    HearingHalf([template], Bench().context, lambda event: None)
    first.push(Mark())
    first.push(Mark())
    assert [node.seen for node in template.made] == [2, 2, 0]  # type: ignore[attr-defined]


def test_a_closed_half_takes_nothing_and_closes_each_node_once() -> None:
    template, out = Sync("A"), list[Event]()
    half = HearingHalf([template, template], Bench().context, out.append)
    half.close()
    half.close()
    half.push(Mark())
    assert out == []
    assert template.closed == 2


@given(st.lists(st.text(max_size=3), max_size=30), st.lists(st.sampled_from("ABC"), max_size=5))
def test_order_is_kept_whatever_the_nodes(events: list[str], names: list[str]) -> None:
    out: list[Event] = []
    half = HearingHalf([Sync(name) for name in names], Bench().context, out.append)
    for name in events:
        half.push(Mark(name))
    assert out == [Mark(name + "".join(names)) for name in events]


# --- the reply half ---------------------------------------------------------------------------------------------------


class Async(AsyncTemplate):
    """Makes nodes that run ``body(upstream)``."""

    def __init__(self, body: object = None, name: str = "Node") -> None:
        self.body, self.name = body, name
        self.made = 0
        self.closed = 0

    def new_instance(self, context: NodeContext) -> AsyncNode:
        template = self
        self.made += 1

        class Node(AsyncNode):
            async def stream(self, upstream: AsyncIterator[Event]) -> AsyncGenerator[Event, None]:
                try:
                    if template.body is None:
                        async for event in upstream:
                            yield event
                    else:
                        async for event in template.body(upstream):  # type: ignore[operator]
                            yield event
                finally:
                    template.closed += 1

        Node.__name__ = self.name
        return Node()


async def three(upstream: AsyncIterator[Event]) -> AsyncIterator[Event]:
    async for _ in upstream:
        for n in range(3):
            yield Mark(str(n))


async def failing(upstream: AsyncIterator[Event]) -> AsyncIterator[Event]:
    async for event in upstream:
        yield event
        raise RuntimeError("a node died")


async def endless(upstream: AsyncIterator[Event]) -> AsyncIterator[Event]:
    async for event in upstream:
        while True:
            yield event


async def hanging(upstream: AsyncIterator[Event]) -> AsyncIterator[Event]:
    async for event in upstream:
        yield event
        await asyncio.Event().wait()


async def short(upstream: AsyncIterator[Event]) -> AsyncIterator[Event]:
    async for event in upstream:
        yield event
        return


async def collect(templates: list[AsyncTemplate], bench: Bench, **kwargs: object) -> list[Event]:
    return [event async for event in run_reply(templates, bench.context, Mark("head"), **kwargs)]  # type: ignore[arg-type]


@virtual
async def test_a_reply_without_nodes_is_its_head() -> None:
    assert await collect([], Bench()) == [Mark("head")]


@virtual
async def test_each_reply_gets_fresh_instances_and_closes_them() -> None:
    template = Async()
    for n in (1, 2):
        assert await collect([template, template], Bench()) == [Mark("head")]
        assert template.made == template.closed == 2 * n


@virtual
async def test_taps_of_a_reply() -> None:
    seen: list[str] = []
    await collect(
        [Async(three, "A"), Async(name="B")],
        Bench(),
        tap=lambda when, name, event: seen.append(f"{when} {name} {event.name}"),
    )
    by_node = [[entry for entry in seen if entry.split()[1] == name] for name in "AB"]
    assert by_node[0] == ["before A head", "after A 0", "after A 1", "after A 2"]
    assert by_node[1] == ["before B 0", "after B 0", "before B 1", "after B 1", "before B 2", "after B 2"]
    assert [entry for entry in seen if entry.endswith(" 0")] == ["after A 0", "before B 0", "after B 0"]


@virtual
async def test_nodes_work_at_the_same_time() -> None:
    """Sentence n + 1 is being written while n is being synthesised."""
    second_made = asyncio.Event()

    async def writer(upstream: AsyncIterator[Event]) -> AsyncIterator[Event]:
        async for _ in upstream:
            yield Mark("1")
            yield Mark("2")
            second_made.set()

    async def speaker(upstream: AsyncIterator[Event]) -> AsyncIterator[Event]:
        async for event in upstream:
            await second_made.wait()
            yield event

    assert await collect([Async(writer), Async(speaker)], Bench()) == [Mark("1"), Mark("2")]


@virtual
async def test_no_node_runs_far_ahead_of_one_that_waits() -> None:
    made = 0

    async def eager(upstream: AsyncIterator[Event]) -> AsyncIterator[Event]:
        nonlocal made
        async for event in upstream:
            while True:
                made += 1
                yield event

    async with aclosing(run_reply([Async(eager), Async()], Bench().context, Mark())) as events:
        await anext(events)
        for _ in range(100):
            await asyncio.sleep(0)
        assert made < 12


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_exception_comes_out_after_what_was_made_before_it(place: int) -> None:
    async def main() -> None:
        templates = [Async(), Async(), Async()]
        templates[place] = Async(failing)
        got: list[Event] = []

        async def read() -> None:
            async for event in run_reply(templates, Bench().context, Mark("head")):
                got.append(event)

        with pytest.raises(RuntimeError, match="a node died"):
            await read()
        assert got == [Mark("head")]
        assert all(template.closed == 1 for template in templates)

    run_virtual(main())


@pytest.mark.parametrize("body", [endless, hanging, three])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("taken", [0, 1])
@pytest.mark.parametrize("tapped", [True, False])
def test_closing_cancels_every_node_and_waits_for_it(body: object, place: int, taken: int, tapped: bool) -> None:
    async def main() -> None:
        templates = [Async(), Async(), Async()]
        templates[place] = Async(body)
        tap = (lambda when, name, event: None) if tapped else None
        events = run_reply(templates, Bench().context, Mark(), tap)
        for _ in range(taken):
            await anext(events)
        await events.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert all(template.closed == template.made == taken for template in templates)

    run_virtual(main())


@virtual
async def test_cancelling_the_reader_cancels_every_node() -> None:
    templates = [Async(), Async(hanging), Async()]
    reader = asyncio.create_task(collect(templates, Bench()))
    for _ in range(20):
        await asyncio.sleep(0)
    reader.cancel()
    await asyncio.gather(reader, return_exceptions=True)
    assert all(template.closed == 1 for template in templates)
    assert reader.cancelled()


@virtual
async def test_a_node_that_ends_early_ends_the_reply() -> None:
    templates = [Async(endless), Async(short), Async()]
    assert await collect(templates, Bench()) == [Mark("head")]
    assert all(template.closed == 1 for template in templates)
