"""Who owns a conversation, who may still write, and how long one is kept."""

from __future__ import annotations

import asyncio
import gc
import logging

import pytest

from tests.fakes.virtual import virtual
from vanling.clock import ManualClock
from vanling.contracts.engines import Message, Role, ToolCall
from vanling.dialogue.conversation import Conversation
from vanling.dialogue.conversation_book import ConversationBook
from vanling.dialogue.turn import NoResult

CALL = ToolCall("c1", "tool")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def book(clock: ManualClock) -> ConversationBook:
    return ConversationBook(clock, resume_ms=600_000, max_kept=3)


def spoken(conversation: Conversation, words: str = "q", answer: str = "a") -> Conversation:
    conversation.user_said(words)
    conversation.assistant_said(answer)
    return conversation


def texts(conversation: Conversation) -> list[str]:
    return [message.text for message in conversation.messages()]


@pytest.mark.parametrize(
    ("away_ms", "remembered"), [(0, True), (60_000, True), (599_999, True), (600_000, False), (10**7, False)]
)
def test_a_conversation_is_resumed_within_ten_minutes(
    book: ConversationBook, clock: ManualClock, away_ms: float, remembered: bool
) -> None:
    spoken(book.claim("device")).release()
    clock.advance_ms(away_ms)
    assert texts(book.claim("device")) == ["q", "a"] * remembered


def test_the_time_counts_from_the_end_not_from_the_last_word(book: ConversationBook, clock: ManualClock) -> None:
    conversation = spoken(book.claim("device"))
    clock.advance_ms(5_000_000)
    conversation.release()
    clock.advance_ms(500_000)
    assert texts(book.claim("device")) == ["q", "a"]


def test_where_nothing_is_to_be_resumed_nothing_is(clock: ManualClock) -> None:
    book = ConversationBook(clock, resume_ms=0)
    first = spoken(book.claim("device"))
    assert texts(book.claim("device")) == ["q", "a"], "a takeover is no return: the conversation never ended"
    assert first.over
    spoken(book.claim("other")).release()
    assert texts(book.claim("other")) == []


def test_each_has_its_own(book: ConversationBook) -> None:
    spoken(book.claim("one"))
    assert texts(book.claim("two")) == []
    assert texts(spoken(book.anonymous("session"))) == ["q", "a"]
    assert texts(book.anonymous("session")) == []
    assert book.owned == 2


# --- a takeover -------------------------------------------------------------------------------------------------------


def test_a_takeover_first_lets_the_old_owner_write_down_what_was_heard(book: ConversationBook) -> None:
    old = book.claim("device")
    old.user_said("a story")
    old.when_lost(lambda: old.assistant_said("Once upon a time", interrupted=True))
    new = book.claim("device")
    assert new.messages() == [
        Message(Role.USER, "a story"),
        Message(Role.ASSISTANT, "Once upon a time", interrupted=True),
    ]


@pytest.mark.parametrize("client_side", [False, True])
def test_a_takeover_leaves_no_call_open(book: ConversationBook, client_side: bool) -> None:
    old = book.claim("device")
    old.user_said("lamp")
    turn = old.turn
    old.called(turn, [CALL])
    if client_side:
        old.left_to_client(turn, "c1")
        old.assistant_said("")
    new = book.claim("device")
    assert new.messages()[-1] == Message(Role.TOOL, NoResult.CANCELLED.value, tool_call_id="c1")
    assert new.turn == 0


def test_the_old_owner_s_later_writes_are_refused_and_logged(
    book: ConversationBook, caplog: pytest.LogCaptureFixture
) -> None:
    old, new = book.claim("device"), book.claim("device")
    new.user_said("new")
    turn = new.turn
    with caplog.at_level(logging.DEBUG):
        old.user_said("old")
        old.assistant_said("old")
        assert not old.called(turn, [CALL])
        assert old.turn == 0
    assert texts(new) == ["new"]
    assert new.turn == turn
    refused = [record for record in caplog.records if getattr(record, "event", "") == "write_refused"]
    assert len(refused) == 3
    assert {record.levelno for record in refused} == {logging.DEBUG}
    assert "old" not in {word for record in refused for word in record.getMessage().split()}, "no words in the log"


