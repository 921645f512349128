"""The session machine: what to do when a frame, an event or a moment comes. Pure: no clock, no socket, no task.

It decides about modes, streams and moments (CONVERSATION §1, §2 and §7). What words mean is the turns', what a voice
does to a reply the floor's, how a reply is spoken the outlet's, how it is made the rounds'.
"""

from __future__ import annotations

from vanling.contracts.audio import AudioSpec
from vanling.dialogue.ling import Say as SayPhrase
from vanling.dialogue.phrases import Phrase
from vanling.pipeline.events import (
    Event,
    GuessHeard,
    PartialHeard,
    SetMode,
    SpeechEnded,
    SpeechPaused,
    SpeechResumed,
    SpeechStarted,
    TurnHeard,
    TurnOver,
    VoiceHeard,
    VoiceLapsed,
)
from vanling.session.actions import Action, Hear, Send
from vanling.session.floor import Floor
from vanling.session.frame import (
    Abort,
    Close,
    Detect,
    Frame,
    Hello,
    HelloReply,
    ListenMode,
    ListenStart,
    ListenStop,
    ReplyDone,
    ReplyStatus,
    Say,
    Sentence,
    Text,
    TtsStart,
    TtsStop,
)
from vanling.session.hold import Counts
from vanling.session.settings import MS, Phase, SessionSettings
from vanling.session.turns import Turns
from vanling.session.waking import Waking

__all__ = ["Phase", "SessionMachine", "SessionSettings"]

AUDIO_GAP_MS = 500
"""That long without any audio, what comes next is a new stream (rule 1.2)."""


