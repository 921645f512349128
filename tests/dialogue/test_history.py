"""History: valid whatever was interrupted, cut to what was heard, within its budget by whole turns."""

from __future__ import annotations

import pytest

from tests.dialogue.valid import assert_valid
from vanling.contracts.engines import Message, Role, ToolCall
from vanling.dialogue.history import History
from vanling.dialogue.tokens import MESSAGE_TOKENS, cost
from vanling.dialogue.turn import NoResult

CLOCK = ToolCall("c1", "get_time")
LAMP = ToolCall("c2", "set_lamp", '{"on":true}')


def user(text: str) -> Message:
    return Message(Role.USER, text)


def assistant(text: str, *calls: ToolCall, interrupted: bool = False) -> Message:
    return Message(Role.ASSISTANT, text, calls, interrupted=interrupted)


def result(text: str | NoResult, call: ToolCall = CLOCK) -> Message:
    return Message(Role.TOOL, text.value if isinstance(text, NoResult) else text, tool_call_id=call.id)


def asked(words: str = "q", **options: int) -> History:
    history = History(**options)  # type: ignore[arg-type]
    history.begin(words)
    return history


# --- what was heard ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heard", "interrupted", "left"),
    [
        ("It is noon.", False, [assistant("It is noon.")]),
        ("It is", True, [assistant("It is", interrupted=True)]),
        ("", True, []),
        ("", False, []),
        (" \n", True, []),
    ],
)
def test_an_answer_is_kept_as_heard(heard: str, interrupted: bool, left: list[Message]) -> None:
    history = asked()
    assert history.finish(heard, interrupted=interrupted)
    assert history.messages() == [user("q"), *left]


@pytest.mark.parametrize(
    ("heard", "left"),
    [
        ("Wait. It is noon.", ["Wait.", "It is noon."]),
        ("Wait. It", ["Wait.", "It"]),
        ("Wait.", ["Wait."]),
        ("Wa", ["Wa"]),
        ("", [""]),
        ("Spoken otherwise.", ["", "Spoken otherwise."]),
    ],
)
def test_words_before_a_call_are_cut_like_those_behind_it(heard: str, left: list[str]) -> None:
    history = asked()
    history.called(history.turn, [CLOCK], "Wait.")
    history.returned(history.turn, "c1", "noon")
    history.finish(heard, interrupted=True)
    said = [message for message in history.messages() if message.role is Role.ASSISTANT]
    assert [message.text for message in said] == left
    assert [message.interrupted for message in said if message.text][-1:] == [True] * bool("".join(left))
    assert_valid(history.messages())


def test_while_a_reply_goes_on_the_model_sees_what_it_wrote() -> None:
    history = asked()
    history.called(history.turn, [CLOCK], "Wait.")
    history.returned(history.turn, "c1", "noon")
    assert history.prompt("q") == [user("q"), assistant("Wait.", CLOCK), result("noon")]


def test_what_is_said_outside_a_turn_does_not_enter() -> None:
    history = History()
    assert not history.finish("Hi, I'm here.")
    assert history.empty
    history.begin("q")
    history.finish("a")
    assert not history.finish("Are you still there?")
    assert history.messages() == [user("q"), assistant("a")]


def test_a_turn_that_nobody_ended_ends_unheard_with_the_next() -> None:
    history = asked("one")
    history.begin("two")
    assert history.messages() == [user("one"), user("two")]


# --- questions --------------------------------------------------------------------------------------------------------


def test_a_guess_is_asked_behind_the_history_and_leaves_nothing() -> None:
    history = asked("one")
    history.finish("first")
    assert history.prompt("two") == [user("one"), assistant("first"), user("two")]
    assert history.messages() == [user("one"), assistant("first")]


def test_a_confirmed_question_is_asked_once() -> None:
    history = asked("one")
    assert history.prompt("one") == [user("one")]


def test_the_same_words_again_are_a_question_again() -> None:
    history = asked("yes")
    history.finish("Fine.")
    assert history.prompt("yes") == [user("yes"), assistant("Fine."), user("yes")]


def test_a_guess_during_a_call_is_valid() -> None:
    history = asked("one")
    history.called(history.turn, [CLOCK])
    assert_valid(history.prompt("two"))
    assert history.prompt("two")[2] == result(NoResult.RUNNING)


