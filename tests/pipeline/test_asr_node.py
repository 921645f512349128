"""asr: which audio is a turn, when it is recognised, and that every turn gets its outcome."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from tests.fakes.engines import HANG, FakeAsr, Held
from tests.fakes.virtual import virtual
from tests.pipeline.bench import Bench, Mark
from vanling.contracts.engines import AsrResult, Outcome, Priority
from vanling.errors import EngineError
from vanling.pipeline.events import (
    Answered,
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
    Window,
)
from vanling.pipeline.nodes.asr import AsrNode, AsrSettings, AsrTemplate, join_words

WINDOW_MS = 32
SETTINGS = AsrSettings(partials_ms=0)


class Ear:
    """An asr node; each window's samples bear its number, so that one can see which were recognised."""

    def __init__(self, asr: FakeAsr | None = None, config: AsrSettings = SETTINGS) -> None:
        self.bench = Bench()
        self.asr = asr or FakeAsr()
        self.node: AsrNode = AsrTemplate(self.asr, config).new_instance(self.bench.context)
        self.count = 0

    def push(self, event: Event) -> None:
        self.node.push(event, self.bench.out.append)

    def mode(self, *, hands_free: bool = True, listening: bool = True, fresh: bool = False) -> None:
        self.push(SetMode(hands_free, listening, fresh))

    def press(self) -> None:
        self.mode(hands_free=False, fresh=True)

    def windows(self, voiced: bool, n: int) -> None:
        for _ in range(n):
            self.count += 1
            now_ns = self.bench.clock.advance_ms(WINDOW_MS)
            self.push(Window(np.full(512, self.count, np.float32), 1.0 if voiced else 0.0, voiced, now_ns, now_ns))

    def start(self, n: int = 4) -> None:
        """Voice until it is sure."""
        self.windows(True, n)
        self.push(SpeechStarted())

    def pause(self, n: int = 10) -> None:
        self.windows(False, n)
        self.push(SpeechPaused())

    def end(self, n: int = 6) -> None:
        self.windows(False, n)
        self.push(SpeechEnded(500))

    def fed(self, stream: int = -1) -> list[int]:
        """Numbers of the windows that the recogniser was given."""
        return [int(number) for number in self.asr.streams[stream].audio[::512]]

    async def outcome(self) -> TurnOutcome:
        await self.bench.settle()
        return self.bench.of(TurnOutcome)[-1]


@virtual
async def test_a_turn_begins_with_600_ms_of_pre_roll() -> None:
    """P8: the detector is sure only after the first syllable."""
    ear = Ear()
    ear.mode()
    ear.windows(False, 100)
    ear.start()
    assert len(ear.fed()) == 600 // WINDOW_MS
    assert ear.fed()[-1] == ear.count
    ear.windows(True, 3)
    assert ear.fed() == list(range(ear.count - 18 - 3 + 1, ear.count + 1)), "no gap and no repetition"


@pytest.mark.parametrize("pre_roll_ms", [0, 96, 320])
def test_the_pre_roll_is_as_long_as_was_asked_for(pre_roll_ms: int) -> None:
    ear = Ear(config=AsrSettings(pre_roll_ms=pre_roll_ms))
    ear.mode()
    ear.windows(False, 100)
    ear.start()
    assert len(ear.fed()) == pre_roll_ms // WINDOW_MS


@virtual
async def test_a_turn_is_over_at_once_and_its_words_follow() -> None:
    gate = asyncio.Event()
    ear = Ear(FakeAsr(otherwise=Held(gate, "hi")), AsrSettings(speculate=False))
    ear.mode()
    ear.start(10)
    ear.pause()
    ear.end()
    [over] = ear.bench.of(TurnOver)
    assert (over.number, over.reason, over.voiced_ms) == (1, "silence", 10 * WINDOW_MS)
    assert over.silence_ms == 16 * WINDOW_MS
    assert over.decided_ns - over.speech_end_ns == 16 * WINDOW_MS * 1_000_000
    await ear.bench.settle()
    assert ear.bench.of(TurnOutcome) == []
    gate.set()
    outcome = await ear.outcome()
    assert outcome.number == 1
    assert outcome.result.text == "hi"
    assert outcome.failure == ""


@virtual
async def test_silence_after_speech_belongs_to_no_later_turn() -> None:
    ear = Ear()
    ear.mode()
    ear.start(10)
    ear.pause()
    ear.end()
    last = ear.count
    ear.windows(False, 5)
    ear.start()
    assert ear.fed()[0] == last + 1
    await ear.bench.settle()
    await ear.bench.end()


