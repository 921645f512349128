"""The session machine: what to do when a frame, an event or a moment comes. Pure: no clock, no socket, no task.

It decides about phases, modes, turns and interruptions (CONVERSATION §1–4 and §7); how a reply is spoken is the
outlet's, how it is made the rounds'.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from dataclasses import dataclass
from enum import Enum

from vanling.contracts.audio import AudioSpec
from vanling.contracts.engines import Outcome
from vanling.dialogue.empty_input import EmptyInput, Verdict
from vanling.dialogue.ling import Act, EmptyTurn, Say, UserSaid
from vanling.dialogue.phrases import Phrase
from vanling.pipeline.events import (
    Event,
    SetMode,
    SpeechEnded,
    SpeechPaused,
    SpeechResumed,
    SpeechStarted,
    TurnHeard,
    TurnOver,
)
from vanling.session.actions import Action, End, Hear, Send, StopRunning, Upgrade
from vanling.session.ear import Ear
from vanling.session.frame import (
    Abort,
    Close,
    Detect,
    Error,
    ErrorCode,
    Frame,
    Heard,
    Hello,
    HelloReply,
    ListenMode,
    ListenStart,
    ListenStop,
    ReplyDone,
    ReplyStatus,
    Text,
    TtsStart,
    TtsStop,
)

MS = 1_000_000

WAKE_LISTEN_MS = 2_000
"""A listen/start this soon after a wake belongs to it (rule 2.3); without one the greeting comes then."""

GREETING_DELAY_MS = 400
"""After that listen/start, the greeting leaves room for a one-breath command (rule 2.2)."""

AUDIO_GAP_MS = 500
"""That long without any audio, what comes next is a new stream (rule 1.2)."""

AFTER_REPLY_MS = 1_000
"""In auto mode, empty outcomes this soon after a reply are its echo, not a turn (rule 3.5)."""

MAX_WAITING_TEXTS = 8
"""Typed lines that wait behind a turn that is being recognised; more than that is not a person."""


class Phase(Enum):
    IDLE = "idle"
    """Before hello."""
    LISTENING = "listening"
    SPEAKING = "speaking"
    """The running round is between ``tts start`` and ``tts stop``; hearing goes on."""
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """``session.*`` and ``turn.*``; times in ms of wall time."""

    no_activity_ms: float | None = 30_000
    """Close after so long without activity; None: never."""
    stall_ms: float = 1_200
    barge_in_lockout_ms: float = 250
    wake_words: tuple[str, ...] = ()
    greeting: bool = True


class SessionMachine:
    """Feed it frames, hearing events, output and time; it answers with actions. Times are in ns of any one clock."""

    def __init__(self, session_id: str, downlink: AudioSpec | None, settings: SessionSettings, now_ns: int) -> None:
        self.session_id = session_id
        self._downlink = downlink
        self._settings = settings
        self._wake_words = frozenset(_plain(word) for word in settings.wake_words)
        self._empty = EmptyInput()
        self.phase = Phase.IDLE
        self.epoch = 1
        self.mode = ListenMode.AUTO
        self._listening = False
        self._running = False
        self._ear = Ear()
        self._texts: deque[str] = deque()
        self._mode_only = False
        self._stopped = False
        self._stall_off = False
        self._end_after_reply = ""
        self._last_audio_ns: int | None = None
        self._activity_ns = now_ns
        self._detect_ns: int | None = None
        self._lockout_ns: int | None = None
        self._greeting_ns: int | None = None
        self._tts_start_ns: int | None = None
        self._reply_over_ns: int | None = None

    # --- frames ---------------------------------------------------------------------------------------------------

    def on_audio(self, now_ns: int) -> list[Action] | None:
        """A packet of the uplink arrived: None where it must be ignored, else what to do before it is heard."""
        if self.phase is Phase.IDLE or self.phase is Phase.ENDED:
            return None
        if self._listening_is_over():
            return None
        last_ns, self._last_audio_ns = self._last_audio_ns, now_ns
        gap = last_ns is not None and now_ns - last_ns >= AUDIO_GAP_MS * MS
        if gap and self.mode.hands_free and (not self._ear.speech or self._stall_off):
            return [Hear(self._set_mode(fresh=True))]
        return []

    def on_frame(self, frame: Frame, now_ns: int) -> list[Action]:
        """Any frame but audio."""
        if self.phase is Phase.ENDED:
            return []
        if isinstance(frame, Close):
            return self._end(frame.reason)
        if isinstance(frame, Hello):
            return self._hello(now_ns)
        if self.phase is Phase.IDLE:
            return []
        self._activity_ns = now_ns
        match frame:
            case ListenStart(mode=mode):
                return self._listen_start(mode, now_ns)
            case ListenStop():
                return self._listen_stop()
            case Detect(text=text):
                self._detect_ns = now_ns
                return self._wake(now_ns) if _plain(text) in self._wake_words else self._text(text)
            case Text(text=text):
                return self._text(text)
            case Abort():
                return self._abort()
        return []

    # --- the round that hears -------------------------------------------------------------------------------------

    def on_hearing(self, event: Event, now_ns: int) -> list[Action]:
        """An event left the hearing half."""
        if self.phase is Phase.ENDED:
            return []
        match event:
            case SetMode(fresh=True):
                self._ear.reset_done()
            case SpeechStarted() | SpeechResumed():
                return self._onset(now_ns) if self._ear.up_to_date else []
            case SpeechPaused():
                self._ear.pause()
                self._activity_ns = now_ns
            case SpeechEnded():
                self._ear.end()
            case TurnOver():
                self._ear.turn_over(event)
                self._activity_ns = now_ns
            case TurnHeard() if self._ear.take(event):
                return self._outcome(event, now_ns) + self._queued_texts()
        return []

    # --- the round that speaks ------------------------------------------------------------------------------------

    def on_output(self, message: object, now_ns: int) -> list[Action]:
        """A message of the running round went out."""
        if isinstance(message, TtsStart):
            self._tts_start_ns = now_ns
            self.phase = Phase.SPEAKING
            # An auto-mode device closes its microphone now and opens it with its next listen/start (rule 3.5).
            self._stall_off = self.mode is ListenMode.AUTO
        elif isinstance(message, ReplyDone) and message.status is not ReplyStatus.INTERRUPTED:
            return self._reply_done(now_ns)
        return []

    # --- time -----------------------------------------------------------------------------------------------------

    def on_time(self, now_ns: int) -> list[Action]:
        """A moment has come; harmless at any time."""
        actions: list[Action] = []
        if self.phase in (Phase.IDLE, Phase.ENDED):
            return actions
        stall_ns = self._stall_at()
        if stall_ns is not None and now_ns >= stall_ns:
            # What comes after a stall is a new stream; without the reset its first edge would go unseen.
            actions += [Hear(self._ear.finish("stall")), Hear(self._set_mode(fresh=True))]
        if self._lockout_ns is not None and now_ns >= self._lockout_ns:
            self._lockout_ns = None
            if self._ear.voice:
                actions += self._barge_in(now_ns)
        if self._greeting_ns is not None and now_ns >= self._greeting_ns:
            self._greeting_ns = None
            actions += self._say(Phrase.GREETING)
        idle_ns = self._idle_at()
        if idle_ns is not None and now_ns >= idle_ns:
            actions += self._end("no_activity_timeout")
        return actions

    def deadline_ns(self) -> int | None:
        """When :meth:`on_time` should be called next, at the latest."""
        if self.phase in (Phase.IDLE, Phase.ENDED):
            return None
        moments = (self._stall_at(), self._lockout_ns, self._greeting_ns, self._idle_at())
        return min((at for at in moments if at is not None), default=None)

    # --- decisions ------------------------------------------------------------------------------------------------

    def _hello(self, now_ns: int) -> list[Action]:
        """A second hello is answered with the effective values and resets nothing (rule 5.2)."""
        if self.phase is Phase.IDLE:
            self.phase = Phase.LISTENING
            self._activity_ns = now_ns
        return [Send(HelloReply(session_id=self.session_id, downlink=self._downlink))]

    def _listen_start(self, mode: ListenMode, now_ns: int) -> list[Action]:
        fresh = (self._listening and not self.mode.hands_free) or self._stopped or self._left_open(now_ns)
        self._listening, self.mode = True, mode
        self._stopped = self._stall_off = False
        if not mode.hands_free:
            return self._press()
        if self._belongs_to_detect(now_ns):
            self._detect_ns = None
            self._mode_only = False
            if self._greeting_ns is not None:
                self._greeting_ns = now_ns + GREETING_DELAY_MS * MS
            return [Hear(self._set_mode(fresh=fresh))]
        if self._mode_only:
            # An auto-mode device says this by itself after every stop (rule 3.5).
            self._mode_only = False
            return [Hear(self._set_mode(fresh=fresh))]
        return [*self._interrupt("listen_start"), Hear(self._set_mode(fresh=fresh))]

    def _press(self) -> list[Action]:
        """Everything before a press is forgotten, and what was said before is not waited for any more (rule 3.6)."""
        self._mode_only = False
        self._greeting_ns = None
        self._texts.clear()
        actions = [*self._interrupt("listen_start"), Hear(self._set_mode(fresh=True))]
        self._ear.press()
        return actions

    def _listen_stop(self) -> list[Action]:
        if not self._listening:
            return []
        self._listening = False
        self._stopped = True
        return [Hear(self._ear.finish("stop")), Hear(self._set_mode(fresh=True))]

    def _wake(self, now_ns: int) -> list[Action]:
        self._empty.woken()
        self._stopped = False
        self._close_press()
        if self._settings.greeting:
            self._greeting_ns = now_ns + WAKE_LISTEN_MS * MS
        return [*self._interrupt("wake"), Hear(self._set_mode(fresh=True))]

    def _text(self, text: str) -> list[Action]:
        text = text.strip()
        if not text:
            return []
        actions: list[Action] = []
        if self._close_press():
            actions.append(Hear(self._set_mode(fresh=True)))
        if self._ear.owes:
            # What was said before it is answered first (rule 6.3).
            if len(self._texts) < MAX_WAITING_TEXTS:
                self._texts.append(text)
                return actions
            full = "too many lines wait for words that are being recognised; this one was dropped"
            return [*actions, Send(Error(epoch=self.epoch, code=ErrorCode.BAD_MESSAGE, message=full))]
        return actions + self._answer(text, None)

    def _abort(self) -> list[Action]:
        self._greeting_ns = None
        if self.phase is Phase.SPEAKING:
            return self._interrupt("abort")
        # A device waits in "speaking" until it is answered, whatever we think of it.
        return [*self._interrupt("abort"), Send(TtsStop(epoch=self.epoch))]

    def _onset(self, now_ns: int) -> list[Action]:
        self._ear.onset()
        self._activity_ns = now_ns
        self._greeting_ns = None
        return self._barge_in(now_ns)

    def _barge_in(self, now_ns: int) -> list[Action]:
        """Voice interrupts in realtime mode; an onset inside the lockout is judged again when it ends (rule 3.7)."""
        if self.mode is not ListenMode.REALTIME or self.phase is not Phase.SPEAKING or self._tts_start_ns is None:
            return []
        lockout_ns = self._tts_start_ns + int(self._settings.barge_in_lockout_ms * MS)
        if now_ns < lockout_ns:
            self._lockout_ns = lockout_ns
            return []
        return self._interrupt("barge_in")

    def _outcome(self, event: TurnHeard, now_ns: int) -> list[Action]:
        """Classified here, when the recogniser has answered, never by racing events (rule 4.1)."""
        if event.outcome.failure:
            error = Error(epoch=self.epoch, code=ErrorCode.ASR_FAILED, message="speech could not be recognised")
            return [Send(error), *self._say(Phrase.FAILURE)]
        if event.outcome.result.outcome is Outcome.TEXT:
            return self._answer(event.outcome.result.text, event)
        return self._nothing_said(event, now_ns)

    def _nothing_said(self, event: TurnHeard, now_ns: int) -> list[Action]:
        explicit_stop = event.over.reason == "stop"
        if self.mode.hands_free and (self._running or self._just_spoke(now_ns)):
            return []
        judgement = self._empty.judge(
            hands_free=self.mode.hands_free, explicit_stop=explicit_stop, voiced_ms=event.over.voiced_ms
        )
        if judgement.verdict is Verdict.SILENT:
            return []
        if judgement.verdict is Verdict.GIVE_UP and not judgement.grade:
            return self._end("no_input")
        actions = self._upgrade(EmptyTurn(judgement.kind, judgement.grade), event)
        if judgement.verdict is Verdict.GIVE_UP:
            self._end_after_reply = "no_input"
        return actions

    def _answer(self, text: str, turn: TurnHeard | None) -> list[Action]:
        self._empty.words()
        self._greeting_ns = None
        interrupted = self._interrupt("new_turn")
        return [*interrupted, Send(Heard(epoch=self.epoch, text=text)), *self._upgrade(UserSaid(text), turn)]

    def _say(self, which: Phrase) -> list[Action]:
        return self._upgrade(Say(which), None)

    def _upgrade(self, act: Act, turn: TurnHeard | None) -> list[Action]:
        actions = self._interrupt("upgrade")
        self._running = True
        self._greeting_ns = None
        self._end_after_reply = ""
        return [*actions, Upgrade(act, turn, self.epoch)]

    def _interrupt(self, reason: str) -> list[Action]:
        """Stop the running round, if there is one; its messages still carry the old epoch."""
        if not self._running:
            return []
        self._running = False
        self._end_after_reply = ""
        self._lockout_ns = None
        self.epoch += 1
        if self.phase is Phase.SPEAKING:
            self.phase = Phase.LISTENING
            self._mode_only = self.mode is ListenMode.AUTO
        return [StopRunning(reason)]

    def _reply_done(self, now_ns: int) -> list[Action]:
        """The reply came to its own end; an interrupted one was taken away by :meth:`_interrupt` before."""
        if not self._running:
            return []
        self._running = False
        self._lockout_ns = None
        spoke = self.phase is Phase.SPEAKING
        self.phase = Phase.LISTENING
        self._activity_ns = now_ns
        self._reply_over_ns = now_ns
        self._mode_only = spoke and self.mode is ListenMode.AUTO
        return self._end(self._end_after_reply) if self._end_after_reply else []

    def _queued_texts(self) -> list[Action]:
        """All that waited, each as if it had come now."""
        actions: list[Action] = []
        while self._texts and not self._ear.owes:
            actions += self._answer(self._texts.popleft(), None)
        return actions

    def _end(self, reason: str) -> list[Action]:
        actions = self._interrupt("end")
        self.phase = Phase.ENDED
        return [*actions, End(reason)]

    # --- conditions -----------------------------------------------------------------------------------------------

    def _set_mode(self, *, fresh: bool) -> SetMode:
        if fresh:
            self._ear.reset()
        return SetMode(hands_free=self.mode.hands_free, listening=self._listening, fresh=fresh)

    def _close_press(self) -> bool:
        """Typed text or a wake ends an open press (rule 2.1)."""
        if self.mode.hands_free or not self._listening:
            return False
        self._listening = False
        return True

    def _listening_is_over(self) -> bool:
        """Push to talk: between two presses there is nothing to hear."""
        return not self.mode.hands_free and not self._listening

    def _left_open(self, now_ns: int) -> bool:
        """Speech that was cut off when an auto-mode device closed its microphone at ``tts start`` (rule 3.5)."""
        return self._ear.speech and self._stall_off and now_ns - (self._last_audio_ns or 0) >= AUDIO_GAP_MS * MS

    def _belongs_to_detect(self, now_ns: int) -> bool:
        return self._detect_ns is not None and now_ns - self._detect_ns <= WAKE_LISTEN_MS * MS

    def _just_spoke(self, now_ns: int) -> bool:
        return self._reply_over_ns is not None and now_ns - self._reply_over_ns < AFTER_REPLY_MS * MS

    def _stall_at(self) -> int | None:
        """When silence on the wire ends an open turn; off while a reply is spoken (rules 1.1 and 3.5)."""
        if not self._ear.speech or not self._listening or not self.mode.hands_free or self._last_audio_ns is None:
            return None
        if self._stall_off or self.phase is Phase.SPEAKING:
            return None
        return self._last_audio_ns + int(self._settings.stall_ms * MS)

    def _idle_at(self) -> int | None:
        """Activity is arriving voice, text, control, or an unfinished reply; streamed silence is none (rule 7.1)."""
        limit_ms = self._settings.no_activity_ms
        if limit_ms is None or self._running or self._ear.awaits_words or self._greeting_ns is not None:
            return None
        active_ns = self._activity_ns
        if self._ear.voice and self._last_audio_ns is not None:
            active_ns = max(active_ns, self._last_audio_ns)
        return active_ns + int(limit_ms * MS)


def _plain(text: str) -> str:
    """A wake word without case, width, spaces and marks, so that "Hi, Lexin!" is "hilexin"."""
    return "".join(ch for ch in unicodedata.normalize("NFKC", text).casefold() if ch.isalnum())
