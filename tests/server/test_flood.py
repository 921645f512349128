"""One client that sends as much as it can, and everybody else."""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter

import pytest
from websockets.frames import Frame as WireFrame
from websockets.frames import Opcode

from vanling.server import intake
from vanling.server.flood import FloodGate
from vanling.server.http_protocol import HttpProtocol

MANY = 20_000
EVER = {"message_burst": 10**9}


class Passes:
    """Counts the passes of the event loop, and what happens in each."""

    def __init__(self):
        self.number = 0
        self.happened = Counter()
        self._loop = asyncio.get_running_loop()
        self._tick()

    def _tick(self):
        self.number += 1
        self._handle = self._loop.call_soon(self._tick)

    def note(self, _=None):
        self.happened[self.number] += 1

    def stop(self):
        self._handle.cancel()
        return max(self.happened.values())


async def test_a_read_full_of_tiny_messages_leaves_others_their_turn(serve, wire_frame):
    running = await serve(limits=EVER)
    client = await running.raw()
    wire = await running.next_wire()
    passes = Passes()
    wire.on_message = passes.note
    await client.send_raw(wire_frame(Opcode.BINARY) * MANY + wire_frame(Opcode.CLOSE))
    assert await wire.ended() == 1005
    assert passes.stop() <= 4 * intake.WORK_PER_PASS
    assert passes.happened.total() == MANY


async def test_large_messages_leave_others_their_turn_too(serve, wire_frame):
    running = await serve(limits=EVER)
    client = await running.raw()
    wire = await running.next_wire()
    passes = Passes()
    wire.on_message = passes.note
    await client.send_raw(wire_frame(Opcode.BINARY, bytes(30_000)) * 100 + wire_frame(Opcode.CLOSE))
    assert await wire.ended() == 1005
    assert passes.stop() <= 8
    assert passes.happened.total() == 100


@pytest.mark.parametrize("end", ["close frame", "FIN"])
async def test_order_is_kept_and_nothing_is_lost_at_the_end(serve, wire_frame, end):
    running = await serve()
    client = await running.raw()
    wire = await running.next_wire()
    messages = [str(number) for number in range(2_000)]
    data = b"".join(wire_frame(Opcode.TEXT, message.encode()) for message in messages)
    await client.send_raw(data + (wire_frame(Opcode.CLOSE, b"\x03\xe8") if end == "close frame" else b""))
    if end == "FIN":
        client.close()
    assert await wire.ended() == (1000 if end == "close frame" else 1006)
    assert [wire.messages.get_nowait() for _ in messages] == messages


async def test_order_is_kept_over_tls(serve, certificate):
    cert, key = certificate
    running = await serve(tls_cert=cert, tls_key=key)
    trust = ssl.create_default_context(cafile=cert)
    trust.check_hostname = False
    messages = [str(number) for number in range(2_000)]
    async with running.connect("/wire", ssl=trust) as client:
        wire = await running.next_wire()
        client.transport.write(
            b"".join(WireFrame(Opcode.TEXT, each.encode()).serialize(mask=True) for each in messages)
        )
    assert await wire.ended() == 1000
    assert [wire.messages.get_nowait() for _ in messages] == messages


async def test_reading_goes_on_after_a_heap(serve, wire_frame):
    running = await serve()
    client = await running.raw()
    wire = await running.next_wire()
    for _ in range(3):
        await client.send_raw(wire_frame(Opcode.BINARY, b"x") * 200)
        assert [await wire.message() for _ in range(200)] == [b"x"] * 200
    client.close()


async def test_a_connection_that_ends_in_the_middle_of_a_heap_hands_on_no_more(serve, wire_frame):
    running = await serve()
    client = await running.raw()
    wire = await running.next_wire()
    heard = []

    def on_message(message):
        heard.append(message)
        wire.connection.abort()

    wire.on_message = on_message
    await client.send_raw(wire_frame(Opcode.BINARY, b"x") * 1_000)
    assert await wire.ended() == 1006
    await client.to_the_end()
    assert heard == [b"x"]


@pytest.mark.parametrize(("opcode", "fin"), [(Opcode.BINARY, True), (Opcode.PING, True), (Opcode.TEXT, False)])
async def test_too_many_messages_end_the_connection_and_say_so_once(serve, wire_frame, caplog, opcode, fin):
    running = await serve(limits={"max_messages_per_s": 0.001, "message_burst": 50})
    client = await running.raw()
    wire = await running.next_wire()
    frames = [wire_frame(opcode, b"x", fin), *[wire_frame(opcode if fin else Opcode.CONT, b"x", fin)] * 99]
    await client.send_raw(b"".join(frames))
    assert await wire.ended() == 1008
    assert await client.to_the_end()
    assert client.buffer.endswith(b"\x88\x13\x03\xf0too many messages")
    assert wire.messages.qsize() <= 50
    assert caplog.text.count("too many messages") == 1


@pytest.mark.parametrize(
    ("a_second", "lives"),
    [
        pytest.param(50, True, id="a device"),
        pytest.param(500, True, id="a test at ten times real time"),
        pytest.param(1_000, True, id="the limit"),
        pytest.param(2_000, False, id="twice the limit"),
    ],
)
def test_what_counts_as_a_flood(a_second, lives):
    gate = FloodGate(1_000, 5_000)
    admitted = [gate.admits(1, 100 + number / a_second) for number in range(a_second * 60)]
    assert all(admitted) is lives
    if not lives:
        assert admitted.index(False) / a_second == pytest.approx(5.0, abs=0.01)  # seconds


def test_a_heap_that_the_network_held_back_is_no_flood():
    gate = FloodGate(1_000, 5_000)
    for minute in range(5):
        assert all(gate.admits(1, 100 + minute * 60) for _ in range(5_000))
    assert not gate.admits(1, 340)


async def test_many_requests_in_one_read_wait_unread(serve, monkeypatch):
    running = await serve()
    waiting = []
    begin = HttpProtocol.on_headers_complete

    def on_headers_complete(self):
        waiting.append(len(self.pipeline))
        begin(self)

    monkeypatch.setattr(HttpProtocol, "on_headers_complete", on_headers_complete)
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(b"GET /healthz HTTP/1.1\r\n\r\n" * 1_000)
    async with asyncio.timeout(60):
        for _ in range(1_000):
            await reader.readuntil(b'{"status":"ok"}')
    assert len(waiting) == 1_000
    assert max(waiting) < 50
    writer.close()