@virtual
async def test_the_guess_of_the_falling_edge_is_the_answer_where_nothing_was_said_since() -> None:
    ear = Ear(FakeAsr(["first", "second"]))
    ear.mode()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    ear.end()
    assert (await ear.outcome()).result.text == "first"
    assert [priority for priority, _ in ear.asr.calls] == [Priority.SPECULATION]


@virtual
async def test_a_guess_that_is_still_being_made_is_waited_for() -> None:
    gate = asyncio.Event()
    ear = Ear(FakeAsr([Held(gate, "first")]))
    ear.mode()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    ear.end()
    await ear.bench.settle()
    assert ear.bench.of(TurnOutcome) == []
    gate.set()
    assert (await ear.outcome()).result.text == "first"
    assert len(ear.asr.calls) == 1


@virtual
async def test_a_guess_is_dropped_when_speech_resumes() -> None:
    ear = Ear(FakeAsr([HANG, "all of it"]))
    ear.mode()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    ear.windows(True, 3)
    ear.push(SpeechResumed())
    ear.pause()
    await ear.bench.settle()
    assert ear.asr.cancelled == 1
    ear.end()
    assert (await ear.outcome()).result.text == "all of it"
    assert [audio_ms for _, audio_ms in ear.asr.calls] == [20 * WINDOW_MS, 33 * WINDOW_MS]
    assert ear.bench.of(TurnOver)[0].voiced_ms == 13 * WINDOW_MS


@virtual
async def test_a_guess_of_the_time_before_the_last_words_is_no_answer() -> None:
    """Released in mid-word: the guess of the pause before is too short."""
    ear = Ear(FakeAsr(["my name is", "my name is John"]))
    ear.press()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    ear.windows(True, 10)
    ear.push(FinishTurn("stop"))
    assert (await ear.outcome()).result.text == "my name is John"
    assert [priority for priority, _ in ear.asr.calls] == [Priority.SPECULATION, Priority.CONFIRMED]


@virtual
async def test_release_after_a_pause_costs_no_second_recognition() -> None:
    ear = Ear(FakeAsr(["lights on"]))
    ear.press()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    ear.windows(False, 3)
    ear.push(FinishTurn("stop"))
    assert (await ear.outcome()).result.text == "lights on"
    assert len(ear.asr.calls) == 1


@pytest.mark.parametrize("failure", [EngineError("busy"), RuntimeError("whatever")])
@virtual
async def test_a_guess_that_failed_is_asked_again(failure: Exception) -> None:
    ear = Ear(FakeAsr([failure, "second"]))
    ear.mode()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    ear.end()
    assert (await ear.outcome()).result.text == "second"


@virtual
async def test_without_speculation_nothing_is_recognised_before_the_end() -> None:
    ear = Ear(config=AsrSettings(speculate=False))
    ear.mode()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    assert ear.asr.calls == []
    ear.end()
    await ear.outcome()
    assert [priority for priority, _ in ear.asr.calls] == [Priority.CONFIRMED]


# --- a press ----------------------------------------------------------------------------------------------------------


@virtual
async def test_a_press_is_recognised_whole_whatever_the_detector_thinks() -> None:
    ear = Ear()
    ear.press()
    ear.windows(False, 30)
    ear.windows(True, 2)
    ear.windows(False, 30)
    ear.push(FinishTurn("stop"))
    assert (await ear.outcome()).result.outcome is Outcome.TEXT
    assert ear.fed() == list(range(1, 63))


@pytest.mark.parametrize(("voiced", "outcome"), [(0, Outcome.NOTHING), (1, Outcome.NOTHING), (2, Outcome.TEXT)])
def test_less_than_64_ms_of_voice_is_nothing(voiced: int, outcome: Outcome) -> None:
    @virtual
    async def main() -> None:
        ear = Ear()
        ear.press()
        ear.windows(False, 10)
        ear.windows(True, voiced)
        ear.push(FinishTurn("stop"))
        result = (await ear.outcome()).result
        assert result.outcome is outcome
        assert bool(ear.asr.calls) is (outcome is Outcome.TEXT)
        assert ear.bench.of(TurnOver)[0].voiced_ms == voiced * WINDOW_MS

    main()


@virtual
async def test_a_press_without_any_audio_has_an_outcome() -> None:
    """P16."""
    ear = Ear()
    ear.press()
    ear.push(FinishTurn("stop"))
    assert (await ear.outcome()).result.outcome is Outcome.NOTHING
    assert ear.bench.names() == ["SetMode", "TurnOver", "TurnOutcome"]


