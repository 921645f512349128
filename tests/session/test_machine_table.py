"""The session machine, row by row: CONVERSATION §1–4 and §7 as tables. No event loop, no clock."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.session.desk import SETTINGS, SPEC, WAKE, Desk, acts, finishes, kinds, messages, modes
from vanling.contracts.engines import AsrResult, Outcome
from vanling.dialogue.empty_input import EmptyKind
from vanling.dialogue.ling import EmptyTurn, Say, UserSaid
from vanling.dialogue.phrases import Phrase
from vanling.pipeline.events import AudioFrame, SpeechEnded
from vanling.session.actions import Action, End, Send, StopRunning
from vanling.session.frame import (
    Abort,
    Close,
    Detect,
    Error,
    ErrorCode,
    Frame,
    Heard,
    HelloReply,
    ListenMode,
    ListenStart,
    ListenStop,
    Mcp,
    ReplyStatus,
    Text,
    TtsStop,
)
from vanling.session.machine import Phase, SessionSettings

AUTO, REALTIME, MANUAL = ListenMode.AUTO, ListenMode.REALTIME, ListenMode.MANUAL
HANDS_FREE = [AUTO, REALTIME]
LIMIT = 30_000


@pytest.fixture
def desk() -> Desk:
    """Before hello."""
    return Desk()


@pytest.fixture
def open_desk(desk: Desk) -> Desk:
    """After hello."""
    desk.hello()
    return desk


def listening(mode: ListenMode, settings: SessionSettings = SETTINGS) -> Desk:
    desk = Desk(settings)
    desk.hello()
    desk.start(mode)
    return desk


def speaking(mode: ListenMode) -> Desk:
    desk = listening(mode)
    desk.speak()
    assert desk.machine.phase is Phase.SPEAKING
    return desk


def stop_reasons(actions: list[Action]) -> list[str]:
    return [action.reason for action in actions if isinstance(action, StopRunning)]


def ends(actions: list[Action]) -> list[str]:
    return [action.reason for action in actions if isinstance(action, End)]


# --- hello, and what comes before it --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        ListenStart(mode=AUTO),
        ListenStart(mode=REALTIME),
        ListenStart(mode=MANUAL),
        ListenStop(),
        Detect(text=WAKE),
        Detect(text="what time is it"),
        Text(text="hi"),
        Abort(),
        Mcp(payload="{}"),
    ],
)
def test_nothing_but_hello_and_close_counts_before_hello(desk: Desk, frame: Frame) -> None:
    assert desk.frame(frame) == []
    assert desk.machine.phase is Phase.IDLE
    assert desk.machine.deadline_ns() is None


def test_audio_before_hello_is_ignored(desk: Desk) -> None:
    assert desk.audio() is None


def test_hello_is_answered_with_the_effective_values(desk: Desk) -> None:
    assert messages(desk.hello()) == [HelloReply(session_id="s1", downlink=SPEC)]
    assert desk.machine.phase is Phase.LISTENING


def test_hello_without_a_voice_announces_none() -> None:
    assert messages(Desk(spec=None).hello()) == [HelloReply(session_id="s1", downlink=None)]


@pytest.mark.parametrize("mode", [AUTO, REALTIME, MANUAL])
def test_a_second_hello_is_answered_and_resets_nothing(mode: ListenMode) -> None:
    desk = speaking(mode)
    epoch = desk.machine.epoch
    assert kinds(desk.hello()) == ["send:HelloReply"]
    assert (desk.machine.phase, desk.machine.mode, desk.machine.epoch) == (Phase.SPEAKING, mode, epoch)


def test_close_before_hello_ends(desk: Desk) -> None:
    assert ends(desk.frame(Close(reason="client_disconnect"))) == ["client_disconnect"]
    assert desk.machine.phase is Phase.ENDED


# --- after the end ----------------------------------------------------------------------------------------------------


def test_after_the_end_nothing_happens_any_more() -> None:
    desk = speaking(AUTO)
    assert kinds(desk.frame(Close())) == ["stop", "end"]
    for frame in (Text(text="hi"), ListenStart(), ListenStop(), Abort(), Detect(text=WAKE), Close()):
        assert desk.frame(frame) == []
    assert desk.hello() == []
    assert desk.audio() is None
    assert desk.onset() == []
    assert desk.turn() == []
    assert desk.wait(100_000) == []
    assert desk.machine.deadline_ns() is None


# --- listen start and stop --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", HANDS_FREE)
def test_first_hands_free_start_keeps_the_pre_roll(open_desk: Desk, mode: ListenMode) -> None:
    [set_mode] = modes(open_desk.start(mode))
    assert (set_mode.hands_free, set_mode.listening, set_mode.fresh) == (True, True, False)


def test_a_press_is_a_fresh_stream(open_desk: Desk) -> None:
    [set_mode] = modes(open_desk.start(MANUAL))
    assert (set_mode.hands_free, set_mode.listening, set_mode.fresh) == (False, True, True)


@pytest.mark.parametrize("mode", [AUTO, REALTIME, MANUAL])
def test_stop_ends_the_turn_behind_all_audio_and_then_resets(mode: ListenMode) -> None:
    actions = listening(mode).stop()
    assert kinds(actions)[:2] == ["hear:FinishTurn", "hear:SetMode"]
    assert finishes(actions) == ["stop"]
    assert modes(actions)[0].fresh
    assert not modes(actions)[0].listening


def test_stop_without_a_start_does_nothing(open_desk: Desk) -> None:
    assert open_desk.stop() == []


def test_a_second_stop_does_nothing() -> None:
    desk = listening(MANUAL)
    desk.stop()
    assert desk.stop() == []


@pytest.mark.parametrize("mode", HANDS_FREE)
def test_a_start_after_a_stop_resets(mode: ListenMode) -> None:
    """Rule 1.2: a listen/start after a stop resets detector, pre-roll and open speech."""
    desk = listening(mode)
    desk.outcome = AsrResult(Outcome.TEXT, "hi")
    desk.stop()
    assert modes(desk.start(mode))[-1].fresh


@pytest.mark.parametrize("mode", HANDS_FREE)
def test_repeated_starts_mid_stream_lose_no_audio(mode: ListenMode) -> None:
    assert not modes(listening(mode).start(mode))[-1].fresh


def test_changing_from_an_open_press_to_hands_free_is_a_new_stream() -> None:
    assert modes(listening(MANUAL).start(AUTO))[-1].fresh


@pytest.mark.parametrize("mode", HANDS_FREE)
def test_hands_free_hears_always(mode: ListenMode) -> None:
    desk = listening(mode)
    assert desk.audio() == []
    desk.stop()
    assert desk.audio() is not None


def test_between_presses_nothing_is_heard() -> None:
    desk = listening(MANUAL)
    assert desk.audio() == []
    desk.stop()
    assert desk.audio() is None


def test_before_the_first_start_audio_fills_the_pre_roll(open_desk: Desk) -> None:
    assert open_desk.audio() == []


@pytest.mark.parametrize("mode", HANDS_FREE)
@pytest.mark.parametrize(("gap_ms", "fresh"), [(499, False), (500, True), (10_000, True)])
def test_half_a_second_without_audio_begins_a_new_stream(mode: ListenMode, gap_ms: float, fresh: bool) -> None:
    desk = listening(mode)
    desk.audio()
    desk.wait(gap_ms)
    assert [mode.fresh for mode in modes(desk.audio() or [])] == [True] * fresh


def test_a_gap_in_open_speech_waits_for_its_stall() -> None:
    desk = listening(AUTO)
    desk.audio()
    desk.onset()
    desk.wait(600)
    assert desk.audio() == []


def test_a_press_is_not_reset_by_a_gap() -> None:
    desk = listening(MANUAL)
    desk.audio()
    desk.wait(5_000)
    assert desk.audio() == []


# --- a turn and its outcome -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", HANDS_FREE)
def test_words_are_shown_and_answered(mode: ListenMode) -> None:
    desk = listening(mode)
    actions = desk.turn("what time is it")
    assert kinds(actions) == ["send:Heard", "upgrade:UserSaid"]
    assert messages(actions) == [Heard(epoch=desk.machine.epoch, text="what time is it")]
    assert acts(actions) == [UserSaid("what time is it")]


def test_a_press_with_words_is_answered() -> None:
    desk = listening(MANUAL)
    desk.outcome = AsrResult(Outcome.TEXT, "lights on")
    desk.onset()
    desk.stop()
    assert kinds(desk.recognised()) == ["send:Heard", "upgrade:UserSaid"]


@pytest.mark.parametrize("mode", [AUTO, REALTIME, MANUAL])
def test_a_recogniser_that_fails_is_said_and_the_turn_closes(mode: ListenMode) -> None:
    desk = listening(mode)
    actions = desk.words(desk.over(), Outcome.EMPTY, failure="it broke")
    [error] = messages(actions)
    assert isinstance(error, Error)
    assert error.code is ErrorCode.ASR_FAILED
    assert "it broke" not in error.message
    assert acts(actions) == [Say(Phrase.FAILURE)]


def test_each_turn_is_answered_and_the_later_stops_the_earlier() -> None:
    desk = listening(AUTO)
    desk.turn("one")
    desk.tts_start()
    desk.sentence()
    epoch = desk.machine.epoch
    actions = desk.turn("two")
    assert kinds(actions) == ["stop", "send:Heard", "upgrade:UserSaid"]
    assert desk.machine.epoch == epoch + 1
    assert messages(actions) == [Heard(epoch=epoch + 1, text="two")]


def test_epoch_stays_where_nothing_was_interrupted() -> None:
    desk = listening(AUTO)
    assert desk.machine.epoch == 1
    desk.turn("one")
    desk.tts_start()
    desk.reply_done()
    desk.turn("two")
    assert desk.machine.epoch == 1


# --- typed text and wake ----------------------------------------------------------------------------------------------


def test_typed_text_is_shown_and_answered_without_any_listening(open_desk: Desk) -> None:
    assert kinds(open_desk.text("  hi there ")) == ["send:Heard", "upgrade:UserSaid"]
    assert acts(open_desk.actions) == [UserSaid("hi there")]


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_blank_text_is_nothing(open_desk: Desk, text: str) -> None:
    assert open_desk.text(text) == []


@pytest.mark.parametrize("text", ["turn on the light", "你好", "小智"])
def test_a_detect_that_is_no_wake_word_is_typed_text(open_desk: Desk, text: str) -> None:
    assert acts(open_desk.wake(text)) == [UserSaid(text)]


@pytest.mark.parametrize("text", [WAKE, "Hi,Lexin", "hi, lexin", "HI LEXIN!", "Ｈｉ，Ｌｅｘｉｎ", "你好，小智。"])
def test_a_wake_word_resets_and_is_not_answered_as_text(open_desk: Desk, text: str) -> None:
    actions = open_desk.wake(text)
    assert acts(actions) == []
    assert [mode.fresh for mode in modes(actions)] == [True]


@pytest.mark.parametrize("interrupt", [Desk.wake, Desk.text])
def test_wake_and_text_interrupt_a_reply(interrupt: Callable[[Desk], list[Action]]) -> None:
    desk = speaking(AUTO)
    epoch = desk.machine.epoch
    assert "stop" in kinds(interrupt(desk))
    assert desk.machine.epoch == epoch + 1
    assert desk.machine.phase is Phase.LISTENING


@pytest.mark.parametrize("interrupt", [Desk.wake, Desk.text])
def test_wake_and_text_end_an_open_press(interrupt: Callable[[Desk], list[Action]]) -> None:
    desk = listening(MANUAL)
    desk.audio()
    [set_mode] = modes(interrupt(desk))
    assert set_mode.fresh
    assert not set_mode.listening
    assert desk.audio() is None
    assert desk.stop() == [], "the press is over: its release has nothing to end"


def test_the_greeting_waits_400_ms_after_the_listen_start(open_desk: Desk) -> None:
    open_desk.wake()
    open_desk.wait(300)
    assert acts(open_desk.start(AUTO)) == []
    assert acts(open_desk.wait(399)) == []
    assert acts(open_desk.wait(1)) == [Say(Phrase.GREETING)]
    assert acts(open_desk.wait(10_000)) == []


def test_without_a_listen_start_the_greeting_comes_after_two_seconds(open_desk: Desk) -> None:
    open_desk.wake()
    assert acts(open_desk.wait(1_999)) == []
    assert acts(open_desk.wait(1)) == [Say(Phrase.GREETING)]


@pytest.mark.parametrize("start_first", [True, False])
def test_speech_drops_the_greeting(open_desk: Desk, start_first: bool) -> None:
    """One breath: the wake word and the command, before or after the device says that it listens."""
    open_desk.wake()
    if start_first:
        open_desk.start(AUTO)
    open_desk.wait(100)
    open_desk.audio()
    open_desk.onset()
    if not start_first:
        open_desk.start(AUTO)
    for _ in range(40):
        open_desk.audio()
        open_desk.wait(60)
    assert Say(Phrase.GREETING) not in acts(open_desk.actions)


@pytest.mark.parametrize(
    "dropper", [Desk.text, Desk.abort, lambda desk: desk.turn("hi"), lambda desk: desk.start(MANUAL)]
)
def test_other_input_drops_the_greeting(open_desk: Desk, dropper: Callable[[Desk], object]) -> None:
    open_desk.wake()
    open_desk.start(AUTO)
    dropper(open_desk)
    open_desk.wait(5_000)
    assert Say(Phrase.GREETING) not in acts(open_desk.actions)


def test_a_prompt_takes_the_place_of_the_greeting(open_desk: Desk) -> None:
    open_desk.wake()
    open_desk.start(AUTO)
    open_desk.stop()
    assert acts(open_desk.actions) == [EmptyTurn(EmptyKind.WAKE, 1)]
    open_desk.wait(5_000)
    assert acts(open_desk.actions) == [EmptyTurn(EmptyKind.WAKE, 1)]


def test_no_greeting_where_it_is_switched_off() -> None:
    desk = Desk(SessionSettings(wake_words=(WAKE,), greeting=False))
    desk.hello()
    desk.wake()
    desk.start(AUTO)
    desk.wait(5_000)
    assert acts(desk.actions) == []


@pytest.mark.parametrize("mode", HANDS_FREE)
@pytest.mark.parametrize(("after_ms", "interrupts"), [(0, False), (1_999, False), (2_000, False), (2_001, True)])
def test_a_start_within_two_seconds_of_a_wake_never_interrupts(
    mode: ListenMode, after_ms: float, interrupts: bool
) -> None:
    """Rule 2.3; without greeting, so that nothing else speaks."""
    desk = Desk(SessionSettings(wake_words=(WAKE,), greeting=False))
    desk.hello()
    desk.wake()
    desk.text("go on")
    desk.wait(after_ms)
    assert ("stop" in kinds(desk.start(mode))) is interrupts


def test_a_start_within_two_seconds_of_a_typed_detect_never_interrupts(open_desk: Desk) -> None:
    """A board whose wake word we do not know says detect and listen/start: its text is being answered already."""
    open_desk.wake("你好贾维斯")
    open_desk.tts_start()
    open_desk.wait(100)
    assert "stop" not in kinds(open_desk.start(AUTO))
    assert open_desk.machine.phase is Phase.SPEAKING


# --- abort ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [AUTO, REALTIME, MANUAL])
def test_abort_interrupts_what_is_spoken(mode: ListenMode) -> None:
    desk = speaking(mode)
    epoch = desk.machine.epoch
    assert kinds(desk.abort()) == ["stop"]
    assert stop_reasons(desk.actions)[-1] == "abort"
    assert (desk.machine.phase, desk.machine.epoch) == (Phase.LISTENING, epoch + 1)


def test_abort_while_silent_gives_one_bare_stop(open_desk: Desk) -> None:
    assert messages(open_desk.abort()) == [TtsStop(epoch=1)]


def test_abort_of_a_reply_that_is_still_thought_about_gives_one_bare_stop(open_desk: Desk) -> None:
    open_desk.text("a hard question")
    actions = open_desk.abort()
    assert kinds(actions) == ["stop", "send:TtsStop"]


def test_abort_after_abort_stops_nothing_new() -> None:
    desk = speaking(AUTO)
    desk.abort()
    assert kinds(desk.abort()) == ["send:TtsStop"]


@pytest.mark.parametrize("first", [Desk.text, Desk.turn])
@pytest.mark.parametrize("interrupt", [Desk.abort, Desk.text, Desk.wake])
def test_a_reply_that_replaced_another_can_be_interrupted(
    first: Callable[[Desk], object], interrupt: Callable[[Desk], list[Action]]
) -> None:
    """What an interrupted reply says at its end is not the end of the one that replaced it."""
    desk = speaking(AUTO)
    first(desk)
    desk.tts_start()
    assert desk.machine.phase is Phase.SPEAKING
    assert kinds(interrupt(desk)).count("stop") == 1


def test_a_reply_that_replaced_another_keeps_the_session_alive(open_desk: Desk) -> None:
    open_desk.speak()
    open_desk.text("a long story")
    assert ends(open_desk.wait(2 * LIMIT)) == []


# --- auto: what the device says by itself (rule 3.5) ------------------------------------------------------------------


def test_the_first_start_after_a_stop_only_sets_the_mode() -> None:
    desk = speaking(AUTO)
    desk.reply_done()
    desk.text("next")
    assert kinds(desk.start(AUTO)) == ["hear:SetMode"]
    assert kinds(desk.start(AUTO))[0] == "stop"


@pytest.mark.parametrize("interrupt", [Desk.abort, Desk.text])
def test_also_after_the_stop_of_an_interrupted_reply(interrupt: Callable[[Desk], object]) -> None:
    desk = speaking(AUTO)
    interrupt(desk)
    desk.text("next")
    assert kinds(desk.start(AUTO)) == ["hear:SetMode"]


def test_it_may_cross_the_next_start_on_the_wire() -> None:
    """Text interrupts; the answer is so quick that its tts start is out before the device's listen/start is in."""
    desk = speaking(AUTO)
    desk.text("next")
    desk.tts_start()
    assert kinds(desk.start(AUTO)) == ["hear:SetMode"]
    assert desk.machine.phase is Phase.SPEAKING


