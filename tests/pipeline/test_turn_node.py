"""turn: turns come out as they were spoken, whenever their words come in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.pipeline.bench import Bench, Mark
from vanling.contracts.engines import AsrResult, Outcome
from vanling.pipeline.events import TurnHeard, TurnOutcome, TurnOver
from vanling.pipeline.nodes.turn import TurnTemplate


def over(number: int) -> TurnOver:
    return TurnOver(number, "silence", 0, 0, 500, 1_000)


def outcome(number: int) -> TurnOutcome:
    return TurnOutcome(number, AsrResult(Outcome.TEXT, str(number)), 0, 0)


@given(st.permutations(range(1, 7)), st.integers(0, 6))
def test_turns_come_out_in_order_and_each_as_soon_as_it_may(order: list[int], early: int) -> None:
    bench = Bench()
    node = TurnTemplate().new_instance(bench.context)
    for number in range(1, 7):
        node.push(over(number), bench.out.append)
    assert bench.names() == ["TurnOver"] * 6, "the end of a turn is told at once"
    for n, number in enumerate(order):
        node.push(outcome(number), bench.out.append)
        done = set(order[: n + 1])
        ready = next(k for k in range(7) if k + 1 not in done)
        heard = bench.of(TurnHeard)
        assert [turn.over.number for turn in heard] == list(range(1, ready + 1))
        assert all(turn.over.number == turn.outcome.number for turn in heard)


def test_other_events_pass() -> None:
    bench = Bench()
    node = TurnTemplate().new_instance(bench.context)
    node.push(over(1), bench.out.append)
    node.push(Mark(), bench.out.append)
    assert bench.names() == ["TurnOver", "Mark"]
