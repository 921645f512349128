"""The outlet: the only writer of ``tts`` messages and audio. A pure machine: items and times in, messages out.

It guarantees that every start gets exactly one stop and that no two starts follow each other; that a sentence is
announced just before its first frame; that audio leaves at the pace of its playback; and that after an interruption
nothing of the old reply leaves but its closing messages (CONVERSATION §5).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum

from vanling.contracts.audio import AudioSpec, Pace
from vanling.core.pacer import Pacer
from vanling.session.frame import (
    Audio,
    Emotion,
    OutputMessage,
    ReplyDone,
    ReplyStatus,
    Sentence,
    SentenceEnd,
    TtsStart,
    TtsStop,
)

MAX_AHEAD_MS = 4_000.0
MAX_AHEAD_SENTENCES = 2
"""How far the voice may run ahead of the wire (rule 5.4)."""


@dataclass(frozen=True, slots=True)
class PacingSettings:
    """``pacing.*``; see rule 5.3."""

    lead_frames: int = 2
    start_gap_ms: float = 100
    """Pause between ``tts start`` and the first audio: a XiaoZhi device flushes its queue on start, so audio sent
    sooner is lost."""
    device_buffer_ms: float = 200
    """What a device may still hold when the last frame should have been played."""


class OutletState(Enum):
    SILENT = "silent"
    STARTING = "starting"
    SPEAKING = "speaking"
    HELD = "held"
    """The gate is shut: what is made waits, and it is open whether it will ever be heard."""
    DRAINING = "draining"


@dataclass(slots=True)
class _Announced:
    """One sentence of the present reply and how much of it has been made, sent and played."""

    text: str
    emotion: str
    made_ms: float = 0.0
    sent_ms: float = 0.0
    play_start_ns: int | None = None
    shown: bool = False
    ended: bool = False
    """All of it has been made."""
    heard: bool = False
    """Counts as heard, whatever becomes of the reply: played in full, or at least half when the gate was shut."""
    over: bool = False
    """Played in full: not repeated after a hold."""
    frames: list[_Frame] = field(default_factory=list)
    """Kept until it is over, for it begins anew after a hold."""

    def played_ms(self, now_ns: int) -> float:
        if self.play_start_ns is None:
            return 0.0
        return min(self.sent_ms, max(0.0, (now_ns - self.play_start_ns) / 1e6))

    def half_played(self, now_ns: int) -> bool:
        """At least half of what was made of it has been heard; a sentence without audio is heard by being shown."""
        return self.shown and 2 * self.played_ms(now_ns) >= self.made_ms

    def played_out(self, now_ns: int) -> bool:
        return self.shown and self.ended and self.played_ms(now_ns) >= self.made_ms


@dataclass(frozen=True, slots=True)
class _Frame:
    sentence: _Announced
    packet: bytes
    duration_ms: float


@dataclass(frozen=True, slots=True)
class _EndOf:
    sentence: _Announced


_Item = _Announced | _Frame | _EndOf


class Outlet:
    """One per session. Between :meth:`begin` and the stop it belongs to one reply."""

    def __init__(self, spec: AudioSpec | None, pacing: PacingSettings) -> None:
        self._pacing = pacing
        self._paced = spec is not None and spec.pace is Pace.REALTIME
        self._pacer = Pacer(spec.frame_ms if spec is not None else 60.0, pacing.lead_frames)
        self._state = OutletState.SILENT
        self._queue: deque[_Item] = deque()
        self._sentences: list[_Announced] = []
        self._open: _Announced | None = None
        self._unended = False
        self._epoch = 0
        self._ended: ReplyStatus | None = None
        self._active = False
        self._backlog_ms = 0.0
        self._waiting_sentences = 0
        self._gate_ns = 0
        self._played_ns = 0
        self._begun = False

    @property
    def state(self) -> OutletState:
        return self._state

    @property
    def begun(self) -> bool:
        """Whether anything of the present reply has been heard or shown."""
        return self._begun

    @property
    def active(self) -> bool:
        """Whether a reply owns the outlet."""
        return self._active

    @property
    def backlog_ms(self) -> float:
        """Audio that waits to leave."""
        return self._backlog_ms

    @property
    def has_room(self) -> bool:
        """False: the voice is far enough ahead and should wait."""
        return self._backlog_ms < MAX_AHEAD_MS and self._waiting_sentences <= MAX_AHEAD_SENTENCES

    @property
    def next_ns(self) -> int | None:
        """When :meth:`step` should be called again; None: not before something is offered or becomes writable."""
        if self._state in (OutletState.STARTING, OutletState.DRAINING):
            return self._gate_ns
        if self._state is OutletState.SPEAKING and self._audio_is_next():
            # The first frame, and every one where nothing is paced, may leave as soon as the connection takes it.
            next_ns = self._pacer.next_ns
            return self._gate_ns if next_ns is None else next_ns
        return None

    def begin(self, epoch: int) -> None:
        """A reply takes the outlet, which must be silent; nothing is sent before its first sentence."""
        assert self._state is OutletState.SILENT, "interrupt the old reply first"
        self._clear()
        self._epoch = epoch
        self._active = True
        self._pacer.reset()

    def sentence(self, text: str, emotion: str) -> None:
        announced = _Announced(text, emotion)
        self._sentences.append(announced)
        self._unended = True
        self._queue.append(announced)
        self._waiting_sentences += 1

    def audio(self, packet: bytes, duration_ms: float) -> None:
        """One packet of the sentence that was announced last."""
        sentence = self._sentences[-1]
        frame = _Frame(sentence, packet, duration_ms)
        sentence.made_ms += duration_ms
        sentence.frames.append(frame)
        self._queue.append(frame)
        self._backlog_ms += duration_ms

    def sentence_end(self) -> None:
        self._unended = False
        self._sentences[-1].ended = True
        self._queue.append(_EndOf(self._sentences[-1]))

    def end(self, status: ReplyStatus) -> None:
        """Nothing more will be offered by this reply; a sentence that it broke off ends here."""
        if self._unended:
            self.sentence_end()
        self._ended = status

    def step(self, now_ns: int, writable: bool) -> list[OutputMessage]:
        """All messages that are due now, in order. ``writable``: whether an audio frame may be handed over."""
        out: list[OutputMessage] = []
        while self._advance(now_ns, writable, out):
            # Handing over one frame may fill the connection; the caller tells at the next step.
            if out and isinstance(out[-1], Audio):
                break
        return out

    def hold(self, now_ns: int) -> list[OutputMessage]:
        """Shut the gate: closing messages if the client had been told of a start. The reply may go on being made."""
        if not self._active or self._state is OutletState.HELD:
            return []
        out: list[OutputMessage] = []
        if self._state is not OutletState.SILENT:
            self._close_sentence(out)
            out.append(TtsStop(epoch=self._epoch))
        self._rewind(now_ns)
        self._state = OutletState.HELD
        return out

    def release(self, epoch: int) -> None:
        """Open the gate: with the next step the reply goes on from the held sentence, under a new start."""
        if self._state is OutletState.HELD:
            self._state = OutletState.SILENT
            self._epoch = epoch
            self._pacer.reset()
            self._played_ns = 0

    def interrupt(self, now_ns: int) -> list[OutputMessage]:
        """Give up the present reply: its closing messages. Nothing of it leaves afterwards."""
        if not self._active:
            return []
        out: list[OutputMessage] = []
        if self._state not in (OutletState.SILENT, OutletState.HELD):
            self._close_sentence(out)
            out.append(TtsStop(epoch=self._epoch))
        out.append(ReplyDone(epoch=self._epoch, status=ReplyStatus.INTERRUPTED, text=self.heard(now_ns)))
        self._clear()
        return out

    def heard(self, now_ns: int) -> str:
        """What the user has heard of the present reply: the sentences whose last frame's playout has passed, and the
        one in progress if at least half of it was played (rule 5.5)."""
        kept: list[str] = []
        for sentence in self._sentences:
            if sentence.heard or sentence.half_played(now_ns):
                kept.append(sentence.text)
            elif not sentence.shown:
                break
        return " ".join(kept)

    def _rewind(self, now_ns: int) -> None:
        """Queue again, from its beginning, whatever was not played in full."""
        waiting: deque[_Item] = deque()
        for sentence in self._sentences:
            sentence.heard = sentence.heard or sentence.half_played(now_ns)
            sentence.over = sentence.over or sentence.played_out(now_ns)
            if sentence.over:
                continue
            sentence.shown, sentence.sent_ms, sentence.play_start_ns = False, 0.0, None
            waiting += (sentence, *sentence.frames)
            if sentence.ended:
                waiting.append(_EndOf(sentence))
        self._queue = waiting
        self._backlog_ms = sum(item.duration_ms for item in waiting if isinstance(item, _Frame))
        self._waiting_sentences = sum(isinstance(item, _Announced) for item in waiting)

    def _advance(self, now_ns: int, writable: bool, out: list[OutputMessage]) -> bool:
        """One transition; False where nothing more is due."""
        match self._state:
            case OutletState.SILENT:
                return self._start(now_ns, out)
            case OutletState.STARTING:
                if now_ns < self._gate_ns:
                    return False
                self._state = OutletState.SPEAKING
                return True
            case OutletState.SPEAKING:
                return self._speak(now_ns, writable, out)
            case OutletState.HELD:
                return False
            case OutletState.DRAINING:
                if now_ns >= self._gate_ns:
                    self._finish(out, stop=True)
                return False

    def _start(self, now_ns: int, out: list[OutputMessage]) -> bool:
        if self._queue:
            out.append(TtsStart(epoch=self._epoch))
            self._state = OutletState.STARTING
            gap_ms = self._pacing.start_gap_ms if self._paced else 0
            self._gate_ns = now_ns + int(gap_ms * 1e6)
            return True
        if self._active and self._ended is not None:
            self._finish(out, stop=False)
        return False

    def _speak(self, now_ns: int, writable: bool, out: list[OutputMessage]) -> bool:
        if not self._queue:
            if self._ended is None:
                return False
            self._state = OutletState.DRAINING
            buffer_ms = self._pacing.device_buffer_ms if self._paced and self._played_ns else 0
            self._gate_ns = max(now_ns, self._played_ns) + int(buffer_ms * 1e6)
            return True
        head = self._queue[0]
        if isinstance(head, _Announced):
            return self._announce(head, now_ns, writable, out)
        if isinstance(head, _EndOf):
            self._queue.popleft()
            self._close_sentence(out)
            return True
        return self._send(head, now_ns, writable, out)

    def _announce(self, head: _Announced, now_ns: int, writable: bool, out: list[OutputMessage]) -> bool:
        """Say which sentence comes, once its first frame can follow at once (or it turned out to have none)."""
        if len(self._queue) < 2:
            return False
        if isinstance(self._queue[1], _Frame) and not self._may_send(now_ns, writable):
            return False
        self._queue.popleft()
        self._waiting_sentences -= 1
        self._open = head
        head.shown = self._begun = True
        self._forget_before(head, now_ns)
        out.append(Emotion(epoch=self._epoch, name=head.emotion))
        out.append(Sentence(epoch=self._epoch, text=head.text))
        return True

    def _forget_before(self, head: _Announced, now_ns: int) -> None:
        """The frames of sentences that have been played out are not needed any more."""
        for sentence in self._sentences:
            if sentence is head:
                return
            if sentence.frames and sentence.played_out(now_ns):
                sentence.heard = sentence.over = True
                sentence.frames = []

    def _send(self, frame: _Frame, now_ns: int, writable: bool, out: list[OutputMessage]) -> bool:
        if not self._may_send(now_ns, writable):
            return False
        self._queue.popleft()
        self._backlog_ms -= frame.duration_ms
        if self._paced:
            self._pacer.sent(1, now_ns)
        play_ns = max(self._played_ns, now_ns)
        if frame.sentence.play_start_ns is None:
            frame.sentence.play_start_ns = play_ns
        frame.sentence.sent_ms += frame.duration_ms
        self._played_ns = play_ns + int(frame.duration_ms * 1e6)
        out.append(Audio(epoch=self._epoch, packet=frame.packet, duration_ms=frame.duration_ms))
        return True

    def _may_send(self, now_ns: int, writable: bool) -> bool:
        return writable and (not self._paced or self._pacer.due(now_ns) > 0)

    def _audio_is_next(self) -> bool:
        queue = self._queue
        if not queue:
            return False
        return isinstance(queue[0], _Frame) or (len(queue) > 1 and isinstance(queue[1], _Frame))

    def _close_sentence(self, out: list[OutputMessage]) -> None:
        if self._open is not None:
            out.append(SentenceEnd(epoch=self._epoch, text=self._open.text))
            self._open = None

    def _finish(self, out: list[OutputMessage], *, stop: bool) -> None:
        status = self._ended or ReplyStatus.COMPLETED
        text = " ".join(sentence.text for sentence in self._sentences)
        if stop:
            out.append(TtsStop(epoch=self._epoch))
        out.append(ReplyDone(epoch=self._epoch, status=status, text=text))
        self._clear()

    def _clear(self) -> None:
        self._state = OutletState.SILENT
        self._queue.clear()
        self._sentences = []
        self._open = None
        self._unended = False
        self._ended = None
        self._active = False
        self._backlog_ms = 0.0
        self._waiting_sentences = 0
        self._played_ns = 0
        self._begun = False