@virtual
async def test_a_new_press_forgets_all_audio_before_it() -> None:
    ear = Ear()
    ear.press()
    ear.windows(True, 10)
    ear.press()
    ear.windows(True, 5)
    ear.push(FinishTurn("stop"))
    await ear.outcome()
    assert ear.fed() == [11, 12, 13, 14, 15]
    assert ear.bench.of(TurnOver)[0].voiced_ms == 5 * WINDOW_MS


@virtual
async def test_a_press_that_is_held_for_ever_is_no_turn_until_its_release() -> None:
    ear = Ear(config=AsrSettings(max_turn_ms=3_200))
    ear.press()
    ear.start(1_000)
    assert ear.bench.of(TurnOver) == []
    ear.push(FinishTurn("stop"))
    await ear.outcome()
    assert [over.reason for over in ear.bench.of(TurnOver)] == ["stop"]
    assert 100 <= len(ear.fed()) <= 102, "and does not fill the memory"


# --- when there is no turn --------------------------------------------------------------------------------------------


@virtual
async def test_before_the_first_start_audio_only_fills_the_pre_roll() -> None:
    ear = Ear()
    ear.mode(listening=False)
    ear.start(10)
    ear.pause()
    ear.end()
    assert ear.bench.of(TurnOver) == []
    assert ear.asr.streams == []


@virtual
async def test_who_began_to_speak_before_the_start_is_heard_from_the_pre_roll_on() -> None:
    ear = Ear()
    ear.mode(listening=False)
    ear.start(10)
    ear.mode()
    assert ear.fed() == list(range(1, 11))
    ear.pause()
    ear.end()
    assert (await ear.outcome()).result.outcome is Outcome.TEXT


@virtual
async def test_stray_voiced_windows_between_turns_are_no_voice_of_the_next() -> None:
    ear = Ear()
    ear.mode()
    for _ in range(50):
        ear.windows(True, 1)
        ear.windows(False, 20)
    ear.start(4)
    ear.pause()
    ear.end()
    await ear.outcome()
    assert ear.bench.of(TurnOver)[0].voiced_ms <= 5 * WINDOW_MS


@virtual
async def test_a_stop_without_any_sure_speech_reports_no_voice() -> None:
    ear = Ear()
    ear.mode()
    for _ in range(30):
        ear.windows(True, 1)
        ear.windows(False, 20)
    ear.push(FinishTurn("stop"))
    outcome = await ear.outcome()
    assert outcome.result.outcome is Outcome.NOTHING
    assert ear.bench.of(TurnOver)[0].voiced_ms == 0


@virtual
async def test_a_fresh_start_drops_open_speech_and_its_guess() -> None:
    ear = Ear(FakeAsr([HANG]))
    ear.mode()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    ear.mode(fresh=True)
    await ear.bench.settle()
    assert ear.asr.cancelled == 1
    ear.end()
    assert ear.bench.of(TurnOver) == []
    ear.windows(False, 30)
    ear.start()
    assert ear.fed()[0] > 26


@virtual
async def test_a_mere_change_of_mode_keeps_open_speech() -> None:
    ear = Ear()
    ear.mode()
    ear.start(10)
    ear.mode()
    ear.pause()
    ear.end()
    assert (await ear.outcome()).number == 1
    assert ear.fed() == list(range(1, 27))


# --- failure ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [EngineError("no memory"), RuntimeError("whatever"), HANG])
@pytest.mark.parametrize("speculate", [True, False])
def test_every_turn_gets_one_outcome(step: object, speculate: bool) -> None:
    @virtual
    async def main() -> None:
        ear = Ear(FakeAsr(otherwise=step), AsrSettings(timeout_ms=300, speculate=speculate))
        ear.mode()
        for number in (1, 2):
            ear.start(10)
            ear.pause()
            await ear.bench.settle()
            ear.end()
            await asyncio.sleep(0.4)
            outcomes = ear.bench.of(TurnOutcome)
            assert [outcome.number for outcome in outcomes] == list(range(1, number + 1))
            assert outcomes[-1].failure
        assert not ear.bench.tasks, "nothing goes on working for it"

    main()


@virtual
async def test_one_ended_turn_of_a_session_is_recognised_at_a_time() -> None:
    """However much one client sends, the others wait for one job of its at most."""
    gate = asyncio.Event()
    ear = Ear(FakeAsr([Held(gate, "one"), "two"]), AsrSettings(speculate=False))
    ear.mode()
    for _ in range(2):
        ear.start(10)
        ear.pause()
        ear.end()
        await ear.bench.settle()
    assert len(ear.asr.calls) == 1
    gate.set()
    await ear.bench.settle()
    assert [(o.number, o.result.text) for o in ear.bench.of(TurnOutcome)] == [(1, "one"), (2, "two")]