def test_a_start_during_a_reply_interrupts_it() -> None:
    for mode in HANDS_FREE:
        desk = speaking(mode)
        assert stop_reasons(desk.start(mode)) == ["listen_start"]
        assert desk.machine.phase is Phase.LISTENING


def test_after_a_stop_a_manual_press_is_a_press() -> None:
    desk = speaking(AUTO)
    desk.reply_done()
    assert modes(desk.start(MANUAL))[-1].fresh


def test_in_auto_voice_does_not_interrupt() -> None:
    desk = speaking(AUTO)
    desk.wait(1_000)
    assert desk.onset() == []
    assert desk.machine.phase is Phase.SPEAKING


def test_in_auto_words_replace_a_reply() -> None:
    desk = speaking(AUTO)
    assert kinds(desk.turn("stop that")) == ["stop", "send:Heard", "upgrade:UserSaid"]


@pytest.mark.parametrize("outcome", [Outcome.EMPTY, Outcome.NOTHING])
@pytest.mark.parametrize("after_ms", [None, 0, 999])
def test_empty_outcomes_of_a_reply_and_just_after_neither_prompt_nor_count(
    outcome: Outcome, after_ms: float | None
) -> None:
    desk = speaking(AUTO)
    for _ in range(5):
        if after_ms is None:
            assert desk.turn(outcome) == []
            continue
        desk.reply_done()
        desk.wait(after_ms)
        assert desk.turn(outcome) == []
        desk.speak()
    desk.reply_done()
    desk.wait(1_000)
    assert acts(desk.turn(outcome)) == [EmptyTurn(EmptyKind.AUTO_SPOKE, 1)]