def test_a_turn_that_went_on_has_its_words_replaced() -> None:
    history = asked("turn on")
    history.finish("", interrupted=True)
    history.replace("turn on the lamp")
    assert history.messages() == [user("turn on the lamp")]
    assert history.turn


def test_a_turn_that_something_followed_from_is_not_replaced() -> None:
    history = asked("turn on")
    history.called(history.turn, [LAMP])
    history.replace("turn on the lamp")
    assert history.messages() == [
        user("turn on"),
        assistant("", LAMP),
        result(NoResult.CANCELLED, LAMP),
        user("turn on the lamp"),
    ]


def test_a_withdrawn_turn_leaves_nothing() -> None:
    history = asked("one")
    history.finish("first")
    history.begin("hm")
    history.withdraw()
    assert history.messages() == [user("one"), assistant("first")]
    assert not history.turn


def test_a_withdrawn_turn_whose_tool_ran_is_kept() -> None:
    history = asked("lamp")
    history.called(history.turn, [LAMP])
    history.returned(history.turn, "c2", "done")
    history.withdraw()
    assert history.messages() == [user("lamp"), assistant("", LAMP), result("done", LAMP)]
    assert not history.turn


def test_a_further_reply_belongs_to_the_newest_turn() -> None:
    history = asked("time")
    history.called(history.turn, [CLOCK], "Let me see.")
    history.left_to_client(history.turn, "c1")
    history.finish("Let me see.")
    assert history.output("c1", "noon")
    history.resume()
    history.finish("It is noon.")
    assert history.messages() == [
        user("time"),
        assistant("Let me see.", CLOCK),
        result("noon"),
        assistant("It is noon."),
    ]


@pytest.mark.parametrize(("heard", "left"), [("Hello.", [assistant("Hello.")]), ("", [])])
def test_a_reply_without_any_words_of_the_user(heard: str, left: list[Message]) -> None:
    history = History()
    history.resume()
    history.finish(heard)
    assert history.messages() == left


# --- tools ------------------------------------------------------------------------------------------------------------


def test_results_stand_in_the_order_of_the_calls() -> None:
    history = asked()
    history.called(history.turn, [CLOCK, LAMP])
    assert history.returned(history.turn, "c2", "done")
    assert history.returned(history.turn, "c1", "noon")
    assert history.messages()[1:] == [assistant("", CLOCK, LAMP), result("noon"), result("done", LAMP)]


def test_an_interruption_while_a_tool_runs_leaves_history_valid() -> None:
    history = asked()
    turn = history.turn
    history.called(turn, [CLOCK, LAMP])
    history.returned(turn, "c1", "noon")
    history.finish("", interrupted=True)
    assert history.messages()[2:] == [result("noon"), result(NoResult.CANCELLED, LAMP)]
    assert not history.returned(turn, "c2", "too late")
    assert history.messages()[3] == result(NoResult.CANCELLED, LAMP)


def test_a_straggler_writes_nothing_into_the_next_turn() -> None:
    history = asked("one")
    old = history.turn
    history.finish("", interrupted=True)
    history.begin("two")
    new = history.turn
    assert not history.called(old, [CLOCK])
    history.called(new, [CLOCK])
    assert not history.returned(old, "c1", "of the old turn")
    assert not history.left_to_client(old, "c1")
    assert history.messages()[-1] == result(NoResult.RUNNING)


@pytest.mark.parametrize("turn", [0, 1, 2])
def test_no_call_without_an_open_turn(turn: int) -> None:
    history = History()
    assert not history.called(turn, [CLOCK])
    history.begin("q")
    history.finish("a")
    assert not history.called(turn, [CLOCK])


def test_a_pending_result_outlives_its_turn_until_the_output_comes() -> None:
    history = asked("one")
    history.called(history.turn, [CLOCK])
    assert history.left_to_client(history.turn, "c1")
    history.finish("", interrupted=True)
    history.begin("two")
    assert history.messages()[2] == result(NoResult.CLIENT)
    assert history.output("c1", "noon")
    assert history.messages()[2] == result("noon")
    assert not history.output("c1", "again")
    assert not history.output("c9", "never asked")


