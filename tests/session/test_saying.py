"""Announcements: when they are said, and that none is lost (CONVERSATION rule 5.6)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.session.desk import Desk, acts, kinds, messages
from vanling.contracts.engines import AsrResult, Outcome
from vanling.dialogue.ling import Announcement, EmptyTurn, Say, UserSaid
from vanling.dialogue.phrases import Phrase
from vanling.session.actions import End
from vanling.session.frame import ListenMode, SayAnswer
from vanling.session.saying import MAX_WAITING_SAYS

AUTO, REALTIME, MANUAL = ListenMode.AUTO, ListenMode.REALTIME, ListenMode.MANUAL
TEA = Announcement("tea is ready")


def listening(mode: ListenMode = AUTO) -> Desk:
    desk = Desk()
    desk.hello()
    desk.start(mode)
    desk.audio()
    return desk


def answers(desk: Desk) -> list[bool]:
    """Of every announcement: whether it was queued."""
    return [message.queued for message in messages(desk.actions) if isinstance(message, SayAnswer)]


def test_where_nobody_speaks_it_is_spoken_at_once() -> None:
    desk = listening()
    actions = desk.say()
    assert kinds(actions) == ["send:SayAnswer", "upgrade:Announcement"]
    assert messages(actions) == [SayAnswer(epoch=1, queued=False, ref="r1")]
    assert acts(actions) == [TEA]


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_is_no_announcement(text: str) -> None:
    assert listening().say(text) == []


def test_before_hello_it_waits_for_the_first_listen_start_behind_it() -> None:
    desk = Desk()
    desk.say()
    assert answers(desk) == [True]
    desk.hello()
    assert acts(desk.wait(1_000)) == []
    assert acts(desk.start(AUTO)) == [TEA]


def test_two_seconds_after_hello_it_waits_no_longer() -> None:
    desk = Desk()
    desk.hello()
    desk.say()
    assert acts(desk.wait(1_999)) == []
    assert acts(desk.wait(1)) == [TEA]


def test_a_second_hello_does_not_make_it_wait_again() -> None:
    desk = listening()
    desk.hello()
    assert acts(desk.say()) == [TEA]


def test_it_waits_for_the_greeting() -> None:
    desk = Desk()
    desk.say()
    desk.hello()
    desk.wake()
    assert acts(desk.start(AUTO)) == []
    assert acts(desk.wait(400)) == [Say(Phrase.GREETING)]
    desk.tts_start()
    assert acts(desk.reply_done()) == [TEA]


BUSY: dict[str, tuple[Callable[[Desk], object], Callable[[Desk], object]]] = {
    "a reply": (lambda desk: desk.speak(), lambda desk: desk.reply_done()),
    "speech": (lambda desk: desk.onset(), lambda desk: desk.words(desk.over(voiced_ms=300), Outcome.NOTHING)),
    "a voice": (lambda desk: desk.voice(), lambda desk: desk.lapse()),
}


@pytest.mark.parametrize("what", ["a reply", "speech", "a voice"])
def test_it_waits_while_somebody_speaks(what: str) -> None:
    desk = listening()
    begin, end = BUSY[what]
    begin(desk)
    assert acts(desk.say()) == []
    assert answers(desk) == [True]
    end(desk)
    assert acts(desk.actions)[-1:] == [TEA]


def test_it_waits_for_owed_words_and_their_answer() -> None:
    desk = listening()
    over = desk.over()
    desk.say()
    assert acts(desk.words(over, "hello")) == [UserSaid("hello")]
    desk.tts_start()
    assert acts(desk.reply_done()) == [TEA]


def test_no_announcement_begins_during_a_press() -> None:
    desk = listening(MANUAL)
    assert acts(desk.say()) == []
    desk.wait(5_000)
    assert acts(desk.actions) == []
    desk.outcome = AsrResult(Outcome.TEXT, "lights on")
    desk.stop()
    assert acts(desk.recognised()) == [UserSaid("lights on")]
    assert acts(desk.reply_done()) == [TEA]


@pytest.mark.parametrize(
    "by", [lambda desk: desk.text("hi"), lambda desk: desk.turn("hi"), Desk.wake, lambda desk: desk.start(MANUAL)]
)
def test_withdrawn_before_it_was_heard_it_queues_again(by: Callable[[Desk], object]) -> None:
    desk = listening()
    desk.say()
    by(desk)
    for _ in range(4):  # whatever is said instead, and its end
        desk.stop()
        desk.wait(3_000)
        desk.reply_done()
    assert acts(desk.actions).count(TEA) == 2


def test_interrupted_when_it_had_begun_it_was_said() -> None:
    desk = listening()
    desk.say()
    desk.tts_start()
    desk.sentence("tea is ready")
    desk.text("thanks")
    desk.reply_done()
    assert acts(desk.actions).count(TEA) == 1


def test_an_abort_is_not_argued_with() -> None:
    desk = listening()
    desk.say()
    desk.abort()
    desk.wait(5_000)
    assert acts(desk.actions).count(TEA) == 1


def test_they_are_said_in_their_order() -> None:
    desk = listening()
    for text in ("one", "two", "three"):
        desk.say(text)
    assert answers(desk) == [False, True, True]
    for _ in range(3):
        desk.tts_start()
        desk.reply_done()
    assert acts(desk.actions) == [Announcement("one"), Announcement("two"), Announcement("three")]


def test_a_flood_keeps_the_newest() -> None:
    desk = Desk()
    for n in range(1000):
        desk.say(str(n))
    desk.hello()
    desk.start(AUTO)
    for _ in range(2 * MAX_WAITING_SAYS):
        desk.reply_done()
    assert acts(desk.actions) == [Announcement(str(n)) for n in range(1000 - MAX_WAITING_SAYS, 1000)]


def test_words_are_not_joined_to_an_announcement() -> None:
    desk = listening()
    desk.say()
    assert "hear:Rejoin" not in kinds(desk.turn("hello"))


def test_nobody_gives_up_while_there_is_something_left_to_say() -> None:
    """Rule 4.3."""
    desk = listening()
    for _ in range(2):
        desk.turn(Outcome.EMPTY)
        desk.tts_start()
        desk.reply_done()
        desk.wait(1_000)
        desk.start(AUTO)
        desk.audio()
    desk.onset()
    desk.say()
    actions = desk.words(desk.over(), Outcome.EMPTY)
    assert not [act for act in acts(actions) if isinstance(act, EmptyTurn)]
    assert acts(actions) == [TEA]
    assert not [action for action in desk.actions if isinstance(action, End)]


def test_what_nobody_comes_to_hear_does_not_keep_the_session_alive() -> None:
    desk = listening(MANUAL)
    desk.say()
    assert [action.reason for action in desk.wait(30_000) if isinstance(action, End)] == ["no_activity_timeout"]
