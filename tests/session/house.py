"""A server without its sockets: sessions put together as in a server, on scripted engines, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from tests.fakes.engines import FakeAsr, FakeLlm, FakeTts, FakeVad, fake_engines
from tests.fakes.virtual import LoopClock
from tests.session.rig import Inline, LateVad
from vanling.config import load_config
from vanling.filters.chain import FilterFactory, no_filters
from vanling.server.connection import Sessions, Shared
from vanling.server.door_session import DoorSession, Identity
from vanling.session.frame import CloseOut, Frame, Hello, OutputMessage, ReplyDone, Sentence, Text
from vanling.session.wheel import TimerWheel

M = TypeVar("M", bound=OutputMessage)


@dataclass
class House:
    """Made inside the virtual loop."""

    llm: FakeLlm = field(default_factory=FakeLlm)
    asr: FakeAsr = field(default_factory=FakeAsr)
    filters: FilterFactory = no_filters
    settings: tuple[str, ...] = ("session.no_activity_ms=0",)

    def __post_init__(self) -> None:
        self.clock = LoopClock()
        self.tts = FakeTts()
        self.clients: list[Client] = []
        engines = fake_engines(llm=self.llm, asr=self.asr, tts=self.tts)
        shared = Shared(
            engines=engines,
            vad=LateVad(FakeVad()),
            encoder=Inline(),
            clock=self.clock,
            wheel=TimerWheel(self.clock, asyncio.get_running_loop()),
        )
        self.sessions = Sessions(load_config(None, list(self.settings), {}), shared, filters=self.filters)

    def connect(self, device_id: str = "") -> Client:
        return Client(self, Identity("test", device_id=device_id))

    def asked(self) -> list[str]:
        """What the model saw last, but for the system prompt."""
        return [message.text for message in self.llm.asked[-1][1:]]


class Client:
    """One connection, greeted."""

    def __init__(self, house: House, who: Identity) -> None:
        self.messages: list[OutputMessage] = []
        house.clients.append(self)
        self._news = asyncio.Event()
        self.session: DoorSession = house.sessions.open(self, who)
        self.feed(Hello())

    def send(self, message: OutputMessage) -> None:
        self.messages.append(message)
        self._news.set()

    def writable(self) -> bool:
        return True

    def when_writable(self, callback: Callable[[], None]) -> None:
        raise AssertionError("always writable")

    def feed(self, frame: Frame) -> None:
        self.session.feed(frame)

    async def say(self, text: str) -> str:
        """Type it and wait for the whole reply."""
        done = len(self.all(ReplyDone))
        self.feed(Text(text=text))
        return (await self.until(ReplyDone, done + 1)).text

    async def until(self, kind: type[M], nth: int = 1) -> M:
        while len(found := self.all(kind)) < nth:
            self._news.clear()
            await self._news.wait()
        return found[nth - 1]

    def all(self, kind: type[M]) -> list[M]:
        return [message for message in self.messages if isinstance(message, kind)]

    @property
    def sentences(self) -> list[str]:
        return [message.text for message in self.all(Sentence)]

    @property
    def closed(self) -> list[str]:
        return [message.reason for message in self.all(CloseOut)]

    async def hang_up(self) -> None:
        await self.session.close("client_disconnect")