class SessionMachine:
    """Feed it frames, hearing events, output and time; it answers with actions. Times are in ns of any one clock."""

    def __init__(self, session_id: str, downlink: AudioSpec | None, settings: SessionSettings, now_ns: int) -> None:
        self.session_id = session_id
        self._downlink = downlink
        self._settings = settings
        self._floor = Floor(settings)
        self._ear = self._floor.ear
        self._waking = Waking(settings.wake_words, greets=settings.greeting)
        self._turns = Turns(self._floor, self._waking)
        self._stopped = False
        self._last_audio_ns: int | None = None
        self._activity_ns = now_ns

    @property
    def phase(self) -> Phase:
        return self._floor.phase

    @property
    def epoch(self) -> int:
        return self._floor.epoch

    @property
    def mode(self) -> ListenMode:
        return self._floor.mode

    @property
    def counts(self) -> Counts:
        return self._floor.counts

    # --- frames ---------------------------------------------------------------------------------------------------

    def on_audio(self, now_ns: int) -> list[Action] | None:
        """A packet of the uplink arrived: None where it must be ignored, else what to do before it is heard."""
        floor = self._floor
        if floor.phase is Phase.IDLE or floor.phase is Phase.ENDED:
            return None
        if not floor.mode.hands_free and not floor.listening:
            return None  # push to talk: between two presses there is nothing to hear
        last_ns, self._last_audio_ns = self._last_audio_ns, now_ns
        gap = last_ns is not None and now_ns - last_ns >= AUDIO_GAP_MS * MS
        if gap and floor.mode.hands_free and (not self._ear.speech or floor.stall_off):
            return self._turns.settled([Hear(self._set_mode(fresh=True))], now_ns)
        return []

    def on_frame(self, frame: Frame, now_ns: int) -> list[Action]:
        """Any frame but audio."""
        return self._turns.settled(self._take_frame(frame, now_ns), now_ns)

    def _take_frame(self, frame: Frame, now_ns: int) -> list[Action]:
        if self.phase is Phase.ENDED:
            return []
        if isinstance(frame, Close):
            return self._turns.end(frame.reason, now_ns)
        if isinstance(frame, Hello):
            return self._hello(now_ns)
        if isinstance(frame, Say):
            return self._turns.announce(frame)
        if self.phase is Phase.IDLE:
            return []
        self._activity_ns = now_ns
        match frame:
            case ListenStart(mode=mode):
                return self._listen_start(mode, now_ns)
            case ListenStop():
                return self._listen_stop(now_ns)
            case Detect(text=text):
                return self._wake(now_ns) if self._waking.detected(text, now_ns) else self._text(text, now_ns)
            case Text(text=text):
                return self._text(text, now_ns)
            case Abort():
                return self._abort(now_ns)
        return []

    # --- the round that hears -------------------------------------------------------------------------------------

    def on_hearing(self, event: Event, now_ns: int) -> list[Action]:
        """An event left the hearing half."""
        return self._turns.settled(self._take_hearing(event, now_ns), now_ns)

    def _take_hearing(self, event: Event, now_ns: int) -> list[Action]:
        floor, ear = self._floor, self._ear
        if self.phase is Phase.ENDED:
            return []
        match event:
            case SetMode(fresh=True):
                ear.reset_done()
            case VoiceHeard() if ear.up_to_date:
                ear.voicing = True
                return floor.voice(now_ns, new=True)
            case SpeechStarted() | SpeechResumed() if ear.up_to_date:
                ear.onset()
                self._activity_ns = now_ns
                self._waking.drop_greeting()
                return floor.think_again() + floor.voice(now_ns, new=False)
            case VoiceLapsed():
                ear.lapse()
            case SpeechPaused():
                ear.pause()
                floor.hold.fell(now_ns)
                self._activity_ns = now_ns
            case SpeechEnded():
                ear.end()
            case GuessHeard(text):
                return self._turns.guess(text)
            case PartialHeard(text, voiced_ms) if floor.hold.wordless(text, voiced_ms):
                return floor.release("wordless", false_alarm=True)
            case TurnOver():
                ear.turn_over(event)
                self._activity_ns = now_ns
            case TurnHeard() if ear.take(event):
                return self._turns.turn_heard(event, now_ns)
        return []

    # --- the round that speaks ------------------------------------------------------------------------------------

    def on_output(self, message: object, now_ns: int) -> list[Action]:
        """A message of the running round went out."""
        floor = self._floor
        if isinstance(message, TtsStart):
            floor.tts_started(now_ns)
        elif isinstance(message, Sentence):
            return self._turns.shown(message)
        elif isinstance(message, ReplyDone) and message.status is not ReplyStatus.INTERRUPTED and floor.running:
            self._activity_ns = now_ns
            if ends_with := floor.reply_done(now_ns):
                return self._turns.end(ends_with, now_ns)
            return self._turns.settled([], now_ns)
        return []

    # --- time -----------------------------------------------------------------------------------------------------

    def on_time(self, now_ns: int) -> list[Action]:
        """A moment has come; harmless at any time."""
        if self.phase in (Phase.IDLE, Phase.ENDED):
            return []
        actions: list[Action] = []
        self._turns.saying.on_time(now_ns)
        stall_ns = self._stall_at()
        if stall_ns is not None and now_ns >= stall_ns:
            actions += self._stall(now_ns)
        actions += self._floor.on_time(now_ns)
        if self._waking.greeting_is_due(now_ns):
            actions += self._turns.begin(SayPhrase(Phrase.GREETING), None, now_ns)
        idle_ns = self._idle_at()
        if idle_ns is not None and now_ns >= idle_ns:
            actions += self._turns.end("no_activity_timeout", now_ns)
        return self._turns.settled(actions, now_ns)

    def deadline_ns(self) -> int | None:
        """When :meth:`on_time` should be called next, at the latest."""
        if self.phase in (Phase.IDLE, Phase.ENDED):
            return None
        say_ns = self._turns.saying.due_ns
        moments = (self._stall_at(), *self._floor.deadlines(), self._waking.greeting_ns, say_ns, self._idle_at())
        return min((at for at in moments if at is not None), default=None)

    # --- what a client does ---------------------------------------------------------------------------------------

    def _hello(self, now_ns: int) -> list[Action]:
        """A second hello is answered with the effective values and resets nothing (rule 5.2)."""
        if self.phase is Phase.IDLE:
            self._floor.phase = Phase.LISTENING
            self._activity_ns = now_ns
            self._turns.saying.hello(now_ns)
        return [Send(HelloReply(session_id=self.session_id, downlink=self._downlink))]

    def _listen_start(self, mode: ListenMode, now_ns: int) -> list[Action]:
        floor = self._floor
        fresh = floor.open_press or self._stopped or self._left_open(now_ns)
        floor.listening, floor.mode = True, mode
        floor.stall_off = self._stopped = False
        self._turns.saying.listen_start()
        if not mode.hands_free:
            return self._press(now_ns)
        by_itself, floor.mode_only = floor.mode_only, False
        # An auto-mode device says this by itself after every stop (rule 3.5).
        if self._waking.takes_start(now_ns) or by_itself:
            return [Hear(self._set_mode(fresh=fresh))]
        return [*self._turns.interrupt("listen_start", now_ns), Hear(self._set_mode(fresh=fresh))]

    def _press(self, now_ns: int) -> list[Action]:
        """Everything before a press is forgotten, and what was said before is not waited for any more (rule 3.6)."""
        self._floor.mode_only = False
        self._waking.drop_greeting()
        self._turns.press()
        actions = [*self._turns.interrupt("listen_start", now_ns), Hear(self._set_mode(fresh=True))]
        self._ear.press()
        return actions

    def _listen_stop(self, now_ns: int) -> list[Action]:
        if not self._floor.listening:
            return []
        self._floor.listening = False
        self._stopped = True
        return self._finish("stop", now_ns)

    def _wake(self, now_ns: int) -> list[Action]:
        self._turns.empty.woken()
        self._stopped = False
        self._close_press()
        self._waking.woken(now_ns)
        return [*self._turns.interrupt("wake", now_ns), Hear(self._set_mode(fresh=True))]

    def _text(self, text: str, now_ns: int) -> list[Action]:
        text = text.strip()
        if not text:
            return []
        actions: list[Action] = []
        if self._close_press():
            actions.append(Hear(self._set_mode(fresh=True)))
        return actions + self._turns.text(text, now_ns)

    def _abort(self, now_ns: int) -> list[Action]:
        self._waking.drop_greeting()
        if self.phase is Phase.SPEAKING:
            return self._turns.interrupt("abort", now_ns)
        # A device waits in "speaking" until it is answered, whatever we think of it.
        actions = self._turns.interrupt("abort", now_ns)
        self._floor.tts_stopped(now_ns)
        return [*actions, Send(TtsStop(epoch=self.epoch))]

    # --- the hearing half -----------------------------------------------------------------------------------------

    def _finish(self, reason: str, now_ns: int) -> list[Action]:
        """End the open turn; what comes then is a new stream, without the reset its first edge would go unseen."""
        self._floor.hold.fell(now_ns)
        return [Hear(self._ear.finish(reason)), Hear(self._set_mode(fresh=True))]

    def _stall(self, now_ns: int) -> list[Action]:
        """What the device cut off with its microphone, or is no speech, is dropped."""
        if self._ear.speech and not self._floor.stall_off:
            return self._finish("stall", now_ns)
        return [Hear(self._set_mode(fresh=True))]

    def _set_mode(self, *, fresh: bool) -> SetMode:
        if fresh:
            self._ear.reset()
        return SetMode(hands_free=self.mode.hands_free, listening=self._floor.listening, fresh=fresh)

    def _close_press(self) -> bool:
        """Typed text or a wake ends an open press (rule 2.1)."""
        open_press = self._floor.open_press
        if open_press:
            self._floor.listening = False
        return open_press

    # --- conditions -----------------------------------------------------------------------------------------------

    def _left_open(self, now_ns: int) -> bool:
        """Speech that was cut off when an auto-mode device closed its microphone at ``tts start`` (rule 3.5)."""
        gap = now_ns - (self._last_audio_ns or 0) >= AUDIO_GAP_MS * MS
        return self._ear.speech and self._floor.stall_off and gap

    def _stall_at(self) -> int | None:
        """When silence on the wire ends an open turn, or the voice that holds a reply (rules 1.1 and 3.5)."""
        floor = self._floor
        if self._last_audio_ns is None or not floor.listening or not floor.mode.hands_free:
            return None
        held = floor.hold.shut
        if (self._ear.speech and (held or not floor.stall_off)) or (self._ear.voicing and held):
            return self._last_audio_ns + int(self._settings.stall_ms * MS)
        return None

    def _idle_at(self) -> int | None:
        """Activity is arriving voice, text, control, or an unfinished reply; streamed silence is none (rule 7.1)."""
        limit_ms = self._settings.no_activity_ms
        if limit_ms is None or self._floor.running or self._ear.awaits_words or self._waking.greeting_ns is not None:
            return None
        active_ns = self._activity_ns
        if self._ear.voice and self._last_audio_ns is not None:
            active_ns = max(active_ns, self._last_audio_ns)
        return active_ns + int(limit_ms * MS)