# --- stall ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", HANDS_FREE)
def test_open_speech_ends_after_1200_ms_without_audio(mode: ListenMode) -> None:
    desk = listening(mode)
    desk.audio()
    desk.onset()
    assert finishes(desk.wait(1_199)) == []
    actions = desk.wait(1)
    assert finishes(actions) == ["stall"]
    assert modes(actions)[0].fresh
    assert modes(actions)[0].listening
    assert finishes(desk.wait(20_000)) == []


def test_audio_keeps_the_stall_away() -> None:
    desk = listening(AUTO)
    desk.audio()
    desk.onset()
    for _ in range(100):
        desk.wait(60)
        desk.audio()
    assert finishes(desk.actions) == []


@pytest.mark.parametrize("closed", [lambda desk: desk.turn("hi"), Desk.stop, lambda desk: None])
def test_no_stall_without_open_speech(closed: Callable[[Desk], object]) -> None:
    desk = listening(AUTO)
    desk.audio()
    closed(desk)
    assert "stall" not in finishes(desk.wait(5_000))


def test_a_press_does_not_stall() -> None:
    desk = listening(MANUAL)
    desk.audio()
    desk.onset()
    assert finishes(desk.wait(20_000)) == []


def test_speech_before_the_first_start_is_no_turn(open_desk: Desk) -> None:
    """Rule 1.2: until then audio only fills the pre-roll."""
    open_desk.audio()
    open_desk.onset()
    assert finishes(open_desk.wait(10_000)) == []
    assert acts(open_desk.actions) == []