@virtual
async def test_endless_speech_is_cut_and_goes_on() -> None:
    ear = Ear(FakeAsr(["one", "two", "three"]), AsrSettings(max_turn_ms=3_200, speculate=False, partials_ms=0))
    ear.mode()
    ear.start(4)
    ear.windows(True, 240)
    ear.pause()
    ear.end()
    await ear.bench.settle()
    overs = ear.bench.of(TurnOver)
    assert [over.reason for over in overs] == ["length", "length", "silence"]
    assert [o.result.text for o in ear.bench.of(TurnOutcome)] == ["one", "two", "three"]
    fed = [number for stream in range(3) for number in ear.fed(stream)]
    assert fed == list(range(1, ear.count + 1)), "nothing is lost or said twice at the cut"


@virtual
async def test_closing_stops_the_guess_and_no_outcome_follows() -> None:
    gate = asyncio.Event()
    ear = Ear(FakeAsr(otherwise=Held(gate, "late")), AsrSettings(speculate=True))
    ear.mode()
    ear.start(10)
    ear.pause()
    ear.end()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    ear.node.close()
    gate.set()
    await ear.bench.settle()
    assert ear.bench.of(TurnOutcome) == []
    await ear.bench.end()


@virtual
async def test_busy_is_what_was_waited_for_after_the_end() -> None:
    gate = asyncio.Event()
    ear = Ear(FakeAsr(otherwise=Held(gate, AsrResult(Outcome.TEXT, "hi"))))
    ear.mode()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    ear.bench.clock.advance_ms(1_000)
    ear.end()
    ear.bench.clock.advance_ms(40)
    gate.set()
    outcome = await ear.outcome()
    assert outcome.busy_ms == pytest.approx(40)
    assert outcome.at_ns == ear.bench.clock.now_ns()


def test_other_events_pass_in_order() -> None:
    ear = Ear()
    for event in (Mark("a"), SpeechResumed(), Mark("b")):
        ear.push(event)
    assert ear.bench.names() == ["Mark", "SpeechResumed", "Mark"]


# --- guesses and partials (rules 1.4 and 3.1) -------------------------------------------------------------------------


@virtual
async def test_a_guess_is_told_while_nothing_was_said_since() -> None:
    ear = Ear(FakeAsr(["what time"]))
    ear.mode()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    assert ear.bench.of(GuessHeard) == [GuessHeard("what time")]
    ear.end()
    assert (await ear.outcome()).result.text == "what time"
    assert len(ear.asr.calls) == 1


@pytest.mark.parametrize("then", ["voice", "end", "press", "close"])
@virtual
async def test_a_guess_that_came_too_late_is_not_told(then: str) -> None:
    gate = asyncio.Event()
    ear = Ear(FakeAsr([Held(gate, "what time")]))
    ear.mode()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    match then:
        case "voice":
            ear.windows(True, 1)
        case "end":
            ear.end()
        case "press":
            ear.press()
        case "close":
            ear.node.close()
    gate.set()
    await ear.bench.settle()
    assert ear.bench.of(GuessHeard) == []


@pytest.mark.parametrize("step", ["", EngineError("x"), RuntimeError("x")])
@virtual
async def test_a_guess_without_words_is_not_told(step: object) -> None:
    ear = Ear(FakeAsr([step]))  # type: ignore[list-item]
    ear.mode()
    ear.start(10)
    ear.pause()
    await ear.bench.settle()
    assert ear.bench.of(GuessHeard) == []


def partial_ear(asr: FakeAsr) -> Ear:
    ear = Ear(asr, AsrSettings(speculate=False))
    ear.mode()
    ear.start(4)
    return ear


@virtual
async def test_partials_come_each_second_while_speech_goes_on() -> None:
    ear = partial_ear(FakeAsr(otherwise="so far"))
    for _ in range(130):
        ear.windows(True, 1)
        await ear.bench.settle()
    partials = ear.bench.of(PartialHeard)
    assert [round(partial.voiced_ms, -3) for partial in partials] == [1_000, 2_000, 3_000, 4_000]
    assert {partial.text for partial in partials} == {"so far"}
    assert {priority for priority, _ in ear.asr.calls} == {Priority.REST}