def test_the_old_owner_s_end_does_not_end_the_new_one_s(book: ConversationBook) -> None:
    old, new = book.claim("device"), book.claim("device")
    old.release()
    spoken(new)
    assert texts(new) == ["q", "a"]
    assert (book.owned, book.kept) == (1, 0)


def test_an_old_owner_that_fails_or_ends_when_told_does_not_keep_the_new_one_out(
    book: ConversationBook, caplog: pytest.LogCaptureFixture
) -> None:
    old = spoken(book.claim("device"))

    def fail() -> None:
        raise RuntimeError("a fault in a session")

    old.when_lost(fail)
    second = book.claim("device")
    assert [record.message for record in caplog.records if record.levelno == logging.ERROR] == ["the old owner failed"]
    second.when_lost(second.release)
    third = book.claim("device")
    assert texts(third) == ["q", "a"]
    assert second.over
    assert not third.over
    assert (book.owned, book.kept) == (1, 0)


# --- memory -----------------------------------------------------------------------------------------------------------


def test_who_has_gone_for_good_is_forgotten_when_others_come_or_go(book: ConversationBook, clock: ManualClock) -> None:
    spoken(book.claim("gone")).release()
    other = spoken(book.claim("other"))
    clock.advance_ms(600_000)
    assert book.kept == 1
    other.release()
    assert book.kept == 1
    assert texts(book.claim("gone")) == []


def test_of_too_many_the_first_to_leave_are_forgotten(book: ConversationBook) -> None:
    for n in range(10):
        spoken(book.claim(f"device {n}"), f"q{n}").release()
    assert (book.owned, book.kept) == (0, 3)
    assert texts(book.claim("device 6")) == []
    assert texts(book.claim("device 7")) == ["q7", "a"]


def test_those_that_are_talking_are_never_forgotten(book: ConversationBook) -> None:
    talking = [spoken(book.claim(f"device {n}"), f"q{n}") for n in range(10)]
    assert book.owned == 10
    assert texts(talking[0]) == ["q0", "a"]


def test_a_thousand_connections_without_a_word_leave_nothing(book: ConversationBook) -> None:
    for n in range(1_000):
        book.claim(f"device {n}").release()
        book.anonymous(f"session {n}")
    assert (book.owned, book.kept) == (0, 0)


# --- requests ---------------------------------------------------------------------------------------------------------


@virtual
async def test_requests_with_the_same_id_wait_for_each_other() -> None:
    book = ConversationBook(ManualClock())
    course: list[str] = []

    async def request(key: str, name: str) -> None:
        async with book.request(key) as conversation:
            course.append(f"{name} begins")
            conversation.user_said(name)
            await asyncio.sleep(0.1)
            conversation.assistant_said("a")
            course.append(f"{name} ends")

    async with asyncio.TaskGroup() as group:
        for key, name in [("x", "one"), ("x", "two"), ("y", "three"), ("x", "four")]:
            group.create_task(request(key, name))
    of_x = [step for step in course if "three" not in step]
    assert of_x == [f"{name} {what}" for name in ("one", "two", "four") for what in ("begins", "ends")]
    assert course.index("three begins") < course.index("one ends"), "others do not wait"
    assert texts(book.claim("x")) == ["one", "a", "two", "a", "four", "a"]
    gc.collect()
    assert not book._locks


@virtual
async def test_a_request_that_fails_lets_the_next_one_in() -> None:
    book = ConversationBook(ManualClock())

    async def fail() -> None:
        async with book.request("x") as conversation:
            conversation.user_said("q")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    async with book.request("x") as conversation:
        assert texts(conversation) == ["q"]
        assert conversation.turn == 0