def test_speech_begun_before_the_start_may_stall_after_it(open_desk: Desk) -> None:
    open_desk.audio()
    open_desk.onset()
    open_desk.start(AUTO)
    open_desk.audio()
    assert finishes(open_desk.wait(1_200)) == ["stall"]


def test_speech_cut_off_by_a_reply_is_dropped() -> None:
    """A device closes its microphone at tts start: the rest of that speech never comes (rule 3.5)."""
    desk = listening(AUTO)
    desk.audio()
    desk.speak()
    desk.onset()
    assert finishes(desk.wait(5_000)) == []
    desk.reply_done()
    assert finishes(desk.wait(3_000)) == [], "off until the next listen/start"
    assert modes(desk.start(AUTO))[-1].fresh
    assert finishes(desk.wait(5_000)) == []


def test_after_the_next_start_the_stall_works_again() -> None:
    desk = speaking(AUTO)
    desk.reply_done()
    desk.start(AUTO)
    desk.audio()
    desk.onset()
    assert finishes(desk.wait(1_200)) == ["stall"]


# --- manual (rule 3.6) ------------------------------------------------------------------------------------------------


def test_a_press_interrupts_a_reply() -> None:
    desk = speaking(MANUAL)
    assert stop_reasons(desk.start(MANUAL)) == ["listen_start"]


