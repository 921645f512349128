"""However the network cuts a client's bytes, and whatever they are."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from vanling.server.settings import WireLimits
from vanling.server.websocket import WebSocketProtocol

REQUEST = (
    b"GET /wire HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


class FakeTransport:
    """Takes everything at once."""

    def __init__(self):
        self.written = b""
        self.ended = False
        self.reads = True

    def pause_reading(self):
        self.reads = False

    def resume_reading(self):
        self.reads = True

    def set_protocol(self, protocol):
        pass

    def set_write_buffer_limits(self, high, low):
        pass

    def get_write_buffer_size(self):
        return 0

    def get_extra_info(self, name):
        return None

    def is_closing(self):
        return self.ended

    def can_write_eof(self):
        return True

    def write(self, data):
        self.written += data

    def write_eof(self):
        pass

    def abort(self):
        self.ended = True

    close = abort


class Handler:
    def __init__(self):
        self.messages = []
        self.codes = []

    def on_open(self, connection):
        pass

    def on_message(self, message):
        self.messages.append(message)

    def on_closed(self, code, reason):
        self.codes.append(code)


def receive(chunks):
    """What a handler is told of ``chunks`` and then the end of the stream; how often it is told of an end."""
    loop = asyncio.new_event_loop()
    try:
        handler, transport = Handler(), FakeTransport()
        state = SimpleNamespace(connections=set())
        limits = WireLimits(max_message_bytes=1_000)
        protocol = WebSocketProtocol(None, state, {}, loop, upgrade=lambda request: handler, limits=limits)
        protocol.connection_made(transport)
        for chunk in chunks:
            protocol.data_received(chunk)
            while not transport.reads and not transport.ended:
                loop.run_until_complete(asyncio.sleep(0))
        protocol.eof_received()
        protocol.connection_lost(None)
        assert state.connections == set()
        return handler, transport
    finally:
        loop.close()


frames = st.lists(
    st.one_of(
        st.builds(lambda text: Frame(Opcode.TEXT, text.encode()), st.text()),
        st.builds(lambda data: Frame(Opcode.BINARY, data), st.binary(max_size=300)),
        st.builds(lambda data: Frame(Opcode.PING, data), st.binary(max_size=20)),
    ),
    max_size=60,
)


@given(frames, st.lists(st.integers(1, 200), min_size=1, max_size=5))
def test_any_chunking_gives_the_same_messages(sent, sizes):
    stream = REQUEST + b"".join(frame.serialize(mask=True) for frame in sent)
    chunks, at = [], 0
    while at < len(stream):
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(stream[at : at + size])
        at += size
    handler, _ = receive(chunks)
    data = [frame for frame in sent if frame.opcode is not Opcode.PING]
    assert handler.messages == [
        frame.data.decode() if frame.opcode is Opcode.TEXT else bytes(frame.data) for frame in data
    ]
    assert handler.codes == [1006]


@given(st.lists(st.binary(max_size=100), max_size=5))
def test_any_bytes_after_the_handshake_end_the_connection_once(chunks):
    handler, _ = receive([REQUEST, *chunks])
    assert len(handler.codes) == 1


@given(st.binary(max_size=300))
def test_any_bytes_instead_of_a_handshake(data):
    handler, transport = receive([data])
    assert handler.codes in ([], [1006])
    assert not transport.written or transport.written.startswith(b"HTTP/1.1 ")
