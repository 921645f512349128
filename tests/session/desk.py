"""A session machine on the desk: frames and events in, actions out, and what a shell would tell it back."""

from __future__ import annotations

from dataclasses import dataclass, field

from vanling.contracts.audio import AudioSpec
from vanling.contracts.engines import AsrResult, Outcome
from vanling.pipeline.events import (
    Event,
    FinishTurn,
    GuessHeard,
    PartialHeard,
    Rejoin,
    SetMode,
    SpeechEnded,
    SpeechPaused,
    SpeechResumed,
    SpeechStarted,
    TurnHeard,
    TurnOutcome,
    TurnOver,
    VoiceHeard,
    VoiceLapsed,
)
from vanling.session.actions import (
    Action,
    End,
    Hear,
    HoldRunning,
    ReleaseRunning,
    Send,
    StopRunning,
    ThinkAgain,
    ThinkAhead,
    Upgrade,
)
from vanling.session.frame import (
    Abort,
    Detect,
    Frame,
    Hello,
    ListenMode,
    ListenStart,
    ListenStop,
    OutputMessage,
    ReplyDone,
    ReplyStatus,
    Say,
    Sentence,
    Text,
    TtsStart,
)
from vanling.session.machine import SessionMachine, SessionSettings

MS = 1_000_000
SPEC = AudioSpec()
WAKE = "你好小智"
SETTINGS = SessionSettings(wake_words=(WAKE, "Hi,Lexin"))


