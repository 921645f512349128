"""A real server on a free port, with sessions that only remember; clients are real sockets too."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import subprocess
from dataclasses import dataclass, field, replace

import pytest
import uvloop
from websockets.asyncio.client import connect
from websockets.frames import Frame as WireFrame
from websockets.frames import Opcode

from vanling.server.http_server import HttpServer
from vanling.server.settings import ServerSettings, WireLimits
from vanling.server.upgrade import UpgradeRequest
from vanling.session.frame import AudioSpec, Close, CloseOut, Frame, Hello, HelloReply

TIMEOUT_S = 10.0
"""Nothing here takes that long; it is what a test that hangs may cost."""


ON_BOTH_LOOPS = (
    "test_websocket.py",
    "test_http_server.py",
    "test_http_bodies.py",
    "test_flood.py",
    "test_signals.py",
)


def pytest_asyncio_loop_factories(config, item):
    """uvloop is what serves; transports differ, so what leans on them is tested on both."""
    factories = {"uvloop": uvloop.new_event_loop}
    if item.path.name in ON_BOTH_LOOPS:
        factories["asyncio"] = asyncio.new_event_loop
    return factories


@pytest.fixture(autouse=True)
async def no_loose_ends():
    """Whatever asyncio reports to the loop's exception handler ("never retrieved") fails the test."""
    reports = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context))
    yield
    assert reports == []


class FakeSession:
    def __init__(self, number, outbound, who):
        self.id = f"session-{number}"
        self.outbound = outbound
        self.who = who
        self.frames: asyncio.Queue[Frame] = asyncio.Queue()
        self.closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def feed(self, frame):
        self.frames.put_nowait(frame)
        if isinstance(frame, Hello):
            self.outbound.send(HelloReply(session_id=self.id, downlink=AudioSpec()))
        if isinstance(frame, Close):
            self.outbound.send(CloseOut(reason=frame.reason))

    async def close(self, reason):
        self.closed.set_result(reason)

    async def next_frame(self):
        async with asyncio.timeout(TIMEOUT_S):
            return await self.frames.get()

    async def ended(self):
        async with asyncio.timeout(TIMEOUT_S):
            return await asyncio.shield(self.closed)


class FakeSessions:
    def __init__(self):
        self.all: list[FakeSession] = []
        self.opened: asyncio.Queue[FakeSession] = asyncio.Queue()

    def open(self, outbound, who):
        session = FakeSession(len(self.all), outbound, who)
        self.all.append(session)
        self.opened.put_nowait(session)
        return session

    async def next(self) -> FakeSession:
        async with asyncio.timeout(TIMEOUT_S):
            return await self.opened.get()


@dataclass
class Wire:
    """The server's end of a connection to ``/wire``: a door that remembers what it is told."""

    request: UpgradeRequest
    messages: asyncio.Queue = field(default_factory=asyncio.Queue)
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Future = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    connection: object = None
    failing: bool = False

    def on_open(self, connection):
        self.connection = connection
        self.opened.set()

    def on_message(self, message):
        if self.failing:
            raise RuntimeError("a fault in a door")
        self.messages.put_nowait(message)

    def on_closed(self, code, reason):
        self.closed.set_result((code, reason))  # raises where it is called twice

    async def message(self):
        async with asyncio.timeout(TIMEOUT_S):
            return await self.messages.get()

    async def ended(self):
        async with asyncio.timeout(TIMEOUT_S):
            return (await asyncio.shield(self.closed))[0]


class Running:
    def __init__(self, server: HttpServer, sessions: FakeSessions, wires: asyncio.Queue):
        self.server = server
        self.sessions = sessions
        self.wires = wires
        self.clients: list[RawClient] = []

    @property
    def port(self):
        return self.server.port

    @property
    def http(self):
        return f"http://127.0.0.1:{self.port}"

    def connect(self, path="/xiaozhi/v1/", headers=None, **options):
        options = {"open_timeout": TIMEOUT_S, "ping_interval": None, "compression": None, **options}
        scheme = "wss" if "ssl" in options else "ws"
        return connect(f"{scheme}://127.0.0.1:{self.port}{path}", additional_headers=headers or {}, **options)

    async def next_wire(self) -> Wire:
        async with asyncio.timeout(TIMEOUT_S):
            wire = await self.wires.get()
            await wire.opened.wait()
            return wire

    async def raw(self, path="/wire", receive_buffer=None, extra=b"", headers=""):
        """A TCP connection with the handshake done; ``extra`` is sent in the same packet as the upgrade request."""
        sock = socket.socket()
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", self.port))
        client = RawClient(sock)
        self.clients.append(client)
        await client.send_raw(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {'A' * 22}==\r\n{headers}\r\n".encode()
            + extra
        )
        client.head = await client.until(b"\r\n\r\n")
        return client


class RawClient:
    """A peer that does exactly what a test says, and never answers by itself."""

    def __init__(self, sock):
        self.sock = sock
        self.head = b""
        self.buffer = b""

    async def send_raw(self, data):
        await asyncio.get_running_loop().sock_sendall(self.sock, data)

    async def send(self, opcode: Opcode, data=b"", fin=True):
        await self.send_raw(frame(opcode, data, fin))

    async def receive(self):
        async with asyncio.timeout(TIMEOUT_S):
            return await asyncio.get_running_loop().sock_recv(self.sock, 65536)

    async def until(self, end):
        while end not in self.buffer:
            data = await self.receive()
            if not data:
                break
            self.buffer += data
        head, _, self.buffer = self.buffer.partition(end)
        return head

    async def to_the_end(self):
        """All that comes until the server drops TCP."""
        with contextlib.suppress(ConnectionError):
            while data := await self.receive():
                self.buffer += data
        return self.buffer

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def close(self):
        self.sock.close()


def frame(opcode: Opcode, data=b"", fin=True) -> bytes:
    return WireFrame(opcode, data, fin).serialize(mask=True)


@pytest.fixture
def wire_frame():
    return frame


@pytest.fixture
async def serve():
    """``await serve(limits={…}, auth_required=True, …)`` → a running server."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(limits=None, **settings):
            wires = asyncio.Queue()

            def door(request):
                wires.put_nowait(wire := Wire(request))
                return wire

            sessions = FakeSessions()
            wire_limits = replace(WireLimits(close_timeout_s=0.3), **(limits or {}))
            chosen = ServerSettings(port=0, limits=wire_limits, **settings)
            server = HttpServer(chosen, sessions, doors={"/wire": door})
            await server.start()
            running = Running(server, sessions, wires)
            stack.push_async_callback(server.stop)
            stack.callback(lambda: [client.close() for client in running.clients])
            return running

        yield start


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A self-signed certificate's files (cert, key)."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = os.fspath(folder / "cert.pem"), os.fspath(folder / "key.pem")
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout {key} -out {cert}"
    try:
        subprocess.run(command.split(), check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no openssl command to make a certificate with")
    return cert, key
