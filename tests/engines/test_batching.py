"""The VAD queue: batches, order per stream, limits, resets, faults. Flush delays are set so that only counts decide."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest

from tests.fakes.engines import FakeVad
from vanling.contracts.engines import Samples, VadHandle, VadQueue, VadStream
from vanling.engines.batching import InlineVad, VadBatcher
from vanling.errors import AudioValueError, EngineError

NEVER_MS = 60_000.0


def window(level: float = 0.0) -> Samples:
    return np.full(512, level, np.float32)


class Listener:
    """Collects what a handle is told, and lets a test await the n-th call."""

    def __init__(self) -> None:
        self.heard: list[tuple[float, float]] = []
        self.errors: list[Exception] = []
        self._news = asyncio.Event()

    def on_window(self, samples: Samples, probability: float) -> None:
        self.heard.append((float(samples[0]), probability))
        self._news.set()

    def on_error(self, error: Exception) -> None:
        self.errors.append(error)
        self._news.set()

    def open(self, queue: VadQueue) -> VadHandle:
        return queue.open(self.on_window, self.on_error)

    async def until(self, n: int) -> None:
        async with asyncio.timeout(10):
            while len(self.heard) + len(self.errors) < n:
                self._news.clear()
                await self._news.wait()


class GatedVad(FakeVad):
    """Stops in its first call until released, so that windows pile up."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def push(self, streams: Sequence[VadStream], windows: Samples) -> Samples:
        self.begun.set()
        self.go_on.wait()
        return super().push(streams, windows)


async def test_one_stream_alone_does_not_wait_for_others() -> None:
    batcher = VadBatcher(FakeVad(), flush_ms=NEVER_MS)
    listener = Listener()
    listener.open(batcher).push(window(0.5))
    await listener.until(1)
    batcher.close()
    assert listener.heard == [(0.5, pytest.approx(0.95))]


async def test_a_batch_leaves_when_every_stream_has_a_window() -> None:
    vad = FakeVad()
    batcher = VadBatcher(vad, flush_ms=NEVER_MS)
    listeners = [Listener() for _ in range(5)]
    handles = [listener.open(batcher) for listener in listeners]
    for n, handle in enumerate(handles):
        handle.push(window(n / 10))
    for listener in listeners:
        await listener.until(1)
    batcher.close()
    assert vad.batches == [5]


async def test_a_batch_holds_at_most_its_limit() -> None:
    vad = FakeVad()
    batcher = VadBatcher(vad, flush_ms=NEVER_MS, max_batch=32)
    listeners = [Listener() for _ in range(40)]
    handles = [listener.open(batcher) for listener in listeners]
    for handle in handles[:32]:
        handle.push(window())
    await listeners[31].until(1)
    batcher.close()
    assert vad.batches == [32]


async def test_the_delay_flushes_an_incomplete_batch() -> None:
    vad = FakeVad()
    batcher = VadBatcher(vad, flush_ms=1.0)
    listener, idle = Listener(), Listener()
    handle, _ = listener.open(batcher), idle.open(batcher)
    handle.push(window())
    await listener.until(1)
    batcher.close()
    assert vad.batches == [1]


async def test_order_per_stream_is_kept_with_one_window_per_batch() -> None:
    vad = GatedVad()
    batcher = VadBatcher(vad, flush_ms=NEVER_MS)
    a, b = Listener(), Listener()
    one, two = a.open(batcher), b.open(batcher)
    for n in range(10):
        one.push(window(n / 100))
        two.push(window(n / 100))
    vad.go_on.set()
    await a.until(10)
    await b.until(10)
    batcher.close()
    expected = [pytest.approx(n / 100) for n in range(10)]
    assert [level for level, _ in a.heard] == expected
    assert [level for level, _ in b.heard] == expected
    assert max(vad.batches) == 2


async def test_the_oldest_window_of_a_full_backlog_is_dropped_and_counted() -> None:
    vad = GatedVad()
    batcher = VadBatcher(vad, flush_ms=0.0, backlog_s=0.1)  # 3 windows
    listener = Listener()
    handle = listener.open(batcher)
    handle.push(window(0.0))
    await asyncio.to_thread(vad.begun.wait)
    for n in range(1, 6):
        handle.push(window(n / 100))
    assert handle.dropped == 2
    vad.go_on.set()
    await listener.until(4)
    batcher.close()
    assert [round(level * 100) for level, _ in listener.heard] == [0, 3, 4, 5]


