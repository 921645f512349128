"""A scripted WebSocket server to talk to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from vanling.core.opus import Decoder, Encoder

HELLO = {
    "type": "hello",
    "transport": "websocket",
    "session_id": "s-1",
    "audio_params": {"format": "opus", "sample_rate": 24000, "channels": 1, "frame_duration": 60},
}


@dataclass
class Peer:
    """One connection as the script sees it."""

    socket: ServerConnection
    messages: list[dict[str, Any]] = field(default_factory=list)
    packets: list[bytes] = field(default_factory=list)
    packet_times: list[float] = field(default_factory=list)

    async def read(self) -> dict[str, Any] | bytes:
        """The next message; packets and texts are also kept."""
        message = await self.socket.recv()
        if isinstance(message, bytes):
            self.packets.append(message)
            self.packet_times.append(asyncio.get_running_loop().time())
            return message
        self.messages.append(json.loads(message))
        return self.messages[-1]

    async def until(self, **wanted: Any) -> dict[str, Any]:
        """Read on to a text message with these members."""
        while True:
            message = await self.read()
            if isinstance(message, dict) and wanted.items() <= message.items():
                return message

    async def send(self, **message: Any) -> None:
        await self.socket.send(json.dumps(message, ensure_ascii=False))

    async def greet(self) -> None:
        await self.until(type="hello")
        await self.send(**HELLO)

    async def reply(self, *sentences: str, n_packets: int = 3, heard: str = "hello") -> None:
        """A whole reply, its packets at once."""
        await self.send(type="stt", text=heard)
        await self.send(type="tts", state="start")
        await self.send(type="llm", emotion="happy", text="🙂")
        for sentence in sentences:
            await self.send(type="tts", state="sentence_start", text=sentence)
            for packet in packets(n_packets):
                await self.socket.send(packet)
        await self.send(type="tts", state="stop")

    async def drain(self) -> None:
        """Read until the other side hangs up."""
        with suppress(ConnectionClosed):
            while True:
                await self.read()

    def heard(self) -> NDArray[np.int16]:
        decoder = Decoder(16_000)
        return np.concatenate([decoder.decode(packet) for packet in self.packets])


Script = Callable[[Peer], Awaitable[None]]


@dataclass
class Fake:
    url: str
    peers: list[Peer]
    requests: list[Any]


def packets(n: int, rate: int = 24_000) -> list[bytes]:
    tone = np.sin(np.arange(n * rate * 60 // 1000) * 0.1) * 8000
    return Encoder(rate).encode(tone.astype(np.int16))


def tone(ms: int, level: int = 8000, rate: int = 16_000) -> NDArray[np.int16]:
    samples: NDArray[np.int16] = (np.sin(np.arange(rate * ms // 1000) * 0.3) * level).astype(np.int16)
    return samples


@asynccontextmanager
async def fake_server(script: Script) -> AsyncIterator[Fake]:
    fake = Fake("", [], [])

    async def handle(socket: ServerConnection) -> None:
        peer = Peer(socket)
        fake.peers.append(peer)
        fake.requests.append(socket.request)
        with suppress(ConnectionClosed):
            await script(peer)

    async with serve(handle, "127.0.0.1", 0, close_timeout=0.2) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        fake.url = f"ws://127.0.0.1:{port}/xiaozhi/v1/"
        yield fake


@pytest.fixture(name="fake_server")
def _fake_server() -> Callable[[Script], Any]:
    return fake_server


@pytest.fixture(name="tone")
def _tone() -> Callable[..., NDArray[np.int16]]:
    return tone


@pytest.fixture(name="packets")
def _packets() -> Callable[..., list[bytes]]:
    return packets