@virtual
async def test_no_partial_is_asked_for_while_one_is_being_made() -> None:
    ear = partial_ear(FakeAsr(otherwise=HANG))
    ear.windows(True, 200)
    await ear.bench.settle()
    assert len(ear.asr.calls) == 1
    await ear.bench.end()


@pytest.mark.parametrize("step", [EngineError("x"), RuntimeError("x")])
@virtual
async def test_a_partial_that_fails_is_no_matter(step: Exception) -> None:
    ear = partial_ear(FakeAsr([step, "now"]))
    for _ in range(80):
        ear.windows(True, 1)
        await ear.bench.settle()
    assert [partial.text for partial in ear.bench.of(PartialHeard)] == ["now"]


@virtual
async def test_a_partial_that_comes_after_its_turn_is_not_told() -> None:
    gate = asyncio.Event()
    ear = partial_ear(FakeAsr([Held(gate, "late"), "all of it"]))
    ear.windows(True, 40)
    await ear.bench.settle()
    ear.pause()
    ear.end()
    gate.set()
    await ear.bench.settle()
    assert ear.bench.of(PartialHeard) == []
    assert (await ear.outcome()).result.text == "all of it"


# --- two turns that were one (rule 3.3) -------------------------------------------------------------------------------


async def spoken(ear: Ear, n: int = 10) -> TurnHeard:
    ear.start(n)
    ear.pause()
    ear.end()
    outcome = await ear.outcome()
    return TurnHeard(ear.bench.of(TurnOver)[-1], outcome)


@virtual
async def test_two_turns_are_recognised_as_one_sample_range() -> None:
    ear = Ear(FakeAsr(["one", "two", "one and two"]))
    ear.mode()
    first, second = await spoken(ear), await spoken(ear)
    ear.push(Rejoin(first, second))
    outcome = await ear.outcome()
    over = ear.bench.of(TurnOver)[-1]
    assert (over.number, over.reason) == (3, "merged")
    assert (over.speech_end_ns, over.decided_ns) == (second.over.speech_end_ns, second.over.decided_ns)
    assert over.voiced_ms == first.over.voiced_ms + second.over.voiced_ms
    assert (outcome.number, outcome.result.text) == (3, "one and two")
    assert ear.fed(0) == list(range(1, ear.count + 1)), "no gap and no repetition"
    assert ear.asr.calls[-1][0] is Priority.CONFIRMED


@virtual
async def test_three_turns_are_joined_one_after_the_other() -> None:
    ear = Ear(FakeAsr(["one", "two", "one two", "three", "one two three"]))
    ear.mode()
    first, second = await spoken(ear), await spoken(ear)
    ear.push(Rejoin(first, second))
    joined = TurnHeard(ear.bench.of(TurnOver)[-1], await ear.outcome())
    third = await spoken(ear)
    ear.push(Rejoin(joined, third))
    assert (await ear.outcome()).result.text == "one two three"
    assert ear.fed(0) == list(range(1, ear.count + 1))


@pytest.mark.parametrize("step", ["", EngineError("x"), RuntimeError("x"), HANG])
@virtual
async def test_what_cannot_be_recognised_together_is_joined_by_its_words(step: object) -> None:
    ear = Ear(FakeAsr(["one", "two", step]), AsrSettings(partials_ms=0, timeout_ms=100))  # type: ignore[list-item]
    ear.mode()
    first, second = await spoken(ear), await spoken(ear)
    ear.push(Rejoin(first, second))
    await asyncio.sleep(0.2)
    outcome = await ear.outcome()
    assert (outcome.result.outcome, outcome.result.text, outcome.failure) == (Outcome.TEXT, "one two", "")


@virtual
async def test_once_the_reply_is_heard_no_audio_is_kept() -> None:
    ear = Ear(FakeAsr(["one", "two"]))
    ear.mode()
    first = await spoken(ear)
    ear.push(Answered())
    second = await spoken(ear)
    ear.push(Rejoin(first, second))
    assert (await ear.outcome()).result.text == "one two"
    assert len(ear.asr.calls) == 2


@virtual
async def test_audio_of_old_turns_is_not_kept() -> None:
    ear = Ear()
    ear.mode()
    for _ in range(20):
        await spoken(ear)
    assert len(ear.node._joinable) <= 2


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ("one", "two", "one two"),
        ("你好", "世界", "你好世界"),
        ("hi", "世界", "hi 世界"),
        ("", "two", "two"),
        ("one", "", "one"),
    ],
)
def test_words_are_joined_as_their_script_wants(first: str, second: str, joined: str) -> None:
    assert join_words(first, second) == joined
