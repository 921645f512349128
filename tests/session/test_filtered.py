"""Filters around a session: what they change, swallow and end; what passes whatever they say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.fakes.virtual import run_virtual, virtual
from tests.session.house import House
from vanling.filters.chain import Break, Consumed, Continue, Filter, FilterContext, SessionFilters
from vanling.server.filtered import FilteredSession
from vanling.session.frame import (
    CloseOut,
    Emotion,
    Frame,
    Heard,
    Hello,
    Mcp,
    McpOut,
    OutputMessage,
    Sentence,
    Text,
    TtsStart,
)
from vanling.session.session import Session

Verdict = Continue[Frame] | Consumed | Break
OutVerdict = Continue[OutputMessage] | Consumed | Break


class Seen:
    """Filters that note what comes by, with names, in one list for both directions."""

    def __init__(
        self,
        on_input: Callable[[FilterContext, Frame], Verdict] = lambda _, frame: Continue(frame),
        on_output: Callable[[FilterContext, OutputMessage], OutVerdict] = lambda _, message: Continue(message),
    ) -> None:
        self.on_input, self.on_output = on_input, on_output
        self.course: list[str] = []
        self.closed: list[str] = []
        self.contexts: list[FilterContext] = []

    def __call__(self, ctx: FilterContext) -> SessionFilters:
        self.contexts.append(ctx)
        return SessionFilters(
            input=[In(self, "in 1", decide=True), In(self, "in 2")],
            output=[Out(self, "out 1", decide=True), Out(self, "out 2")],
        )


class In(Filter[Frame]):
    def __init__(self, seen: Seen, name: str, decide: bool = False) -> None:
        self.seen, self.name, self.decide = seen, name, decide

    def process(self, ctx: FilterContext, frame: Frame) -> Verdict:
        self.seen.course.append(f"{self.name} {type(frame).__name__}")
        return self.seen.on_input(ctx, frame) if self.decide else Continue(frame)

    def close(self, ctx: FilterContext) -> None:
        self.seen.closed.append(self.name)


class Out(Filter[OutputMessage]):
    def __init__(self, seen: Seen, name: str, decide: bool = False) -> None:
        self.seen, self.name, self.decide = seen, name, decide

    def process(self, ctx: FilterContext, frame: OutputMessage) -> OutVerdict:
        self.seen.course.append(f"{self.name} {type(frame).__name__}")
        return self.seen.on_output(ctx, frame) if self.decide else Continue(frame)

    def close(self, ctx: FilterContext) -> None:
        self.seen.closed.append(self.name)


@virtual
async def test_a_session_without_filters_is_the_session_itself() -> None:
    client = House().connect()
    assert type(client.session) is Session
    await client.hang_up()


@virtual
async def test_what_passes_passes_every_filter_in_its_order() -> None:
    seen = Seen()
    client = House(filters=seen).connect("device")
    assert isinstance(client.session, FilteredSession)
    assert await client.say("hi") == "You said: hi"
    assert seen.course[:8] == [
        "in 1 Hello", "in 2 Hello", "out 1 HelloReply", "out 2 HelloReply",
        "in 1 Text", "in 2 Text", "out 1 Heard", "out 2 Heard",
    ]  # fmt: skip
    ctx = seen.contexts[0]
    assert (ctx.session_id, ctx.door, ctx.device_id) == (client.session.id, "test", "device")
    await client.hang_up()
    await client.hang_up()
    assert seen.course[-2:] == ["out 1 CloseOut", "out 2 CloseOut"]
    assert seen.closed == ["in 1", "in 2", "out 1", "out 2"], "once, however often the door says so"


@virtual
async def test_a_consumed_frame_is_seen_neither_by_later_filters_nor_by_the_session() -> None:
    """As the MCP router, which also answers, before a recorder sees anything of it."""

    def route(ctx: FilterContext, frame: Frame) -> Verdict:
        if not isinstance(frame, Mcp):
            return Continue(frame)
        ctx.send(McpOut(payload=frame.payload + "!"))
        return Consumed()

    seen = Seen(route)
    client = House(filters=seen).connect()
    client.feed(Mcp(payload="x"))
    assert client.all(McpOut) == [McpOut(payload="x!")]
    assert seen.course[-3:] == ["in 1 Mcp", "out 1 McpOut", "out 2 McpOut"]
    await client.hang_up()


@virtual
async def test_what_a_filter_puts_in_its_place_goes_on() -> None:
    seen = Seen(
        lambda _, frame: Continue(Text(text="replaced") if isinstance(frame, Text) else frame),
        lambda _, message: Consumed() if isinstance(message, Emotion) else Continue(message),
    )
    client = House(filters=seen).connect()
    await client.say("original")
    assert [message.text for message in client.all(Heard)] == ["replaced"]
    assert client.all(Emotion) == []
    await client.hang_up()


@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize("kind", [Hello, Text, Heard, TtsStart, Sentence])
def test_break_ends_the_session_in_its_door_s_way_and_nothing_follows(direction: str, kind: type[object]) -> None:
    async def main() -> None:
        sent: list[int] = []

        def judge(_: FilterContext, frame: object) -> Break | Continue[object]:
            if not isinstance(frame, kind):
                return Continue(frame)
            sent.append(len(house.clients[0].messages) if house.clients else 0)
            return Break("policy")

        seen = Seen(on_input=judge) if direction == "in" else Seen(on_output=judge)  # type: ignore[arg-type]
        house = House(filters=seen)
        client = house.connect("device")
        client.feed(Text(text="hi"))
        client.feed(Text(text="there"))
        await asyncio.sleep(10)
        if issubclass(kind, Frame) is (direction == "in"):
            assert client.closed == ["policy"]
            assert len(sent) == 1
            assert [type(message) for message in client.messages[sent[0] :]] == [CloseOut], "nothing more but the end"
            if kind in (Hello, Text, Heard):
                assert house.llm.asked == [], "nothing is begun any more"
            before = list(client.messages)
            client.feed(Text(text="more"))
            await asyncio.sleep(1)
            assert client.messages == before
            assert house.sessions.conversations.owned == 0
        else:
            assert client.closed == []
        await client.hang_up()

    run_virtual(main())


@pytest.mark.parametrize("answer", [Consumed(), Break("again"), RuntimeError("a fault")])
def test_no_filter_keeps_the_door_from_closing(answer: Consumed | Break | Exception) -> None:
    async def main() -> None:
        def refuse(_: FilterContext, message: OutputMessage) -> OutVerdict:
            if not isinstance(message, CloseOut):
                return Continue(message)
            if isinstance(answer, Exception):
                raise answer
            return answer

        client = House(filters=Seen(on_output=refuse)).connect()
        await client.hang_up()
        assert client.closed == ["client_disconnect"]

    run_virtual(main())