@pytest.mark.parametrize("said", ["hello", Outcome.EMPTY, Outcome.NOTHING])
@pytest.mark.parametrize("failure", ["", "broken"])
def test_a_new_press_drops_an_awaited_outcome(said: str | Outcome, failure: str) -> None:
    desk = listening(MANUAL)
    over = desk.over("stop")
    desk.start(MANUAL)
    assert desk.words(over, said, failure) == []
    assert kinds(desk.words(desk.over("stop"), "the second")) == ["send:Heard", "upgrade:UserSaid"]


def test_a_new_press_drops_several_awaited_outcomes_and_no_later_one() -> None:
    desk = listening(MANUAL)
    first, second = desk.over("stop"), desk.over("stop")
    desk.start(MANUAL)
    third = desk.over("stop")
    assert desk.words(first) == []
    assert desk.words(second) == []
    assert acts(desk.words(third, "three")) == [UserSaid("three")]


def test_a_new_press_drops_a_turn_whose_audio_is_still_with_the_detector() -> None:
    desk = listening(MANUAL)
    desk.outcome = AsrResult(Outcome.TEXT, "old")
    desk.slow = True
    desk.stop()
    desk.start(MANUAL)
    desk.settle()
    desk.slow = False
    assert desk.recognised() == []
    desk.outcome = AsrResult(Outcome.TEXT, "new")
    desk.stop()
    assert acts(desk.recognised()) == [UserSaid("new")]


def test_no_waiting_text_is_answered_into_a_press() -> None:
    desk = listening(MANUAL)
    over = desk.over("stop")
    desk.text("typed meanwhile")
    desk.start(MANUAL)
    assert desk.words(over, "old") == []
    assert acts(desk.actions) == []
    desk.words(desk.over("stop"), "new")
    assert acts(desk.actions) == [UserSaid("new")], "nor after it, as if it had come later"


def test_text_does_not_wait_for_a_dropped_outcome() -> None:
    desk = listening(MANUAL)
    desk.over("stop")
    desk.start(MANUAL)
    assert acts(desk.text("now")) == [UserSaid("now")]


def test_a_new_press_drops_the_words_of_hands_free_speech() -> None:
    desk = listening(AUTO)
    over = desk.over("silence")
    desk.start(MANUAL)
    assert desk.words(over, "old") == []


# --- order (rule 6.3) -------------------------------------------------------------------------------------------------


