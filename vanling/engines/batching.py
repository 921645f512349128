"""Voice detection for all sessions in one thread: windows of many streams become one batch and one wake-up of the loop.

A batch leaves when every open stream has a window in it, at 32 windows, or 5 ms after its first: one session alone
never waits, fifty share. Each stream has at most one window in a batch, since the next depends on its state.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable

import numpy as np

from vanling.contracts.engines import MODEL_RATE, Samples, Vad, VadStream
from vanling.errors import AudioValueError, EngineError

log = logging.getLogger(__name__)

MAX_BATCH = 32
FLUSH_MS = 5.0
BACKLOG_S = 10.0
JOIN_S = 2.0

OnWindow = Callable[[Samples, float], None]
OnError = Callable[[Exception], None]


class VadBatcher:
    """The :class:`~vanling.contracts.engines.VadQueue` of a server; made in, and bound to, the running event loop."""

    def __init__(
        self,
        vad: Vad,
        *,
        max_batch: int = MAX_BATCH,
        flush_ms: float = FLUSH_MS,
        backlog_s: float = BACKLOG_S,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.window_samples = vad.window_samples
        self._vad = vad
        self._loop = loop or asyncio.get_running_loop()
        self._max_batch = max_batch
        self._flush_s = flush_ms / 1000
        self._max_backlog = max(1, int(backlog_s * MODEL_RATE / vad.window_samples))
        self._wake = threading.Condition()
        self._waiting: deque[_Handle] = deque()
        self._first_at = 0.0
        self._open = 0
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="vanling-vad", daemon=True)
        self._thread.start()

    def open(self, on_window: OnWindow, on_error: OnError) -> _Handle:
        """Add a stream; see the contract."""
        with self._wake:
            if self._closed:
                raise EngineError("the voice detector was closed")
            self._open += 1
        return _Handle(self, self._vad.new(), on_window, on_error)

    def close(self) -> None:
        """Stop the thread; windows that still wait are forgotten. May be called twice."""
        with self._wake:
            self._closed = True
            self._waiting.clear()
            self._wake.notify()
        self._thread.join(JOIN_S)

    def _push(self, handle: _Handle, window: Samples) -> None:
        if window.shape != (self.window_samples,):
            raise AudioValueError(f"a voice detector's window has shape ({self.window_samples},), got {window.shape}")
        with self._wake:
            if self._closed or handle.closed:
                return
            if len(handle.items) >= self._max_backlog:
                handle.drop_oldest()
            handle.items.append((handle.reset_next, window))
            handle.reset_next = False
            if handle.queued:
                return
            handle.queued = True
            if not self._waiting:
                self._first_at = time.monotonic()
            self._waiting.append(handle)
            if len(self._waiting) == 1 or self._full():
                self._wake.notify()

    def _leave(self, handle: _Handle) -> None:
        with self._wake:
            if handle.closed:
                return
            handle.closed = True
            handle.items.clear()
            self._open -= 1
            if self._waiting:
                # It may have been the one that the others waited for.
                self._wake.notify()

    def _full(self) -> bool:
        return len(self._waiting) >= min(self._max_batch, self._open)

    def _work(self) -> None:
        failing = False
        while (batch := self._take()) is not None:
            if not batch:
                continue
            results: list[tuple[_Handle, Samples, float | Exception]]
            try:
                for handle, reset, _ in batch:
                    if reset:
                        handle.stream.reset()
                probabilities = self._vad.push(
                    [handle.stream for handle, _, _ in batch], np.stack([window for _, _, window in batch])
                )
                results = [
                    (handle, window, probability)
                    for (handle, _, window), probability in zip(batch, probabilities.tolist(), strict=True)
                ]
                failing = False
            except Exception as error:
                if not failing:
                    # Once per series: a broken model fails 30 times a second for each stream.
                    log.exception("voice detection failed", extra={"component": "VAD", "event": "batch_failed"})
                failing = True
                results = [(handle, window, error) for handle, _, window in batch]
            try:
                self._loop.call_soon_threadsafe(_deliver, results)
            except RuntimeError:
                # The loop is closed: nobody listens any more.
                return

    def _take(self) -> list[tuple[_Handle, bool, Samples]] | None:
        """Wait for a batch to be due and take it off the queue; None once closed."""
        with self._wake:
            while not self._closed:
                if not self._waiting:
                    self._wake.wait()
                    continue
                left = self._first_at + self._flush_s - time.monotonic()
                if self._full() or left <= 0:
                    return self._pop_batch()
                self._wake.wait(left)
            return None

    def _pop_batch(self) -> list[tuple[_Handle, bool, Samples]]:
        batch: list[tuple[_Handle, bool, Samples]] = []
        for _ in range(min(self._max_batch, len(self._waiting))):
            handle = self._waiting.popleft()
            handle.queued = False
            if not handle.items:
                continue
            reset, window = handle.items.popleft()
            batch.append((handle, reset, window))
            if handle.items:
                # Its next window is overdue; `_first_at` stays, so the next batch leaves at once.
                handle.queued = True
                self._waiting.append(handle)
        return batch


def _deliver(results: list[tuple[_Handle, Samples, float | Exception]]) -> None:
    for handle, window, outcome in results:
        if handle.closed:
            continue
        try:
            if isinstance(outcome, Exception):
                handle.on_error(outcome)
            else:
                handle.on_window(window, outcome)
        except Exception:
            # One session's fault must not cost the others of the batch their windows.
            log.exception("a voice detector's listener failed", extra={"component": "VAD", "event": "listener_failed"})


class _Handle:
    """A stream's queue; its fields are guarded by the batcher's lock."""

    __slots__ = ("_batcher", "closed", "dropped", "items", "on_error", "on_window", "queued", "reset_next", "stream")

    def __init__(self, batcher: VadBatcher, stream: VadStream, on_window: OnWindow, on_error: OnError) -> None:
        self._batcher = batcher
        self.stream = stream
        self.on_window = on_window
        self.on_error = on_error
        self.items: deque[tuple[bool, Samples]] = deque()
        self.reset_next = False
        self.queued = False
        self.closed = False
        self.dropped = 0

    def push(self, window: Samples) -> None:
        self._batcher._push(self, window)

    def reset(self) -> None:
        self.reset_next = True

    def close(self) -> None:
        self._batcher._leave(self)

    def drop_oldest(self) -> None:
        reset, _ = self.items.popleft()
        self.dropped += 1
        if reset and self.items:
            self.items[0] = (True, self.items[0][1])
        elif reset:
            self.reset_next = True


class InlineVad:
    """A :class:`~vanling.contracts.engines.VadQueue` that asks the detector at once, in the caller's thread: for tests
    and benchmarks of what stands around it."""

    def __init__(self, vad: Vad) -> None:
        self.window_samples = vad.window_samples
        self._vad = vad

    def open(self, on_window: OnWindow, on_error: OnError) -> _InlineHandle:
        return _InlineHandle(self._vad, on_window, on_error)


class _InlineHandle:
    dropped = 0

    def __init__(self, vad: Vad, on_window: OnWindow, on_error: OnError) -> None:
        self._vad = vad
        self._stream = vad.new()
        self._on_window = on_window
        self._on_error = on_error
        self._closed = False

    def push(self, window: Samples) -> None:
        if self._closed:
            return
        try:
            probability = float(self._vad.push([self._stream], window[np.newaxis])[0])
        except Exception as error:
            self._on_error(error)
            return
        self._on_window(window, probability)

    def reset(self) -> None:
        self._stream.reset()

    def close(self) -> None:
        self._closed = True