@dataclass
class Desk:
    """Times in ms. While ``slow`` is set, what the hearing half was given waits for :meth:`settle`."""

    settings: SessionSettings = SETTINGS
    spec: AudioSpec | None = SPEC
    slow: bool = False
    now_ms: float = 0.0
    actions: list[Action] = field(default_factory=list)
    owed: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.machine = SessionMachine("s1", self.spec, self.settings, 0)
        self._turn = 0
        self._open_stops: list[TurnOver] = []
        self.rejoined: list[tuple[Rejoin, TurnOver]] = []
        self.outcome: AsrResult = AsrResult(Outcome.NOTHING)
        self.voiced_ms = 0.0

    @property
    def now_ns(self) -> int:
        return round(self.now_ms * MS)

    # --- what a client does ---

    def frame(self, frame: Frame) -> list[Action]:
        return self._do(self.machine.on_frame(frame, self.now_ns))

    def hello(self) -> list[Action]:
        return self.frame(Hello())

    def start(self, mode: ListenMode = ListenMode.AUTO) -> list[Action]:
        return self.frame(ListenStart(mode=mode))

    def stop(self) -> list[Action]:
        return self.frame(ListenStop())

    def text(self, text: str = "hi") -> list[Action]:
        return self.frame(Text(text=text))

    def wake(self, text: str = WAKE) -> list[Action]:
        return self.frame(Detect(text=text))

    def abort(self) -> list[Action]:
        return self.frame(Abort())

    def say(self, text: str = "tea is ready") -> list[Action]:
        return self.frame(Say(text=text, ref="r1"))

    def audio(self) -> list[Action] | None:
        actions = self.machine.on_audio(self.now_ns)
        return None if actions is None else self._do(actions)

    # --- what is heard ---

    def hear(self, event: Event) -> list[Action]:
        return self._do(self.machine.on_hearing(event, self.now_ns))

    def voice(self) -> list[Action]:
        """64 ms of it: perhaps speech."""
        return self.hear(VoiceHeard())

    def lapse(self) -> list[Action]:
        return self.hear(VoiceLapsed())

    def onset(self) -> list[Action]:
        return self.voice() + self.hear(SpeechStarted())

    def guess(self, text: str = "hello") -> list[Action]:
        return self.hear(GuessHeard(text))

    def partial(self, text: str, voiced_ms: float) -> list[Action]:
        return self.hear(PartialHeard(text, voiced_ms))

    def pause(self) -> list[Action]:
        return self.hear(SpeechPaused())

    def resume(self) -> list[Action]:
        return self.hear(SpeechResumed())

    def over(self, reason: str = "silence", voiced_ms: float = 1000.0) -> TurnOver:
        """A turn has ended; its words are still to come."""
        self._turn += 1
        turn = TurnOver(self._turn, reason, self.now_ns, self.now_ns, 500.0, voiced_ms)
        self.hear(turn)
        if reason == "silence":
            self.hear(SpeechEnded(500.0))
        return turn

    def words(self, over: TurnOver, said: str | Outcome = "hello", failure: str = "") -> list[Action]:
        """The recogniser's answer for a turn that is over."""
        result = AsrResult(Outcome.TEXT, said) if isinstance(said, str) else AsrResult(said)
        return self.hear(TurnHeard(over, TurnOutcome(over.number, result, self.now_ns, 10.0, failure)))

    def turn(
        self, said: str | Outcome = "hello", *, reason: str = "silence", voiced_ms: float = 1000.0, failure: str = ""
    ) -> list[Action]:
        """Speech, its end and its outcome, hands-free."""
        self.onset()
        self.pause()
        return self.words(self.over(reason, voiced_ms), said, failure)

    def merged(self, said: str = "one two") -> list[Action]:
        """The words of two pieces that are recognised together."""
        _, over = self.rejoined.pop(0)
        return self.words(over, said)

    # --- what is spoken ---

    def tts_start(self) -> list[Action]:
        return self._do(self.machine.on_output(TtsStart(epoch=self.machine.epoch), self.now_ns))

    def reply_done(self, status: ReplyStatus = ReplyStatus.COMPLETED) -> list[Action]:
        return self._do(self.machine.on_output(ReplyDone(epoch=self.machine.epoch, status=status), self.now_ns))

    def sentence(self, text: str = "the answer is forty two") -> list[Action]:
        return self._do(self.machine.on_output(Sentence(epoch=self.machine.epoch, text=text), self.now_ns))

    def speak(self, sentence: str = "the answer is forty two") -> None:
        """Typed text whose reply has begun to be heard."""
        self.text("a question")
        self.tts_start()
        self.sentence(sentence)

    # --- time ---

    def wait(self, ms: float) -> list[Action]:
        """Time passes; the machine is called at each of its deadlines."""
        end_ms, actions = self.now_ms + ms, []
        while (deadline := self.machine.deadline_ns()) is not None and deadline <= end_ms * MS:
            self.now_ms = max(self.now_ms, deadline / MS)
            actions += self._do(self.machine.on_time(self.now_ns))
            after = self.machine.deadline_ns()
            assert after is None or after > self.now_ns, "a deadline stays in the past: the shell would spin"
        self.now_ms = end_ms
        return actions

    # --- the shell ---

    def settle(self) -> list[Action]:
        """Let a slow hearing half deal with all it was given."""
        owed, self.owed = self.owed, []
        actions: list[Action] = []
        for event in owed:
            actions += self._answer(event)
        return actions

    def _do(self, actions: list[Action]) -> list[Action]:
        done = list(actions)
        self.actions += actions
        for action in actions:
            match action:
                case StopRunning():
                    message = ReplyDone(epoch=self.machine.epoch, status=ReplyStatus.INTERRUPTED)
                    done += self._do(self.machine.on_output(message, self.now_ns))
                case Hear(event) if self.slow:
                    self.owed.append(event)
                case Hear(event):
                    done += self._answer(event)
        return done

    def _answer(self, event: Event) -> list[Action]:
        """What the hearing half makes of an event: a finish is answered by a turn, the rest comes out as it went in."""
        if isinstance(event, Rejoin):
            over = self.over("merged", event.first.over.voiced_ms + event.second.over.voiced_ms)
            self.rejoined.append((event, over))
            return []
        if not isinstance(event, FinishTurn):
            return self.hear(event)
        over = self.over(event.reason, self.voiced_ms)
        if self.outcome.outcome is Outcome.NOTHING:
            return self.hear(TurnHeard(over, TurnOutcome(over.number, self.outcome, self.now_ns, 0.0)))
        self._open_stops.append(over)
        return []

    def recognised(self) -> list[Action]:
        """The words of the oldest turn that was ended by a stop or a stall."""
        over = self._open_stops.pop(0)
        return self.hear(TurnHeard(over, TurnOutcome(over.number, self.outcome, self.now_ns, 0.0)))


def messages(actions: list[Action]) -> list[OutputMessage]:
    return [action.message for action in actions if isinstance(action, Send)]


def kinds(actions: list[Action]) -> list[str]:
    """Actions as short words: ``hear:SetMode``, ``send:Heard``, ``upgrade:UserSaid``, ``hold:voice``, ``stop``…"""
    names = []
    for action in actions:
        match action:
            case Hear(event):
                names.append(f"hear:{type(event).__name__}")
            case Send(message):
                names.append(f"send:{type(message).__name__}")
            case Upgrade(act):
                names.append(f"upgrade:{type(act).__name__}")
            case StopRunning():
                names.append("stop")
            case HoldRunning(reason):
                names.append(f"hold:{reason}")
            case ReleaseRunning(_, reason):
                names.append(f"release:{reason}")
            case ThinkAhead():
                names.append("think")
            case ThinkAgain():
                names.append("drop")
            case End():
                names.append("end")
    return names


def modes(actions: list[Action]) -> list[SetMode]:
    return [action.event for action in actions if isinstance(action, Hear) and isinstance(action.event, SetMode)]


def acts(actions: list[Action]) -> list[object]:
    return [action.act for action in actions if isinstance(action, Upgrade)]


def finishes(actions: list[Action]) -> list[str]:
    return [
        action.event.reason for action in actions if isinstance(action, Hear) and isinstance(action.event, FinishTurn)
    ]
