"""One timer for all: what is due is called once, in order, and never too soon."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.virtual import LoopClock, run_virtual, virtual
from vanling.session.wheel import TimerWheel

MS = 1_000_000


def wheel() -> tuple[TimerWheel, LoopClock]:
    clock = LoopClock()
    return TimerWheel(clock, asyncio.get_running_loop()), clock


@virtual
async def test_a_deadline_is_called_once_at_its_time() -> None:
    turning, clock = wheel()
    calls: list[int] = []
    due = clock.now_ns() + 50 * MS
    turning.slot(calls.append).arm(due)
    await asyncio.sleep(0.049)
    assert calls == []
    await asyncio.sleep(10)
    assert len(calls) == 1
    assert due <= calls[0] <= due + 1000


@virtual
async def test_a_deadline_can_be_moved_and_withdrawn() -> None:
    turning, clock = wheel()
    calls: list[str] = []
    start = clock.now_ns()
    sooner = turning.slot(lambda now: calls.append(f"sooner {(now - start) // MS}"))
    later = turning.slot(lambda now: calls.append(f"later {(now - start) // MS}"))
    never = turning.slot(lambda now: calls.append("never"))
    sooner.arm(start + 100 * MS)
    later.arm(start + 20 * MS)
    never.arm(start + 30 * MS)
    sooner.arm(start + 10 * MS)
    later.arm(start + 90 * MS)
    never.arm(None)
    await asyncio.sleep(10)
    assert calls == ["sooner 10", "later 90"]


@virtual
async def test_a_past_deadline_is_called_soon() -> None:
    turning, clock = wheel()
    calls: list[int] = []
    turning.slot(calls.append).arm(clock.now_ns() - 5 * MS)
    assert calls == [], "never from within arm"
    await asyncio.sleep(0.001)
    assert len(calls) == 1


@virtual
async def test_a_call_may_arm_itself_and_others_again() -> None:
    turning, clock = wheel()
    calls: list[int] = []

    def tick(now_ns: int) -> None:
        calls.append(now_ns)
        if len(calls) < 100:
            slot.arm(now_ns + 10 * MS)

    slot = turning.slot(tick)
    slot.arm(clock.now_ns())
    await asyncio.sleep(10)
    assert len(calls) == 100
    assert calls[-1] - calls[0] <= 99 * 10 * MS + 100_000


@virtual
async def test_one_call_that_fails_costs_the_others_nothing() -> None:
    turning, clock = wheel()
    calls: list[int] = []

    def fail(now_ns: int) -> None:
        raise RuntimeError("one session's fault")

    due = clock.now_ns() + MS
    turning.slot(fail).arm(due)
    turning.slot(calls.append).arm(due)
    await asyncio.sleep(1)
    assert len(calls) == 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(-50, 500), st.integers(0, 30)), max_size=60))
def test_any_arming_calls_each_slot_at_its_last_deadline(steps: list[tuple[int, int | None, int]]) -> None:
    async def main() -> None:
        turning, clock = wheel()
        armed: dict[int, int | None] = {}

        def call(which: int, now_ns: int) -> None:
            due = armed.pop(which)
            assert due is not None
            assert now_ns >= due
            assert now_ns - max(due, asked[which]) < 1_000, "late"

        asked: dict[int, int] = {}
        slots = [turning.slot(lambda now_ns, which=which: call(which, now_ns)) for which in range(10)]
        for which, after_ms, wait_ms in steps:
            due = None if after_ms is None else clock.now_ns() + after_ms * MS
            armed[which], asked[which] = due, clock.now_ns()
            slots[which].arm(due)
            await asyncio.sleep(wait_ms / 1000)
        await asyncio.sleep(10)
        assert all(due is None for due in armed.values()), "a deadline was forgotten"

    run_virtual(main())
