"""Random sessions against machine and outlet together, in virtual time: what must hold whatever a client does.

The driver is a session without asyncio: it performs actions, feeds the outlet what a reply would make, calls both at
their deadlines, and has a hearing half whose events come late but in order, as behind a detector thread.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.session.witness import Witness
from vanling.contracts.audio import AudioSpec
from vanling.contracts.engines import AsrResult, Outcome
from vanling.dialogue.ling import Act
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
    Audio,
    Close,
    Detect,
    Frame,
    Heard,
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
from vanling.session.machine import Phase, SessionMachine, SessionSettings
from vanling.session.outlet import Outlet, OutletState, PacingSettings
from vanling.session.settings import HoldSettings

MS = 1_000_000
SPEC = AudioSpec()
LIMIT_MS = 30_000
DETECTOR_MS = 5.0
WAKE = "Hi,Lexin"
UTTERANCES = ["vss", "vvsvss", "vs", "v", "bs", "b", "vsv"]


@dataclass
class Hearing:
    """What the nodes make of audio and marks, coarse: a stretch of speech, silence after it, turns and their number.

    ``owed`` are events on their way through the detector, with the time when they come out.
    """

    owed: deque[tuple[float, str | Event]] = field(default_factory=deque)
    state: str = "idle"  # idle, blip, speech, falling
    listening: bool = False
    hands_free: bool = True
    open: bool = False
    voiced_ms: float = 0.0
    number: int = 0
    awaited: deque[TurnOver] = field(default_factory=deque)

    def out(self, item: str | Event, now_ns: int) -> list[Event]:  # noqa: PLR0912 - a row an item
        if isinstance(item, SetMode):
            self.listening, self.hands_free = item.listening, item.hands_free
            if item.fresh:
                self.state, self.open, self.voiced_ms = "idle", False, 0.0
            if self.listening and (self.state != "idle" or (item.fresh and not item.hands_free)):
                self.open = True
            return [item]
        if isinstance(item, FinishTurn):
            return self._over(item.reason, now_ns)
        if isinstance(item, Rejoin):
            return self._over("merged", now_ns, voiced_ms=800)
        before = self.state
        match item, before:
            case "blip", "idle":
                self.state = "blip"
                return [VoiceHeard()]
            case "voice" | "blip", _:
                self.voiced_ms += 400
                self.state = "speech"
                if before == "speech":
                    return []
                if self.listening:
                    self.open = True
                return (
                    [SpeechResumed()]
                    if before == "falling"
                    else [VoiceHeard()] * (before == "idle") + [SpeechStarted()]
                )
            case "silence", "blip":
                self.state = "idle"
                return [VoiceLapsed()]
            case "silence", "speech":
                self.state = "falling"
                return [SpeechPaused()]
            case "silence", "falling":
                self.state = "idle"
                events: list[Event] = []
                if self.hands_free:
                    events += self._over("silence", now_ns) if self.open else []
                    events.append(SpeechEnded(500))
                return events
        return []

    def _over(self, reason: str, now_ns: int, voiced_ms: float = 0.0) -> list[Event]:
        self.number += 1
        if reason == "merged":
            self.awaited.append(TurnOver(self.number, reason, now_ns, now_ns, 500, voiced_ms))
            return [self.awaited[-1]]
        over = TurnOver(self.number, reason, now_ns, now_ns, 500, self.voiced_ms if self.open else 0.0)
        nothing, self.open, self.voiced_ms = not self.open or over.voiced_ms == 0, False, 0.0
        if nothing and not self.awaited:
            return [over, _heard(over, AsrResult(Outcome.NOTHING), now_ns)]
        self.awaited.append(over)
        return [over]


def _heard(over: TurnOver, result: AsrResult, now_ns: int, failure: str = "") -> TurnHeard:
    return TurnHeard(over, TurnOutcome(over.number, result, now_ns, 0.0, failure))


class AnySession(RuleBasedStateMachine):
    @initialize(
        limit=st.sampled_from([LIMIT_MS, LIMIT_MS, 2_000]),
        greeting=st.booleans(),
        mode=st.sampled_from([None, ListenMode.AUTO, ListenMode.REALTIME]),
        hold=st.builds(
            HoldSettings,
            hold=st.sampled_from([True, True, False]),
            merge=st.sampled_from([True, True, False]),
            think_ahead=st.sampled_from([frozenset({ListenMode.REALTIME}), frozenset(ListenMode), frozenset()]),
        ),
    )
    def open(self, limit: float, greeting: bool, hold: HoldSettings, mode: ListenMode | None) -> None:
        self.now_ms = 0.0
        self.limit_ms = limit
        config = SessionSettings(no_activity_ms=limit, wake_words=(WAKE,), greeting=greeting, hold=hold)
        self.machine = SessionMachine("s", SPEC, config, 0)
        self.outlet = Outlet(SPEC, PacingSettings())
        self.hearing = Hearing()
        self.witness = Witness()
        self.writable = True
        self.running = False  # a reply runs, as the shell sees it
        self.writing = False  # it may still offer something
        self.broken_off = False  # a sentence was begun and not ended
        self.upgrades = 0
        self.held = self.pumping = False
        self.guess: tuple[Act, Outlet] | None = None
        self.sentences = 0
        self.said: list[str] = []  # sentences that went out
        self.reply_epoch = 0
        self.ended: list[str] = []
        self.epoch = self.machine.epoch
        if mode is not None:
            self.frame(Hello())
            self.frame(ListenStart(mode=mode))

    # --- the shell ----------------------------------------------------------------------------------------------------

    @property
    def now_ns(self) -> int:
        return round(self.now_ms * MS)

    def perform(self, actions: list[Action]) -> None:  # noqa: PLR0912, PLR0915 - a row an action
        for action in actions:
            match action:
                case Hear(event):
                    if isinstance(event, SetMode | FinishTurn | Rejoin) and self.hearing.owed:
                        self.hearing.owed.append((self.hearing.owed[-1][0], event))
                    else:
                        self.come_out(event)
                case Send(message):
                    self.emit(message)
                case Upgrade(act, turn, epoch, goes_on, thought_ahead):
                    assert not self.running, "two rounds run"
                    assert not self.pressed(), "a reply begins during a press"
                    assert goes_on is (turn is not None and turn.over.reason == "merged")
                    self.running = self.writing = True
                    self.broken_off = self.held = False
                    self.upgrades += 1
                    self.reply_epoch = epoch
                    assert (self.guess is not None) is thought_ahead, "a guess is adopted or dropped, never kept"
                    if self.guess is not None:
                        assert self.guess[0] == act, "what was thought answers something else"
                        self.outlet, self.guess = self.guess[1], None
                        self.outlet.release(epoch)
                    else:
                        self.outlet.begin(epoch)
                case ThinkAhead(act):
                    assert self.guess is None, "two guesses"
                    assert not self.running
                    assert not self.pressed()
                    self.guess = (act, Outlet(SPEC, PacingSettings()))
                    self.guess[1].begin(0)
                    self.guess[1].hold(self.now_ns)
                case ThinkAgain():
                    assert self.guess is not None
                    self.guess = None
                case HoldRunning():
                    assert self.running, "nothing to hold"
                    assert not self.held, "held twice"
                    self.held = True
                    for message in self.outlet.hold(self.now_ns):
                        self.emit(message)
                    self.witness.interrupt(self.reply_epoch)
                case ReleaseRunning(epoch):
                    assert self.running
                    assert self.held, "nothing to release"
                    self.held = False
                    self.reply_epoch = epoch
                    self.outlet.release(epoch)
                case StopRunning():
                    assert self.running, "nothing to stop"
                    self.running = self.writing = self.held = False
                    self.witness.interrupt(self.reply_epoch)
                    for message in self.outlet.interrupt(self.now_ns):
                        self.emit(message)
                case End(reason):
                    self.ended.append(reason)

    def pressed(self) -> bool:
        return self.machine.mode is ListenMode.MANUAL and self.machine._floor.listening

    def emit(self, message: OutputMessage) -> None:
        assert not self.ended, "a message after the end"
        self.witness.see(message, self.now_ms)
        if isinstance(message, ReplyDone):
            self.running = self.writing = False
        assert not self.held or not isinstance(message, Audio | TtsStart), "through a shut gate"
        if isinstance(message, Sentence):
            self.said.append(message.text)
        if isinstance(message, TtsStart | ReplyDone | Sentence):
            self.perform(self.machine.on_output(message, self.now_ns))

    def pump(self) -> None:
        if self.guess is not None:
            assert self.guess[1].step(self.now_ns, True) == [], "unconfirmed"
        if self.pumping:
            return  # a message brought this about while it was handed over
        self.pumping = True
        while not self.ended and (messages := self.outlet.step(self.now_ns, self.writable)):
            for message in messages:
                self.emit(message)
        self.pumping = False

    def come_out(self, item: str | Event) -> None:
        for event in self.hearing.out(item, self.now_ns):
            self.perform(self.machine.on_hearing(event, self.now_ns))
        self.pump()

    def frame(self, frame: Frame) -> None:
        self.perform(self.machine.on_frame(frame, self.now_ns))
        self.pump()

    def next_ms(self) -> float | None:
        moments = []
        if (machine_ns := self.machine.deadline_ns()) is not None:
            moments.append(machine_ns / MS)
        if (outlet_ns := self.outlet.next_ns) is not None and self.writable and not self.ended:
            moments.append(outlet_ns / MS)
        if self.hearing.owed:
            moments.append(self.hearing.owed[0][0])
        return min(moments, default=None)

    def wait(self, ms: float) -> None:
        end_ms = self.now_ms + ms
        spins = 0
        while (at_ms := self.next_ms()) is not None and at_ms <= end_ms:
            spins = spins + 1 if at_ms <= self.now_ms else 0
            assert spins < 20, "a deadline stays in the past: the shell would spin"
            self.now_ms = max(self.now_ms, at_ms)
            while self.hearing.owed and self.hearing.owed[0][0] <= self.now_ms:
                self.come_out(self.hearing.owed.popleft()[1])
            self.perform(self.machine.on_time(self.now_ns))
            self.pump()
        self.now_ms = end_ms
        self.pump()

    # --- the client ---------------------------------------------------------------------------------------------------

    @rule()
    def hello(self) -> None:
        self.frame(Hello())

    @rule(mode=st.sampled_from(ListenMode))
    def start(self, mode: ListenMode) -> None:
        self.frame(ListenStart(mode=mode))

    @rule()
    def stop(self) -> None:
        self.frame(ListenStop())

    @rule(text=st.sampled_from(["tell me", "", "你好"]))
    def text(self, text: str) -> None:
        self.frame(Text(text=text))

    @rule(text=st.sampled_from([WAKE, "hi lexin!", "lights on"]))
    def detect(self, text: str) -> None:
        self.frame(Detect(text=text))

    @rule()
    def abort(self) -> None:
        self.frame(Abort())

    @rule(text=st.sampled_from(["tea is ready", ""]))
    def say(self, text: str) -> None:
        self.frame(Say(text=text))

    @rule(
        sound=st.sampled_from(["voice", "blip", "silence", "silence"]),
        n=st.integers(1, 6),
        gap_ms=st.sampled_from([0.0, 60.0, 400.0]),
    )
    def audio(self, sound: str, n: int, gap_ms: float) -> None:
        for _ in range(n):
            actions = self.machine.on_audio(self.now_ns)
            if actions is not None:
                self.perform(actions)
                self.hearing.owed.append((self.now_ms + DETECTOR_MS, sound))
            self.wait(gap_ms)

    @rule(sounds=st.sampled_from(UTTERANCES))
    def utter(self, sounds: str) -> None:
        """A whole piece of speech, or a cough, in one go: what random packets rarely make."""
        for sound in sounds:
            self.audio({"v": "voice", "b": "blip", "s": "silence"}[sound], 1, 60.0)

    @rule(
        pieces=st.lists(st.sampled_from(UTTERANCES), min_size=1, max_size=3),
        answers=st.lists(st.sampled_from(Outcome), min_size=1, max_size=4),
        guess=st.booleans(),
        frames=st.integers(0, 12),
        late=st.booleans(),
    )
    @precondition(lambda self: self.machine._floor.listening)
    def talk(self, pieces: list[str], answers: list[Outcome], guess: bool, frames: int, late: bool) -> None:
        """Pieces of speech with outcomes between them or behind them, and a reply that may begin meanwhile."""
        for piece in pieces:
            self.utter(piece)
            if guess and self.hearing.state == "falling" and self.hearing.open:
                self.guessed("these words")
                self.utter("s")
            if not late:
                self._settle(answers[:1], frames)
        self._settle(answers, frames)

    def _settle(self, answers: list[Outcome], frames: int) -> None:
        self.wait(DETECTOR_MS)
        for outcome in answers:
            if self.hearing.awaited:
                self.recognised(outcome, "", "these words")
        if self.writing and not self.broken_off:
            self.sentence(frames, True)

    @rule(n=st.integers(1, 3), frames=st.integers(1, 20))
    @precondition(lambda self: self.writing and not self.broken_off)
    def sentences_at_once(self, n: int, frames: int) -> None:
        for _ in range(n):
            self.sentence(frames, True)

    @rule(mode=st.sampled_from([ListenMode.AUTO, ListenMode.REALTIME]))
    @precondition(lambda self: not self.machine._floor.listening)
    def listen_hands_free(self, mode: ListenMode) -> None:
        self.frame(Hello())
        self.frame(ListenStart(mode=mode))

    @rule(ms=st.sampled_from([1.0, 30.0, 100.0, 250.0, 400.0, 1_200.0, 2_000.0, 5_000.0]))
    def time(self, ms: float) -> None:
        self.wait(ms)

    @rule(ms=st.sampled_from([10.0, 300.0, 3_000.0]))
    def busy(self, ms: float) -> None:
        """The loop was late."""
        self.now_ms += ms
        self.wait(0)

    @rule(yes=st.booleans())
    def connection(self, yes: bool) -> None:
        self.writable = yes
        self.pump()

    @rule()
    @precondition(lambda self: self.upgrades > 3)
    def close(self) -> None:
        self.frame(Close())
        assert self.ended

    # --- the recogniser, the model and the voice ----------------------------------------------------------------------

    @rule(
        result=st.sampled_from(Outcome),
        failure=st.sampled_from(["", "", "", "broken"]),
        said=st.sampled_from(["these words", "those words", "echo"]),
    )
    @precondition(lambda self: self.hearing.awaited)
    def recognised(self, result: Outcome, failure: str, said: str) -> None:
        over = self.hearing.awaited.popleft()
        if over.reason == "merged":
            result, failure, said = Outcome.TEXT, "", said or "joined words"
        text = self.said[-1] if said == "echo" and self.said else said
        outcome = AsrResult(result, text if result is Outcome.TEXT else "")
        self.perform(self.machine.on_hearing(_heard(over, outcome, self.now_ns, failure), self.now_ns))
        self.pump()

    @rule(text=st.sampled_from(["these words", "those words"]))
    @precondition(lambda self: self.hearing.state == "falling" and self.hearing.open)
    def guessed(self, text: str) -> None:
        self.perform(self.machine.on_hearing(GuessHeard(text), self.now_ns))
        self.pump()

    @rule(text=st.sampled_from(["", "these"]), voiced_ms=st.sampled_from([1_000.0, 3_000.0]))
    @precondition(lambda self: self.hearing.state == "speech" and self.hearing.open)
    def partial(self, text: str, voiced_ms: float) -> None:
        self.perform(self.machine.on_hearing(PartialHeard(text, voiced_ms), self.now_ns))
        self.pump()

    @rule(frames=st.integers(0, 40), whole=st.booleans())
    @precondition(lambda self: self.writing and not self.broken_off)
    def sentence(self, frames: int, whole: bool) -> None:
        self.sentences += 1
        self.outlet.sentence(f"number {self.sentences} is it", "neutral")
        for _ in range(frames):
            self.outlet.audio(b"x", 60.0)
        if whole:
            self.outlet.sentence_end()
        self.broken_off = not whole
        self.pump()

    @rule(status=st.sampled_from([ReplyStatus.COMPLETED, ReplyStatus.FAILED]))
    @precondition(lambda self: self.writing)
    def reply_ends(self, status: ReplyStatus) -> None:
        self.writing = False
        self.outlet.end(status)
        self.pump()

    # --- what must hold -----------------------------------------------------------------------------------------------

    @invariant()
    def epoch_never_falls(self) -> None:
        assert self.machine.epoch >= self.epoch
        self.epoch = self.machine.epoch

    @invariant()
    def speaking_is_between_start_and_stop(self) -> None:
        speaking = self.machine.phase is Phase.SPEAKING
        assert speaking is (self.witness.started_ms is not None)
        if speaking:
            assert self.running

    @invariant()
    def held_is_held(self) -> None:
        assert self.held is (self.outlet.state is OutletState.HELD)
        assert self.held is self.machine._floor.hold.shut
        counts = self.machine.counts
        assert counts.speculations >= counts.dropped
        assert counts.held >= counts.resumed

    @invariant()
    def it_ends_once(self) -> None:
        assert len(self.ended) == (self.machine.phase is Phase.ENDED)
        if self.ended:
            assert self.machine.deadline_ns() is None
            assert not self.running, "a reply outlives its session"
            assert self.guess is None, "a guess outlives its session"

    def teardown(self) -> None:
        """Whatever came before: when all engines have answered and the client is silent, the session ends by itself."""
        if not hasattr(self, "machine"):
            return
        self.writable = True
        if self.machine.phase is Phase.IDLE:
            self.hello()
        self.wait(DETECTOR_MS)
        for _ in range(100):
            if self.ended:
                break
            while self.hearing.awaited:
                self.recognised(Outcome.NOTHING, "", "")
            if self.writing:
                self.reply_ends(ReplyStatus.COMPLETED)
            self.wait(1_000)
        assert self.ended, "an idle session goes on for ever"
        assert self.witness.started_ms is None
        assert self.witness.starts == self.witness.stops
        shown = [message for _, message in self.witness.seen if isinstance(message, Heard)]
        assert all(message.text.strip() for message in shown)
        assert not any(isinstance(message, Audio) for _, message in self.witness.seen[-1:])


AnySession.TestCase.settings = settings(max_examples=300, stateful_step_count=40, deadline=None)
TestAnySession = AnySession.TestCase