async def test_reset_takes_effect_between_the_windows_around_it() -> None:
    class Recorder(FakeVad):
        def push(self, streams: Sequence[VadStream], windows: Samples) -> Samples:
            seen.append((float(windows[0][0]), streams[0].resets))  # type: ignore[attr-defined]
            return super().push(streams, windows)

    seen: list[tuple[float, int]] = []
    batcher = VadBatcher(Recorder(), flush_ms=0.0)
    listener = Listener()
    handle = listener.open(batcher)
    handle.push(window(0.0))
    handle.push(window(1.0))
    handle.reset()
    handle.push(window(2.0))
    await listener.until(3)
    batcher.close()
    assert seen == [(0.0, 0), (1.0, 0), (2.0, 1)]


async def test_a_reset_outlives_the_window_it_was_tied_to() -> None:
    vad = GatedVad()
    batcher = VadBatcher(vad, flush_ms=0.0, backlog_s=0.04)  # 1 window
    listener = Listener()
    handle = listener.open(batcher)
    handle.push(window())
    await asyncio.to_thread(vad.begun.wait)
    handle.reset()
    handle.push(window())
    handle.push(window())
    vad.go_on.set()
    await listener.until(2)
    batcher.close()
    assert vad.streams[0].resets == 1


async def test_a_failing_batch_reports_and_the_batcher_goes_on() -> None:
    batcher = VadBatcher(FakeVad([RuntimeError("broken")]), flush_ms=0.0)
    listener = Listener()
    handle = listener.open(batcher)
    handle.push(window())
    await listener.until(1)
    handle.push(window(0.5))
    await listener.until(2)
    batcher.close()
    assert [str(error) for error in listener.errors] == ["broken"]
    assert len(listener.heard) == 1


async def test_a_series_of_failures_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    batcher = VadBatcher(FakeVad([RuntimeError("broken")] * 3), flush_ms=0.0)
    listener = Listener()
    handle = listener.open(batcher)
    for _ in range(4):
        handle.push(window())
    await listener.until(4)
    batcher.close()
    assert caplog.text.count("voice detection failed") == 1


async def test_a_failing_listener_costs_the_others_nothing(caplog: pytest.LogCaptureFixture) -> None:
    batcher = VadBatcher(FakeVad(), flush_ms=NEVER_MS)
    listener = Listener()

    def fail(_window: Samples, _probability: float) -> None:
        raise RuntimeError("listener")

    bad, good = batcher.open(fail, listener.on_error), listener.open(batcher)
    bad.push(window())
    good.push(window())
    await listener.until(1)
    batcher.close()
    assert len(listener.heard) == 1
    assert "listener failed" in caplog.text


async def test_no_callback_after_close() -> None:
    vad = GatedVad()
    batcher = VadBatcher(vad, flush_ms=0.0)
    gone, stays = Listener(), Listener()
    handle, other = gone.open(batcher), stays.open(batcher)
    handle.push(window())
    await asyncio.to_thread(vad.begun.wait)
    handle.push(window())
    handle.close()
    handle.close()
    handle.push(window())
    other.push(window())
    vad.go_on.set()
    await stays.until(1)
    batcher.close()
    assert not gone.heard


async def test_a_leaving_stream_is_no_longer_waited_for() -> None:
    batcher = VadBatcher(FakeVad(), flush_ms=NEVER_MS)
    listener, leaving = Listener(), Listener()
    handle, other = listener.open(batcher), leaving.open(batcher)
    handle.push(window())
    other.close()
    await listener.until(1)
    batcher.close()


async def test_a_wrong_window_is_refused() -> None:
    batcher = VadBatcher(FakeVad())
    handle = Listener().open(batcher)
    with pytest.raises(AudioValueError, match="512"):
        handle.push(np.zeros(100, np.float32))
    batcher.close()
    with pytest.raises(EngineError):
        Listener().open(batcher)


async def test_the_inline_queue_answers_at_once() -> None:
    listener = Listener()
    handle = listener.open(InlineVad(FakeVad([0.3, ValueError("x")])))
    handle.push(window())
    handle.push(window())
    handle.close()
    handle.push(window())
    assert [probability for _, probability in listener.heard] == [pytest.approx(0.3)]
    assert len(listener.errors) == 1
