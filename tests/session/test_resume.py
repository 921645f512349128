"""A device goes and comes back: what its model remembers."""

from __future__ import annotations

import asyncio

import pytest

from tests.fakes.engines import HANG, FakeLlm
from tests.fakes.virtual import run_virtual, virtual
from tests.session.house import House
from vanling.contracts.engines import Message, Role
from vanling.server.settings import WireLimits
from vanling.server.upgrade import UpgradeRequest
from vanling.server.xiaozhi import XiaozhiDoor
from vanling.session.frame import Abort, ReplyDone, ReplyStatus, Sentence, Text, TtsStop

STORY = "Once upon a time there was a king. He had a daughter. She was clever. They lived far away."


async def left_in_mid_story(house: House, device: str = "device") -> None:
    """A whole turn, then a reply that its device has heard a sentence and a bit of when it goes."""
    client = house.connect(device)
    await client.say("hello")
    client.feed(Text(text="a story"))
    await client.until(Sentence, 3)
    await asyncio.sleep(0.1)
    await client.hang_up()
    assert client.all(ReplyDone)[-1].status is ReplyStatus.INTERRUPTED


@pytest.mark.parametrize(("away_s", "resumed"), [(0, True), (59, True), (599, True), (601, False), (36_000, False)])
def test_a_device_that_returns_within_ten_minutes_goes_on(away_s: float, resumed: bool) -> None:
    async def main() -> None:
        house = House(FakeLlm(["Hi.", STORY]))
        await left_in_mid_story(house)
        await asyncio.sleep(away_s)
        client = house.connect("device")
        await client.say("go on")
        earlier = ["hello", "Hi.", "a story", "Once upon a time there was a king."]
        assert house.asked() == [*(earlier if resumed else []), "go on"]
        assert [message.interrupted for message in house.llm.asked[-1][1:]].count(True) == resumed
        await client.hang_up()

    run_virtual(main())


@virtual
async def test_another_device_and_an_anonymous_one_see_nothing_of_it() -> None:
    house = House(FakeLlm(["Hi.", STORY]))
    await left_in_mid_story(house)
    for who in ("other", "", ""):
        client = house.connect(who)
        await client.say("go on")
        assert house.asked() == ["go on"]
        await client.hang_up()
    assert house.sessions.conversations.owned == 0


@virtual
async def test_the_second_connection_of_a_device_takes_its_conversation_over() -> None:
    """The first has not been missed yet: its device was switched off and on in the middle of a sentence."""
    house = House(FakeLlm(["Hi.", STORY]))
    old = house.connect("device")
    await old.say("hello")
    old.feed(Text(text="a story"))
    await old.until(Sentence, 3)
    await asyncio.sleep(0.1)
    new = house.connect("device")
    assert old.all(ReplyDone)[-1].text == "Once upon a time there was a king."
    assert isinstance(old.messages[-2], TtsStop), "it says nothing more that its conversation would not know of"
    await new.say("go on")
    assert house.asked() == ["hello", "Hi.", "a story", "Once upon a time there was a king.", "go on"]
    await old.say("is anybody there")
    await old.hang_up()
    await new.say("and then")
    assert "is anybody there" not in house.asked()
    await new.hang_up()


@virtual
async def test_what_was_cancelled_before_a_word_of_it_was_heard_keeps_the_question_only() -> None:
    house = House(FakeLlm([[HANG]]))
    client = house.connect("device")
    client.feed(Text(text="a story"))
    await asyncio.sleep(1)
    client.feed(Abort())
    await client.until(ReplyDone)
    await client.say("never mind")
    assert house.llm.asked[-1][1:] == (Message(Role.USER, "a story"), Message(Role.USER, "never mind"))
    await client.hang_up()


@virtual
async def test_lines_typed_in_one_go_are_all_remembered() -> None:
    """Each replaces the reply to the one before it, which has not even begun."""
    house = House()
    client = house.connect("device")
    for line in ("one", "two", "three"):
        client.feed(Text(text=line))
    await client.until(ReplyDone, 3)
    assert house.asked() == ["one", "two", "three"]
    await client.hang_up()


@virtual
async def test_a_long_conversation_is_remembered_within_the_budget() -> None:
    house = House(FakeLlm(otherwise="Yes."), settings=("session.no_activity_ms=0", "llm.history_tokens=31"))
    client = house.connect("device")
    for n in range(6):
        await client.say(f"question {n}")
    assert house.asked() == ["question 3", "Yes.", "question 4", "Yes.", "question 5"]
    await client.hang_up()


@virtual
async def test_a_device_that_comes_and_goes_a_hundred_times_leaves_one_conversation() -> None:
    house = House(FakeLlm(otherwise="Yes."))
    for n in range(100):
        client = house.connect("device")
        await client.say(f"question {n}")
        await client.hang_up()
    book = house.sessions.conversations
    assert (book.owned, book.kept) == (0, 1)
    assert len(house.asked()) == 199


class Socket:
    """The server's end of a device's connection."""

    def __init__(self, door: XiaozhiDoor) -> None:
        handler = door(UpgradeRequest("/xiaozhi/v1/", {"device-id": "AA:BB:CC:DD:EE:FF"}, {}, "127.0.0.1:1"))
        self.handler = handler
        self.closed = False
        self.texts: list[str] = []
        handler.on_open(self)
        handler.on_message('{"type":"hello"}')

    def type(self, text: str) -> None:
        self.handler.on_message(f'{{"type":"listen","state":"text","text":"{text}"}}')

    def send_text(self, text: str) -> None:
        assert not self.closed
        self.texts.append(text)

    def send_bytes(self, data: bytes) -> None:
        assert not self.closed

    def writable(self) -> bool:
        return True

    def when_writable(self, callback: object) -> None:
        raise AssertionError("always writable")

    def close(self, code: int = 1000, reason: str = "") -> None:
        self.closed = True

    abort = close


@virtual
async def test_a_device_whose_old_socket_is_still_open_goes_on_by_the_new_one() -> None:
    house = House(FakeLlm([STORY]))
    door = XiaozhiDoor(house.sessions, WireLimits())
    old = Socket(door)
    old.type("a story")
    await asyncio.sleep(2)
    new = Socket(door)
    assert old.closed
    assert not new.closed
    new.type("go on")
    await asyncio.sleep(3)
    assert house.asked() == ["a story", "Once upon a time there was a king.", "go on"]
    await door.drain()
    assert (house.sessions.conversations.owned, house.sessions.conversations.kept) == (0, 1)