def test_text_waits_behind_an_awaited_outcome() -> None:
    desk = listening(AUTO)
    over = desk.over("silence")
    assert acts(desk.text("typed")) == []
    actions = desk.words(over, "spoken")
    assert acts(actions) == [UserSaid("spoken"), UserSaid("typed")]
    assert [message.text for message in messages(actions) if isinstance(message, Heard)] == ["spoken", "typed"]


def test_text_waits_for_a_turn_whose_audio_is_still_with_the_detector() -> None:
    desk = listening(MANUAL)
    desk.outcome = AsrResult(Outcome.TEXT, "spoken")
    desk.slow = True
    desk.stop()
    assert acts(desk.text("typed")) == []
    desk.settle()
    assert acts(desk.recognised()) == [UserSaid("spoken"), UserSaid("typed")]


def test_all_waiting_texts_are_answered_in_order() -> None:
    desk = listening(AUTO)
    over = desk.over("silence")
    for text in ("one", "two", "three"):
        desk.text(text)
    assert acts(desk.words(over, Outcome.NOTHING))[-3:] == [UserSaid("one"), UserSaid("two"), UserSaid("three")]
    assert acts(desk.text("four")) == [UserSaid("four")]


def test_text_waits_for_every_awaited_outcome() -> None:
    desk = listening(AUTO)
    first, second = desk.over("silence"), desk.over("silence")
    desk.text("typed")
    assert kinds(desk.words(first, "one")) == ["send:Heard", "upgrade:UserSaid", "hold:voice"]
    assert acts(desk.words(second, "two")) == [], "they become one turn first"
    assert acts(desk.merged("one two")) == [UserSaid("one two"), UserSaid("typed")]


def test_text_comes_through_after_a_failed_outcome() -> None:
    desk = listening(AUTO)
    over = desk.over("silence")
    desk.text("typed")
    assert acts(desk.words(over, Outcome.EMPTY, "broken"))[-1] == UserSaid("typed")


def test_a_flood_of_waiting_texts_is_bounded() -> None:
    desk = listening(AUTO)
    over = desk.over("silence")
    for n in range(1000):
        desk.text(str(n))
    assert len(acts(desk.words(over, Outcome.NOTHING))) < 20


# --- empty input (§4) -------------------------------------------------------------------------------------------------


def press(desk: Desk, outcome: Outcome = Outcome.NOTHING, voiced_ms: float = 0.0) -> list[Action]:
    desk.start(MANUAL)
    desk.voiced_ms = voiced_ms
    desk.outcome = AsrResult(outcome)
    actions = desk.stop()
    return actions if outcome is Outcome.NOTHING else desk.recognised()


@pytest.mark.parametrize("outcome", [Outcome.EMPTY, Outcome.NOTHING])
def test_each_empty_press_gets_one_prompt_and_is_never_counted(open_desk: Desk, outcome: Outcome) -> None:
    for _ in range(6):
        assert acts(press(open_desk, outcome, 2_000)) == [EmptyTurn(EmptyKind.MANUAL, 1)]
        open_desk.tts_start()
        assert ends(open_desk.reply_done()) == []
    assert acts(open_desk.text("hi")) == [UserSaid("hi")]


def after_reply(desk: Desk) -> list[Action]:
    """The running reply is spoken to its end, and its second of echo passes."""
    desk.tts_start()
    actions = desk.reply_done()
    desk.wait(1_000)
    desk.start(AUTO)
    return actions


def test_voice_without_words_gives_up_at_the_third_with_a_closing_sentence() -> None:
    desk = listening(AUTO)
    for grade in (1, 2):
        assert acts(desk.turn(Outcome.EMPTY, voiced_ms=600)) == [EmptyTurn(EmptyKind.AUTO_SPOKE, grade)]
        assert ends(after_reply(desk)) == []
    assert acts(desk.turn(Outcome.EMPTY, voiced_ms=600)) == [EmptyTurn(EmptyKind.AUTO_SPOKE, 3)]
    assert desk.machine.phase is not Phase.ENDED
    desk.tts_start()
    assert len(ends(desk.reply_done())) == 1
    assert desk.machine.phase is Phase.ENDED


def test_text_into_the_closing_sentence_keeps_the_conversation() -> None:
    desk = listening(AUTO)
    for _ in range(2):
        desk.turn(Outcome.EMPTY)
        after_reply(desk)
    desk.turn(Outcome.EMPTY)
    desk.tts_start()
    assert acts(desk.text("I am here")) == [UserSaid("I am here")]
    desk.tts_start()
    assert ends(desk.reply_done()) == []
    assert desk.machine.phase is Phase.LISTENING


@pytest.mark.parametrize("voiced_ms", [64, 300, 599.9])
def test_a_cough_neither_prompts_nor_counts(voiced_ms: float) -> None:
    desk = listening(AUTO)
    for _ in range(5):
        assert desk.turn(Outcome.EMPTY, voiced_ms=voiced_ms) == []
    assert acts(desk.turn(Outcome.EMPTY, voiced_ms=600)) == [EmptyTurn(EmptyKind.AUTO_SPOKE, 1)]


