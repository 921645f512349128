"""What a voice does to a reply, row by row (CONVERSATION §3): hold, release, joined turns, echoes, guesses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.session.desk import SETTINGS, Desk, acts, finishes, kinds, modes
from vanling.contracts.engines import AsrResult, Outcome
from vanling.dialogue.empty_input import EmptyKind
from vanling.dialogue.ling import EmptyTurn, UserSaid
from vanling.pipeline.events import Rejoin, SpeechEnded
from vanling.session.actions import Action, Hear, ReleaseRunning, ThinkAhead, Upgrade
from vanling.session.frame import Close, ListenMode
from vanling.session.settings import HoldSettings, Phase

AUTO, REALTIME, MANUAL = ListenMode.AUTO, ListenMode.REALTIME, ListenMode.MANUAL
HANDS_FREE = [AUTO, REALTIME]
OURS = "the answer is forty two"


def listening(mode: ListenMode, **hold: object) -> Desk:
    desk = Desk(replace(SETTINGS, hold=HoldSettings(**hold)))  # type: ignore[arg-type]
    desk.hello()
    desk.start(mode)
    desk.audio()
    return desk


def thinking(mode: ListenMode, **hold: object) -> Desk:
    """The first piece of a sentence is being answered; nothing of the answer has been heard."""
    desk = listening(mode, **hold)
    desk.turn("one")
    return desk


def speaking(mode: ListenMode = REALTIME, **hold: object) -> Desk:
    """In mid-reply, the lockout is over."""
    desk = listening(mode, **hold)
    desk.speak(OURS)
    desk.wait(300)
    desk.audio()
    return desk


def held(mode: ListenMode = REALTIME, **hold: object) -> Desk:
    desk = speaking(mode, **hold)
    assert kinds(desk.onset()) == ["hold:barge_in"]
    return desk


def upgrades(actions: list[Action]) -> list[Upgrade]:
    return [action for action in actions if isinstance(action, Upgrade)]


# --- voice before the first frame (rule 3.2) --------------------------------------------------------------------------


@pytest.mark.parametrize("mode", HANDS_FREE)
@pytest.mark.parametrize("started", [False, True])
def test_voice_before_the_first_frame_shuts_the_gate(mode: ListenMode, started: bool) -> None:
    desk = thinking(mode)
    if started:
        desk.tts_start()
    assert kinds(desk.voice()) == ["hold:voice"]
    assert desk.machine.phase is Phase.LISTENING


def test_typed_questions_wait_for_a_voice_too() -> None:
    desk = listening(AUTO)
    desk.text("a question")
    assert kinds(desk.voice()) == ["hold:voice"]


def test_in_auto_voice_after_the_first_frame_shuts_nothing() -> None:
    desk = speaking(AUTO)
    assert desk.onset() == []


def test_in_realtime_64_ms_of_voice_after_the_first_frame_are_not_enough() -> None:
    desk = speaking(REALTIME)
    assert desk.voice() == []
    assert desk.lapse() == []


def test_voice_before_the_first_listen_start_is_nobody_s() -> None:
    """Its words would never come: rule 1.2."""
    desk = Desk()
    desk.hello()
    desk.audio()
    desk.text("a question")
    assert desk.onset() == []


@pytest.mark.parametrize("mode", HANDS_FREE)
def test_after_a_listen_stop_voice_holds_nothing(mode: ListenMode) -> None:
    desk = listening(mode)
    desk.stop()
    desk.text("a question")
    assert desk.onset() == []


def test_a_reply_that_begins_into_a_voice_waits_at_once() -> None:
    """Speech between the end of a turn and its outcome."""
    desk = listening(AUTO)
    desk.onset()
    desk.pause()
    over = desk.over()
    desk.voice()
    assert kinds(desk.words(over, "one")) == ["send:Heard", "upgrade:UserSaid", "hold:voice"]


def test_a_reply_that_begins_while_words_are_owed_waits_at_once() -> None:
    desk = listening(AUTO)
    first, second = desk.over(), desk.over()
    assert kinds(desk.words(first, "one"))[-1] == "hold:voice"
    assert kinds(desk.words(second, Outcome.EMPTY)) == ["release:no_words"]


def test_a_voice_too_short_for_speech_releases_at_once() -> None:
    desk = thinking(AUTO)
    desk.voice()
    epoch = desk.machine.epoch
    [release] = desk.lapse()
    assert release == ReleaseRunning(epoch + 1, "silence")
    assert desk.machine.epoch == epoch + 1


def test_switched_off_a_voice_holds_nothing() -> None:
    desk = thinking(AUTO, hold=False)
    assert desk.onset() == []
    desk = speaking(REALTIME, hold=False)
    assert kinds(desk.onset()) == ["stop"]


# --- release (rule 3.3) -----------------------------------------------------------------------------------------------

NOTHING_CAME: dict[str, Callable[[Desk], list[Action]]] = {
    "empty": lambda desk: desk.words(desk.over(), Outcome.EMPTY),
    "nothing": lambda desk: desk.words(desk.over(), Outcome.NOTHING),
    "failed": lambda desk: desk.words(desk.over(), Outcome.EMPTY, failure="broken"),
    "echo": lambda desk: desk.words(desk.over(), "answer is forty two"),
    "silence": lambda desk: desk.hear(SpeechEnded(500)),
}


@pytest.mark.parametrize("came", NOTHING_CAME.values(), ids=NOTHING_CAME)
def test_what_comes_to_nothing_lets_the_reply_go_on(came: Callable[[Desk], list[Action]]) -> None:
    desk = held()
    epoch = desk.machine.epoch
    desk.pause()
    actions = came(desk)
    assert [type(action) for action in actions] == [ReleaseRunning]
    assert desk.machine.epoch == epoch + 1
    assert kinds(desk.abort())[0] == "stop", "it runs still"


@pytest.mark.parametrize("voiced_ms", [700, 3_000])
@pytest.mark.parametrize("mode", HANDS_FREE)
def test_empty_outcomes_of_a_hold_neither_prompt_nor_count(mode: ListenMode, voiced_ms: float) -> None:
    desk = thinking(mode)
    for _ in range(4):
        assert acts(desk.turn(Outcome.EMPTY, voiced_ms=voiced_ms)) == []
    desk.reply_done()
    desk.wait(1_500)
    desk.audio()
    expected = [EmptyTurn(EmptyKind.AUTO_SPOKE, 1)]
    assert acts(desk.turn(Outcome.EMPTY, voiced_ms=voiced_ms)) == expected, "the reply was never heard"


def test_words_into_a_spoken_reply_are_a_new_turn() -> None:
    desk = held()
    desk.pause()
    assert kinds(desk.words(desk.over(), "stop it")) == ["stop", "send:Heard", "upgrade:UserSaid"]


def test_two_seconds_after_the_falling_edge_the_reply_goes_on_without_the_words() -> None:
    desk = held()
    desk.pause()
    desk.wait(500)
    over = desk.over()
    assert kinds(desk.wait(1_499)) == []
    assert kinds(desk.wait(1)) == ["release:words_owed"]
    assert kinds(desk.words(over, "late words")) == ["stop", "send:Heard", "upgrade:UserSaid"]


@pytest.mark.parametrize("patience_ms", [0, 500, 5_000])
def test_the_patience_can_be_set(patience_ms: float) -> None:
    desk = held(false_interruption_ms=patience_ms)
    desk.pause()
    desk.over()
    assert kinds(desk.wait(max(0.0, patience_ms - 1))) == ["release:words_owed"] * (patience_ms == 0)
    assert kinds(desk.wait(1)) == ["release:words_owed"] * (patience_ms > 0)


def test_while_somebody_speaks_nothing_runs_out() -> None:
    desk = held()
    for _ in range(100):
        desk.wait(60)
        desk.audio()
    assert kinds(desk.actions)[-1] == "hold:barge_in"
    desk.pause()
    desk.wait(400)
    desk.audio()
    desk.resume()
    for _ in range(50):
        desk.wait(60)
        desk.audio()
    assert kinds(desk.actions)[-1] == "hold:barge_in"
    assert desk.machine.phase is not Phase.ENDED


def test_three_seconds_of_voice_without_a_word_release_and_hold_no_more() -> None:
    desk = held()
    assert desk.partial("", 2_900) == []
    assert desk.partial("wait", 3_100) == []
    assert kinds(desk.partial("", 3_000)) == ["release:wordless"]
    desk.tts_start()
    desk.wait(300)
    desk.audio()
    desk.pause()
    assert desk.resume() == [], "it is the same speech"
    desk.pause()
    desk.words(desk.over(), Outcome.EMPTY)
    assert kinds(desk.onset()) == ["hold:barge_in"], "another voice gets its own chance"


def test_a_wordless_voice_does_not_hold_the_next_reply_either() -> None:
    desk = listening(AUTO)
    desk.onset()
    desk.partial("", 3_000)
    assert "hold:voice" not in kinds(desk.text("a question"))


def test_the_gate_stays_shut_for_the_next_piece_when_the_last_was_nothing() -> None:
    desk = thinking(AUTO)
    desk.onset()
    desk.pause()
    over = desk.over()
    desk.onset()
    assert desk.words(over, Outcome.EMPTY) == []
    desk.pause()
    assert kinds(desk.words(desk.over(), Outcome.EMPTY)) == ["release:no_words"]


# --- pieces of one sentence (rule 3.3) --------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", HANDS_FREE)
def test_words_before_the_first_frame_are_joined_with_those_before(mode: ListenMode) -> None:
    desk = thinking(mode)
    desk.tts_start()
    actions = desk.turn("two")
    assert kinds(actions) == ["stop", "hear:Rejoin"]
    [rejoin] = [a.event for a in actions if isinstance(a, Hear) and isinstance(a.event, Rejoin)]
    assert [piece.outcome.result.text for piece in (rejoin.first, rejoin.second)] == ["one", "two"]
    actions = desk.merged("one two")
    assert kinds(actions) == ["send:Heard", "upgrade:UserSaid"]
    assert [upgrade.goes_on for upgrade in upgrades(actions)] == [True]
    assert desk.machine.counts.merged == 1


def test_a_third_piece_is_joined_to_the_first_two() -> None:
    desk = thinking(AUTO)
    desk.turn("two")
    desk.merged("one two")
    assert kinds(desk.turn("three")) == ["stop", "hear:Rejoin"]
    assert acts(desk.merged("one two three")) == [UserSaid("one two three")]


def test_a_third_piece_waits_while_two_are_being_joined() -> None:
    """Its words may be there before those of the two together; they come behind them all the same."""
    desk = thinking(AUTO)
    second, third = desk.over(), desk.over()
    desk.words(second, "two")
    assert desk.words(third, "three") == []
    actions = desk.merged("one two")
    assert kinds(actions)[-2:] == ["stop", "hear:Rejoin"]
    assert acts(desk.merged("one two three")) == [UserSaid("one two three")]


def test_text_waits_while_two_pieces_are_being_joined() -> None:
    desk = thinking(AUTO)
    desk.turn("two")
    assert desk.text("typed") == []
    assert acts(desk.merged("one two")) == [UserSaid("one two"), UserSaid("typed")]


def test_a_press_forgets_what_was_being_joined() -> None:
    desk = thinking(AUTO)
    third = desk.over()
    desk.turn("two")
    desk.words(third, "three")
    desk.start(MANUAL)
    assert desk.merged("one two") == []
    desk.outcome = AsrResult(Outcome.TEXT, "pressed")
    desk.stop()
    assert acts(desk.recognised()) == [UserSaid("pressed")]


@pytest.mark.parametrize("other", ["typed", "prompt", "begun", "off", "manual"])
def test_nothing_is_joined_where_there_is_no_sentence_to_join_to(other: str) -> None:
    desk = listening(AUTO, merge=other != "off")
    match other:
        case "typed":
            desk.text("one")
        case "prompt":
            desk.turn(Outcome.EMPTY)
        case "begun":
            desk.turn("one")
            desk.tts_start()
            desk.sentence()
        case "off":
            desk.turn("one")
        case "manual":
            desk = listening(MANUAL)
            desk.words(desk.over("stop"), "one")
    actions = desk.words(desk.over("stop"), "two") if other == "manual" else desk.turn("two")
    assert "hear:Rejoin" not in kinds(actions)
    assert acts(actions) == [UserSaid("two")]


# --- our own words (rules 3.3 and 3.4) --------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", HANDS_FREE)
def test_an_echo_of_a_spoken_reply_is_no_turn(mode: ListenMode) -> None:
    desk = speaking(mode)
    actions = desk.turn("the answer is forty two")
    assert acts(actions) == []
    assert "stop" not in kinds(actions)
    assert desk.machine.counts.echoes == 1


def test_after_one_echo_onsets_shut_nothing_in_that_reply_but_words_do() -> None:
    desk = held()
    desk.pause()
    desk.words(desk.over(), "answer is forty")
    desk.tts_start()
    desk.wait(300)
    desk.audio()
    assert desk.onset() == []
    desk.pause()
    assert kinds(desk.words(desk.over(), "please stop it")) == ["stop", "send:Heard", "upgrade:UserSaid"]


def test_an_echo_releases_at_once_though_there_is_more_of_it() -> None:
    """It is our own voice that goes on."""
    desk = held()
    desk.pause()
    over = desk.over()
    desk.onset()
    assert kinds(desk.words(over, "answer is forty")) == ["release:echo"]


def test_after_two_false_interruptions_onsets_shut_nothing_in_that_reply() -> None:
    desk = speaking()
    for _ in range(2):
        assert kinds(desk.onset()) == ["hold:barge_in"]
        desk.pause()
        desk.words(desk.over(), Outcome.EMPTY)
        desk.tts_start()
        desk.wait(300)
        desk.audio()
    assert desk.onset() == []
    desk.pause()
    assert acts(desk.words(desk.over(), "but this")) == [UserSaid("but this")]
    desk.tts_start()
    desk.sentence()
    desk.wait(300)
    desk.audio()
    assert kinds(desk.onset()) == ["hold:barge_in"], "the next reply begins anew"


@pytest.mark.parametrize(("after_ms", "echo"), [(0, True), (999, True), (1_000, False)])
def test_the_echo_of_the_last_words_may_end_a_second_after_the_reply(after_ms: float, echo: bool) -> None:
    desk = speaking(AUTO)
    desk.reply_done()
    desk.wait(after_ms)
    over = desk.over()
    desk.wait(3_000)  # the recogniser is slow: what counts is when it was said
    assert (acts(desk.words(over, "the answer is forty two")) == []) is echo


def test_the_echo_of_an_interrupted_reply_is_no_turn_either() -> None:
    desk = speaking(REALTIME)
    desk.abort()
    desk.wait(200)
    assert acts(desk.turn("answer is forty two")) == []


def test_echoes_are_words_where_that_is_switched_off() -> None:
    desk = speaking(AUTO, echo=False)
    assert acts(desk.turn("the answer is forty two")) == [UserSaid("the answer is forty two")]


@pytest.mark.parametrize("answer", ["yes", "forty two please do that instead", "no"])
def test_answers_are_no_echoes(answer: str) -> None:
    desk = speaking(AUTO)
    assert acts(desk.turn(answer)) == [UserSaid(answer)]


# --- the lockout (rule 3.7) -------------------------------------------------------------------------------------------


def test_a_stop_locks_voices_out_as_a_start_does() -> None:
    desk = speaking(REALTIME)
    desk.text("another question")  # its tts stop goes out now
    assert desk.voice() == []
    assert kinds(desk.wait(249)) == []
    assert kinds(desk.wait(1)) == ["hold:voice"]


def test_the_stop_of_a_hold_locks_voices_out_of_the_reply_that_goes_on() -> None:
    """It has not started again: the model is slow."""
    desk = held()
    desk.wait(100)
    desk.pause()
    desk.words(desk.over(), Outcome.EMPTY)
    assert desk.onset() == []
    desk.audio()
    assert kinds(desk.wait(149)) == []
    assert kinds(desk.wait(1)) == ["hold:barge_in"]


def test_a_voice_that_lapsed_within_the_lockout_shuts_nothing() -> None:
    desk = speaking(REALTIME)
    desk.text("another question")
    desk.voice()
    desk.lapse()
    assert kinds(desk.wait(1_000)) == []


# --- what a client does while a reply is held -------------------------------------------------------------------------


def test_abort_while_held_stops_the_reply_and_is_answered() -> None:
    desk = held()
    assert kinds(desk.abort()) == ["stop", "send:TtsStop"]
    desk.pause()
    assert kinds(desk.words(desk.over(), Outcome.EMPTY)) == []


def test_a_press_while_held_is_a_press() -> None:
    desk = held()
    desk.pause()
    over = desk.over()
    actions = desk.start(MANUAL)
    assert kinds(actions)[0] == "stop"
    assert desk.words(over, "old") == []


def test_text_while_held_takes_the_place_of_the_reply_and_waits_for_the_voice() -> None:
    desk = held()
    desk.wait(300)
    desk.audio()
    assert kinds(desk.text("typed")) == ["stop", "send:Heard", "upgrade:UserSaid", "hold:voice"]
    desk.pause()
    assert kinds(desk.words(desk.over(), Outcome.EMPTY)) == ["release:no_words"]


def test_text_while_words_are_owed_waits_for_them() -> None:
    desk = held()
    desk.pause()
    over = desk.over()
    assert desk.text("typed") == []
    assert acts(desk.words(over, "spoken")) == [UserSaid("spoken"), UserSaid("typed")]


def test_wake_while_held_stops_the_reply() -> None:
    desk = held()
    assert kinds(desk.wake()) == ["stop", "hear:SetMode"]


def test_close_while_held_ends() -> None:
    desk = held()
    assert kinds(desk.frame(Close())) == ["stop", "end"]


def test_a_listen_stop_while_held_owes_its_words() -> None:
    desk = held()
    desk.outcome = AsrResult(Outcome.TEXT, "half a")
    actions = desk.stop()
    assert finishes(actions) == ["stop"]
    assert "release:silence" not in kinds(actions)
    assert kinds(desk.recognised()) == ["stop", "send:Heard", "upgrade:UserSaid"]


def test_a_listen_stop_while_held_gives_up_its_words_after_the_patience() -> None:
    desk = held()
    desk.outcome = AsrResult(Outcome.TEXT, "half a")
    desk.stop()
    assert kinds(desk.wait(2_000))[-1] == "release:words_owed"


def test_a_voice_that_nobody_listens_to_does_not_lengthen_the_patience() -> None:
    desk = held()
    desk.outcome = AsrResult(Outcome.TEXT, "half a")
    desk.stop()
    desk.wait(1_000)
    desk.audio()
    desk.onset()
    assert kinds(desk.wait(1_000))[-1] == "release:words_owed"


def test_the_listen_start_that_the_device_sends_by_itself_during_a_hold_only_sets_the_mode() -> None:
    """Held before its first frame, with tts start out: the stop makes an auto-mode device say listen/start."""
    desk = thinking(AUTO)
    desk.tts_start()
    desk.voice()
    assert kinds(desk.start(AUTO)) == ["hear:SetMode"]
    assert not modes(desk.actions)[-1].fresh, "the voice goes on"
    assert kinds(desk.lapse()) == ["release:silence"]


def test_a_second_listen_start_during_a_hold_interrupts() -> None:
    desk = thinking(AUTO)
    desk.tts_start()
    desk.voice()
    desk.start(AUTO)
    assert kinds(desk.start(AUTO))[0] == "stop"


@pytest.mark.parametrize("sure", [False, True])
def test_a_client_that_falls_silent_in_a_hold_does_not_keep_it_shut(sure: bool) -> None:
    """Its microphone closed with tts start: neither the rest of that voice nor its end will come."""
    desk = thinking(AUTO)
    desk.tts_start()
    if sure:
        desk.onset()
    else:
        desk.voice()
    assert kinds(desk.wait(1_199)) == []
    assert "release:silence" in kinds(desk.wait(1))


def test_a_realtime_client_that_falls_silent_in_a_hold_is_asked_for_its_words() -> None:
    desk = held(REALTIME)
    desk.outcome = AsrResult(Outcome.TEXT, "half a sen")
    assert finishes(desk.wait(1_200)) == ["stall"]
    assert kinds(desk.recognised()) == ["stop", "send:Heard", "upgrade:UserSaid"]


def test_the_reply_that_goes_on_is_spoken_to_its_end() -> None:
    desk = held()
    desk.pause()
    desk.words(desk.over(), Outcome.EMPTY)
    desk.tts_start()
    assert desk.machine.phase is Phase.SPEAKING
    desk.reply_done()
    assert desk.machine.phase is Phase.LISTENING
    assert kinds(desk.abort()) == ["send:TtsStop"]


def test_a_held_reply_keeps_the_session_alive() -> None:
    desk = held()
    while desk.now_ms < 100_000:
        desk.audio()
        desk.wait(60)
    assert desk.machine.phase is not Phase.ENDED


# --- thinking ahead (rule 3.1) ----------------------------------------------------------------------------------------


def guessing(mode: ListenMode = REALTIME, **hold: object) -> Desk:
    desk = listening(mode, **hold)
    desk.onset()
    desk.pause()
    assert kinds(desk.guess("one")) == ["think"]
    return desk


def test_a_guess_that_was_right_is_adopted() -> None:
    desk = guessing()
    assert [action.act for action in desk.actions if isinstance(action, ThinkAhead)] == [UserSaid("one")]
    actions = desk.words(desk.over(), "one")
    assert kinds(actions) == ["send:Heard", "upgrade:UserSaid"]
    assert [upgrade.thought_ahead for upgrade in upgrades(actions)] == [True]
    assert (desk.machine.counts.speculations, desk.machine.counts.dropped) == (1, 0)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (Desk.resume, ["drop"]),
        (lambda desk: desk.words(desk.over(), "other words"), ["send:Heard", "drop", "upgrade:UserSaid"]),
        (lambda desk: desk.words(desk.over(), Outcome.EMPTY, failure="x"), ["send:Error", "drop", "upgrade:Say"]),
        (lambda desk: desk.text("typed"), ["send:Heard", "drop", "upgrade:UserSaid", "hold:voice"]),
        (lambda desk: desk.guess("one two"), ["drop", "think"]),
        (Desk.wake, ["hear:SetMode", "drop"]),
        (lambda desk: desk.start(MANUAL), ["hear:SetMode", "drop"]),
    ],
)
def test_a_guess_is_dropped_by_whatever_proves_it_wrong(after: Callable[[Desk], object], expected: list[str]) -> None:
    desk = guessing()
    before = len(desk.actions)
    after(desk)
    assert kinds(desk.actions[before:]) == expected
    assert desk.machine.counts.dropped == 1


def test_nothing_is_shown_or_spoken_on_a_guess() -> None:
    desk = guessing()
    assert [kind for kind in kinds(desk.actions) if kind.startswith(("send:Heard", "upgrade"))] == []


def test_a_guess_after_the_end_of_its_turn_is_no_guess() -> None:
    desk = listening(REALTIME)
    desk.onset()
    desk.pause()
    desk.over()
    assert desk.guess("one") == []


def test_a_guess_into_speech_is_none() -> None:
    desk = listening(REALTIME)
    desk.onset()
    assert desk.guess("one") == []


@pytest.mark.parametrize(
    ("mode", "modes_", "thinks"),
    [
        (AUTO, {REALTIME}, False),
        (AUTO, {AUTO, REALTIME}, True),
        (REALTIME, set(), False),
        (MANUAL, {AUTO, REALTIME, MANUAL}, False),
    ],
)
def test_where_a_reply_is_thought_ahead(mode: ListenMode, modes_: set[ListenMode], thinks: bool) -> None:
    desk = listening(mode, think_ahead=frozenset(modes_))
    desk.onset()
    desk.pause()
    assert kinds(desk.guess("one")) == ["think"] * thinks


def test_on_our_own_words_nothing_is_thought_ahead() -> None:
    desk = speaking(REALTIME)
    desk.reply_done()
    desk.onset()
    desk.pause()
    assert desk.guess("answer is forty two") == []


def test_during_a_reply_nothing_is_thought_ahead() -> None:
    desk = held()
    desk.pause()
    assert desk.guess("one") == []


def test_an_adopted_reply_waits_for_a_voice_too() -> None:
    desk = guessing()
    over = desk.over()
    desk.voice()
    assert kinds(desk.words(over, "one")) == ["send:Heard", "upgrade:UserSaid", "hold:voice"]


def test_closing_drops_a_guess() -> None:
    desk = guessing()
    assert kinds(desk.frame(Close())) == ["drop", "end"]


# --- empty input after a reply in realtime (rule 4.2) -----------------------------------------------------------------


def test_in_realtime_empty_turns_after_an_answer_are_silent_and_never_counted() -> None:
    desk = speaking(REALTIME)
    desk.reply_done()
    for _ in range(5):
        desk.wait(1_500)
        desk.audio()
        assert desk.turn(Outcome.EMPTY) == []
    desk.start(AUTO)
    assert acts(desk.turn(Outcome.EMPTY)) == [EmptyTurn(EmptyKind.AUTO_SPOKE, 1)]


def test_a_wake_ends_that() -> None:
    desk = speaking(REALTIME)
    desk.reply_done()
    desk.wait(1_500)
    desk.wake()
    desk.start(REALTIME)
    desk.audio()
    assert acts(desk.turn(Outcome.EMPTY)) == [EmptyTurn(EmptyKind.WAKE, 1)]


def test_before_any_answer_realtime_prompts_as_auto_does() -> None:
    desk = listening(REALTIME)
    assert acts(desk.turn(Outcome.EMPTY)) == [EmptyTurn(EmptyKind.AUTO_SPOKE, 1)]
