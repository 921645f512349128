"""vad: PCM to windows with a verdict, and the edges of speech."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass

import numpy as np

from vanling.contracts.engines import MODEL_RATE, Samples, VadQueue
from vanling.core.endpoint import Endpointer, State
from vanling.core.pcm import int16_to_float32
from vanling.pipeline.events import (
    Event,
    FinishTurn,
    PcmFrame,
    SetMode,
    SpeechEnded,
    SpeechPaused,
    SpeechResumed,
    SpeechStarted,
    VoiceHeard,
    VoiceLapsed,
    Window,
)
from vanling.pipeline.node import NodeContext, Out, SyncNode, SyncTemplate

log = logging.getLogger(__name__)

MAX_PENDING_WINDOWS = 312
"""Windows that may wait for a verdict, about 10 s of audio; a client that sends faster loses the newest."""

VOICE_MS = 64.0
"""Voice from which a reply that has not begun waits (CONVERSATION rule 3.2)."""


@dataclass(frozen=True, slots=True)
class VadSettings:
    """``vad.*`` and ``turn.silence_confirm_ms``; probabilities 0…1, times in ms of audio."""

    threshold: float = 0.5
    deactivation: float = 0.35
    min_speech_ms: float = 120
    min_silence_ms: float = 300
    silence_confirm_ms: float = 200


class VadNode(SyncNode):
    """Cuts PCM into the detector's windows, hands them to the shared queue, and follows the verdicts.

    Verdicts come later than their audio, so events that arrive meanwhile wait behind the windows before them: order
    is kept across the detector.
    """

    def __init__(self, queue: VadQueue, settings: VadSettings, session_id: str) -> None:
        self._settings = settings
        self._session_id = session_id
        self._size = queue.window_samples
        self._handle = queue.open(self._on_window, self._on_error)
        self._endpointer = _endpointer(settings)
        self._state = State.IDLE
        self._hands_free = True
        self._rest: Samples = np.empty(0, np.float32)
        self._arrived_ns = 0
        self._waiting: deque[_Sent | Event] = deque()
        self._pending = 0
        self._out: Out | None = None
        self._voice = False
        self._failed = 0
        self.dropped = 0

    def push(self, event: Event, out: Out) -> None:
        self._out = out
        if type(event) is PcmFrame:
            self._cut(event)
            return
        if isinstance(event, SetMode) and event.fresh:
            # The queue puts the reset between the windows before it and those that follow.
            self._handle.reset()
            self._rest = self._rest[:0]
        elif isinstance(event, FinishTurn):
            self._fill_up()
        if self._pending:
            self._waiting.append(event)
        else:
            self._pass(event, out)

    def close(self) -> None:
        self._out = None
        self._handle.close()

    def _fill_up(self) -> None:
        """The end of a turn that was let go is no whole window: without silence behind it, it would be lost."""
        if len(self._rest):
            self._send(np.pad(self._rest, (0, self._size - len(self._rest))), self._arrived_ns, self._arrived_ns)
            self._rest = self._rest[:0]

    def _cut(self, frame: PcmFrame) -> None:
        self._arrived_ns = frame.arrived_ns
        samples = int16_to_float32(frame.pcm)
        if len(self._rest):
            samples = np.concatenate((self._rest, samples))
        size = self._size
        n = len(samples)
        end = size
        while end <= n:
            # The packet's last sample counts as captured when it arrived; earlier ones by the audio's own clock.
            end_ns = frame.arrived_ns - (n - end) * 1_000_000_000 // MODEL_RATE
            self._send(samples[end - size : end], end_ns, frame.arrived_ns)
            end += size
        self._rest = samples[end - size :]

    def _send(self, window: Samples, end_ns: int, arrived_ns: int) -> None:
        if self._pending >= MAX_PENDING_WINDOWS:
            self.dropped += 1
            return
        self._pending += 1
        self._waiting.append(_Sent(window, end_ns, arrived_ns))
        self._handle.push(window)

    def _on_window(self, _window: Samples, probability: float) -> None:
        """A verdict: hand the window on, then the edge it made, then what waited behind it."""
        out = self._out
        if out is None:
            return
        waiting = self._waiting
        sent = waiting.popleft()
        assert isinstance(sent, _Sent)
        self._pending -= 1
        voiced = probability >= self._settings.threshold
        out(Window(sent.window, probability, voiced, sent.end_ns, sent.arrived_ns))
        before = self._state
        state = self._endpointer.push(self._size, probability)
        self._follow_voice(state, out)
        if state is not before:
            self._edge(before, state, out)
        while waiting and not isinstance(waiting[0], _Sent):
            held = waiting.popleft()
            assert isinstance(held, Event)
            self._pass(held, out)

    def _follow_voice(self, state: State, out: Out) -> None:
        """Voice is told of before it is sure to be speech: a reply that has not begun waits for it (rule 3.2)."""
        if not self._voice:
            if state is State.SPEECH or (state is State.IDLE and self._endpointer.voiced_ms >= VOICE_MS):
                self._voice = True
                out(VoiceHeard())
        elif state is State.CONFIRMED:
            self._voice = False
        elif state is State.IDLE and self._endpointer.voiced_ms == 0:
            self._voice = False
            out(VoiceLapsed())

    def _edge(self, before: State, state: State, out: Out) -> None:
        self._state = state
        if state is State.SPEECH:
            out(SpeechResumed() if before is State.FALLING else SpeechStarted())
        elif state is State.FALLING:
            out(SpeechPaused())
        elif state is State.CONFIRMED:
            self._state = State.IDLE
            if self._hands_free:
                out(SpeechEnded(self._settings.min_silence_ms + self._settings.silence_confirm_ms))

    def _pass(self, event: Event, out: Out) -> None:
        if isinstance(event, SetMode):
            self._hands_free = event.hands_free
            if event.fresh:
                self._endpointer.reset()
                self._state = State.IDLE
                self._voice = False
        out(event)

    def _on_error(self, error: Exception) -> None:
        """A window without a verdict counts as silence: it is time all the same."""
        self._failed += 1
        if self._failed == 1:
            extra = {"component": "VAD", "event": "vad_error", "session_id": self._session_id, "reason": str(error)}
            log.error("voice detection failed", extra=extra)
        self._on_window(self._rest, 0.0)


class _Sent:
    """A window on its way through the detector."""

    __slots__ = ("arrived_ns", "end_ns", "window")

    def __init__(self, window: Samples, end_ns: int, arrived_ns: int) -> None:
        self.window = window
        self.end_ns = end_ns
        self.arrived_ns = arrived_ns


def _endpointer(settings: VadSettings) -> Endpointer:
    return Endpointer(
        MODEL_RATE,
        settings.threshold,
        settings.deactivation,
        settings.min_speech_ms,
        settings.min_silence_ms,
        settings.silence_confirm_ms,
    )


class VadTemplate(SyncTemplate):
    def __init__(self, queue: VadQueue, settings: VadSettings) -> None:
        self._queue = queue
        self._settings = settings

    def new_instance(self, context: NodeContext) -> VadNode:
        return VadNode(self._queue, self._settings, context.session_id)