def test_words_reset_the_count() -> None:
    for speak in (lambda desk: desk.turn("words"), lambda desk: desk.text("typed")):
        desk = listening(AUTO)
        for _ in range(2):
            desk.turn(Outcome.EMPTY)
            after_reply(desk)
        speak(desk)
        after_reply(desk)
        assert acts(desk.turn(Outcome.EMPTY)) == [EmptyTurn(EmptyKind.AUTO_SPOKE, 1)]


def silent_stop(desk: Desk) -> list[Action]:
    desk.voiced_ms, desk.outcome = 0.0, AsrResult(Outcome.NOTHING)
    return desk.stop()


def test_silence_is_of_listen_stop_only_and_gives_up_without_a_word() -> None:
    desk = listening(AUTO)
    for grade in (1, 2):
        assert acts(silent_stop(desk)) == [EmptyTurn(EmptyKind.SILENCE, grade)]
        after_reply(desk)
    actions = silent_stop(desk)
    assert acts(actions) == []
    assert len(ends(actions)) == 1


def test_a_stall_without_voice_is_no_silence() -> None:
    desk = listening(AUTO)
    assert desk.turn(Outcome.NOTHING, reason="stall", voiced_ms=0) == []


def test_wake_sticks_until_words_come_and_the_greeting_does_not_count(open_desk: Desk) -> None:
    open_desk.wake()
    open_desk.start(AUTO)
    assert acts(open_desk.wait(400)) == [Say(Phrase.GREETING)]
    after_reply(open_desk)
    for grade in (1, 2):
        assert acts(silent_stop(open_desk)) == [EmptyTurn(EmptyKind.WAKE, grade)]
        after_reply(open_desk)
    actions = silent_stop(open_desk)
    assert acts(actions) == []
    assert len(ends(actions)) == 1


def test_words_end_the_wake_kind(open_desk: Desk) -> None:
    open_desk.wake()
    open_desk.start(AUTO)
    open_desk.turn("lights on")
    after_reply(open_desk)
    assert acts(silent_stop(open_desk)) == [EmptyTurn(EmptyKind.SILENCE, 1)]


def test_a_wake_begins_the_count_anew() -> None:
    desk = listening(AUTO)
    for _ in range(2):
        desk.turn(Outcome.EMPTY)
        after_reply(desk)
    desk.wake()
    desk.start(AUTO)
    assert acts(silent_stop(desk)) == [EmptyTurn(EmptyKind.WAKE, 1)]


# --- barge-in and lockout (realtime) ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("after_ms", "shuts"), [(0, False), (249, False), (250, True), (5_000, True)])
def test_voice_shuts_the_gate_in_realtime_after_the_lockout(after_ms: float, shuts: bool) -> None:
    desk = speaking(REALTIME)
    desk.wait(after_ms)
    assert kinds(desk.onset()) == ["hold:barge_in"] * shuts


@pytest.mark.parametrize("event", [Desk.onset, Desk.resume])
def test_both_kinds_of_onset_shut_it(event: Callable[[Desk], list[Action]]) -> None:
    desk = speaking(REALTIME)
    desk.wait(300)
    assert kinds(event(desk)) == ["hold:barge_in"]
    assert desk.machine.phase is Phase.LISTENING


def test_an_onset_inside_the_lockout_is_judged_again_when_it_ends() -> None:
    desk = speaking(REALTIME)
    desk.wait(100)
    desk.audio()
    assert desk.onset() == []
    assert kinds(desk.wait(149)) == []
    assert kinds(desk.wait(1)) == ["hold:barge_in"]


def test_a_noise_that_ended_inside_the_lockout_shuts_nothing() -> None:
    desk = speaking(REALTIME)
    desk.onset()
    desk.pause()
    desk.hear(SpeechEnded(500))
    assert kinds(desk.wait(5_000)) == []


def test_the_lockout_is_for_voice_only() -> None:
    for interrupt in (Desk.text, Desk.abort, Desk.wake):
        desk = speaking(REALTIME)
        assert "stop" in kinds(interrupt(desk))


def test_voice_before_a_reply_is_spoken_interrupts_nothing() -> None:
    desk = listening(REALTIME)
    desk.text("hi")
    assert "stop" not in kinds(desk.onset())


# --- a reply and its end ----------------------------------------------------------------------------------------------


def test_speaking_lies_between_start_and_the_end_of_the_reply(open_desk: Desk) -> None:
    open_desk.text("hi")
    assert open_desk.machine.phase is Phase.LISTENING
    open_desk.tts_start()
    assert open_desk.machine.phase is Phase.SPEAKING
    open_desk.reply_done()
    assert open_desk.machine.phase is Phase.LISTENING


@pytest.mark.parametrize("status", [ReplyStatus.COMPLETED, ReplyStatus.FAILED])
@pytest.mark.parametrize("spoke", [True, False])
def test_after_its_end_nothing_is_left_to_interrupt(open_desk: Desk, status: ReplyStatus, spoke: bool) -> None:
    open_desk.text("hi")
    if spoke:
        open_desk.tts_start()
    open_desk.reply_done(status)
    assert kinds(open_desk.abort()) == ["send:TtsStop"]
    assert kinds(open_desk.text("next")) == ["send:Heard", "upgrade:UserSaid"]