def test_when_the_owner_goes_nothing_stays_pending() -> None:
    history = asked("one")
    history.called(history.turn, [CLOCK])
    history.left_to_client(history.turn, "c1")
    history.finish("")
    history.begin("two")
    history.called(history.turn, [LAMP])
    history.cancel_all()
    assert not history.turn
    assert [message.text for message in history.messages() if message.role is Role.TOOL] == [
        NoResult.CANCELLED.value
    ] * 2
    assert not history.output("c1", "late")


def test_a_model_may_use_an_id_again_in_a_later_step() -> None:
    history = asked()
    for text in ("first", "second"):
        history.called(history.turn, [CLOCK])
        history.returned(history.turn, "c1", text)
    assert [message.text for message in history.messages() if message.role is Role.TOOL] == ["first", "second"]
    assert_valid(history.messages())


def test_of_two_pending_calls_with_one_id_the_newest_is_answered_first() -> None:
    history = asked()
    for _ in range(2):
        history.called(history.turn, [CLOCK])
        history.left_to_client(history.turn, "c1")
    history.output("c1", "noon")
    assert [message.text for message in history.messages() if message.role is Role.TOOL] == [
        NoResult.CLIENT.value,
        "noon",
    ]


@pytest.mark.parametrize("calls", [[], [CLOCK, CLOCK]])
def test_calls_that_no_model_would_take_back_are_refused(calls: list[ToolCall]) -> None:
    history = asked()
    with pytest.raises(ValueError, match="ids of tool calls must differ"):
        history.called(history.turn, calls)
    assert history.messages() == [user("q")]


# --- the budget -------------------------------------------------------------------------------------------------------

TURN = cost([user("aaaa"), assistant("bbbb")])


@pytest.mark.parametrize(
    ("tokens", "kept"), [(0, 1), (TURN - 1, 1), (TURN, 1), (2 * TURN - 1, 1), (2 * TURN, 2), (5 * TURN, 5), (10**6, 5)]
)
def test_the_oldest_turns_go_whole(tokens: int, kept: int) -> None:
    history = History(tokens=tokens)
    for _ in range(5):
        history.begin("aaaa")
        history.finish("bbbb")
    assert history.messages() == [user("aaaa"), assistant("bbbb")] * kept


def test_a_call_is_never_split_from_its_result() -> None:
    history = asked("aaaa", tokens=60)
    history.called(history.turn, [CLOCK])
    history.returned(history.turn, "c1", "x" * 80)
    history.finish("ok")
    assert len(history.messages()) == 4
    history.begin("b" * 80)
    assert history.messages() == [user("b" * 80)]


@pytest.mark.parametrize("tokens", [0, 5, 20])
def test_the_newest_words_are_kept_whole_however_long(tokens: int) -> None:
    history = asked("old", tokens=tokens)
    history.finish("answer")
    assert history.prompt("w" * 1_000) == [user("w" * 1_000)]
    history.begin("w" * 1_000)
    assert history.messages() == [user("w" * 1_000)]


def test_a_question_that_is_not_confirmed_counts_too() -> None:
    history = History(tokens=2 * TURN)
    for _ in range(2):
        history.begin("aaaa")
        history.finish("bbbb")
    assert history.prompt("cc") == [user("aaaa"), assistant("bbbb"), user("cc")]
    assert len(history.messages()) == 4, "a guess makes nothing forgotten"


@pytest.mark.parametrize("late", ["output", "end"])
def test_what_comes_late_into_an_older_turn_counts(late: str) -> None:
    """The placeholder of a cancelled call is longer than that of a pending one."""
    history = asked("one", tokens=60)
    history.called(history.turn, [CLOCK])
    history.left_to_client(history.turn, "c1")
    history.finish("")
    history.begin("w" * 4 * (60 - MESSAGE_TOKENS - cost(history.messages())))
    assert (len(history.messages()), cost(history.messages())) == (4, 60)
    if late == "output":
        assert history.output("c1", "noon" * 20)
    else:
        history.cancel_all()
    assert len(history.messages()) == 1


def test_the_counter_is_the_model_s() -> None:
    history = History(tokens=2 * (MESSAGE_TOKENS + 10), count=lambda _: 10)
    for word in ("a", "b", "c"):
        history.begin(word)
        history.finish("")
    assert history.messages() == [user("b"), user("c")]