# --- stale events of the hearing half (rule 3.9) ----------------------------------------------------------------------


def test_an_onset_from_before_a_wake_neither_drops_the_greeting_nor_stays_open(open_desk: Desk) -> None:
    """The wake word itself is still with the detector when the detect comes."""
    open_desk.slow = True
    open_desk.wake()
    open_desk.onset()
    open_desk.settle()
    open_desk.slow = False
    assert acts(open_desk.wait(2_000)) == [Say(Phrase.GREETING)]


def test_the_hearing_half_says_back_what_it_does_not_know() -> None:
    desk = listening(AUTO)
    assert desk.hear(AudioFrame(b"", 0)) == []


# --- no activity (rule 7.1) -------------------------------------------------------------------------------------------


def test_an_idle_session_ends(open_desk: Desk) -> None:
    assert ends(open_desk.wait(LIMIT - 1)) == []
    assert ends(open_desk.wait(1)) == ["no_activity_timeout"]


def test_no_limit_where_there_is_none() -> None:
    desk = Desk(SessionSettings(no_activity_ms=None))
    desk.hello()
    assert desk.wait(10_000_000) == []
    assert desk.machine.deadline_ns() is None


@pytest.mark.parametrize("mode", [AUTO, REALTIME, MANUAL])
def test_streamed_silence_is_no_activity(mode: ListenMode) -> None:
    desk = listening(mode)
    while desk.machine.phase is not Phase.ENDED and desk.now_ms < 2 * LIMIT:
        desk.audio()
        desk.wait(60)
    assert desk.machine.phase is Phase.ENDED
    assert desk.now_ms == pytest.approx(LIMIT, abs=61)


@pytest.mark.parametrize(
    "activity",
    [
        lambda desk: desk.start(AUTO),
        Desk.abort,
        lambda desk: (desk.text("hi"), desk.reply_done()),
        lambda desk: desk.wake("hello there") and desk.reply_done(),
        lambda desk: desk.turn(Outcome.EMPTY, voiced_ms=100),
    ],
)
def test_activity_begins_the_limit_anew(open_desk: Desk, activity: Callable[[Desk], object]) -> None:
    open_desk.wait(LIMIT - 1)
    activity(open_desk)
    assert ends(open_desk.wait(LIMIT - 1)) == []
    assert ends(open_desk.wait(1)) == ["no_activity_timeout"]


def test_an_unfinished_reply_is_activity(open_desk: Desk) -> None:
    open_desk.text("a long story")
    assert ends(open_desk.wait(10 * LIMIT)) == []
    open_desk.tts_start()
    assert ends(open_desk.wait(10 * LIMIT)) == []
    open_desk.reply_done()
    assert ends(open_desk.wait(LIMIT - 1)) == []
    assert ends(open_desk.wait(1)) == ["no_activity_timeout"]


def test_an_awaited_outcome_is_activity() -> None:
    desk = listening(AUTO)
    over = desk.over("silence")
    assert ends(desk.wait(LIMIT)) == []
    assert acts(desk.words(over, "hi")) == [UserSaid("hi")]


@pytest.mark.parametrize("mode", [AUTO, REALTIME, MANUAL])
def test_going_on_speaking_is_activity(mode: ListenMode) -> None:
    desk = listening(mode)
    desk.audio()
    desk.onset()
    while desk.now_ms < 3 * LIMIT:
        desk.audio()
        desk.wait(60)
    assert desk.machine.phase is not Phase.ENDED


def test_a_held_press_without_any_more_audio_ends() -> None:
    desk = listening(MANUAL)
    desk.audio()
    desk.onset()
    assert ends(desk.wait(LIMIT)) == ["no_activity_timeout"]


def test_a_held_press_that_streams_silence_ends() -> None:
    desk = listening(MANUAL)
    desk.audio()
    desk.onset()
    desk.pause()
    while desk.machine.phase is not Phase.ENDED and desk.now_ms < 2 * LIMIT:
        desk.audio()
        desk.wait(60)
    assert desk.machine.phase is Phase.ENDED


def test_a_device_that_never_came_back_from_a_reply_ends() -> None:
    desk = listening(AUTO)
    desk.audio()
    desk.onset()
    desk.speak()
    desk.reply_done()
    assert ends(desk.wait(LIMIT)) == ["no_activity_timeout"]


def test_everything_sent_outside_a_turn_bears_the_present_epoch() -> None:
    desk = speaking(AUTO)
    desk.abort()
    [stop] = messages(desk.abort())
    assert stop.epoch == desk.machine.epoch == 2


def test_the_actions_of_a_step_can_be_done_in_order() -> None:
    """The old round is stopped before the new one begins, and the words are shown between."""
    desk = speaking(AUTO)
    actions = desk.text("next")
    assert [type(action).__name__ for action in actions] == ["StopRunning", "Send", "Upgrade"]
    assert isinstance(actions[1], Send)
