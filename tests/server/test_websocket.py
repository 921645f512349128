"""One connection, seen from both of its ends: messages, limits, and every way in which it ends."""

from __future__ import annotations

import asyncio
import contextlib
import time

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Opcode

CLOSE_1000 = b"\x03\xe8"


async def test_messages_go_both_ways(serve):
    running = await serve()
    async with running.connect("/wire") as client:
        wire = await running.next_wire()
        await client.send("text: 你好")
        await client.send(b"bytes")
        assert await wire.message() == "text: 你好"
        assert await wire.message() == b"bytes"
        wire.connection.send_text("back")
        wire.connection.send_bytes(b"audio")
        assert await client.recv() == "back"
        assert await client.recv() == b"audio"


async def test_fragments_become_one_message(serve):
    running = await serve()
    client = await running.raw()
    wire = await running.next_wire()
    for opcode, data, fin in [
        (Opcode.TEXT, b"", False),
        (Opcode.CONT, "你".encode()[:1], False),
        (Opcode.PING, b"between", True),
        (Opcode.CONT, "你".encode()[1:], False),
        (Opcode.CONT, b"!", True),
        (Opcode.BINARY, b"a", False),
        (Opcode.CONT, b"", True),
        (Opcode.BINARY, b"", True),
    ]:
        await client.send(opcode, data, fin)
    assert [await wire.message() for _ in range(3)] == ["你!", b"a", b""]
    client.close()
    assert await wire.ended() == 1006


async def test_a_message_in_the_same_packet_as_the_upgrade_request_is_not_lost(serve, wire_frame):
    running = await serve()
    client = await running.raw(extra=wire_frame(Opcode.TEXT, b"eager"))
    wire = await running.next_wire()
    assert await wire.message() == "eager"
    client.close()


async def test_the_last_message_before_close_arrives_and_may_be_answered(serve, wire_frame):
    running = await serve()
    client = await running.raw()
    wire = await running.next_wire()
    heard = []

    def on_message(message):
        heard.append(message)
        wire.connection.send_text("too late, and harmless")
        wire.connection.close()

    wire.on_message = on_message
    await client.send_raw(wire_frame(Opcode.TEXT, b"last") + wire_frame(Opcode.CLOSE, CLOSE_1000))
    assert await wire.ended() == 1000
    assert heard == ["last"]
    assert await client.to_the_end() == b"\x88\x02" + CLOSE_1000


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([(Opcode.BINARY, bytes(1025), True)], 1009),
        ([(Opcode.BINARY, bytes(600), False), (Opcode.CONT, bytes(600), True)], 1009),
        ([(Opcode.TEXT, b"\xff\xfe", True)], 1007),
        ([(Opcode.TEXT, b"\xe4", False), (Opcode.CONT, b"x", True)], 1007),
        ([(Opcode.CONT, b"x", True)], 1002),
        ([(Opcode.BINARY, b"x", False), (Opcode.BINARY, b"x", True)], 1002),
    ],
)
async def test_what_the_protocol_forbids_is_answered_with_its_close_code(serve, frames, code):
    running = await serve(limits={"max_message_bytes": 1024})
    client = await running.raw()
    wire = await running.next_wire()
    for opcode, data, fin in frames:
        await client.send(opcode, data, fin)
    assert await wire.ended() == code
    answer = await client.to_the_end()
    assert answer[:1] == b"\x88"
    assert answer[2:4] == code.to_bytes(2, "big")


async def test_a_megabyte_is_refused_with_1009_while_it_is_still_coming(serve):
    running = await serve()
    async with running.connect("/wire") as client:
        with contextlib.suppress(ConnectionClosed):
            await client.send(bytes(1_000_000))
        await client.wait_closed()
        assert client.close_code == 1009


async def test_a_fault_in_a_door_closes_its_connection_only(serve, caplog):
    running = await serve()
    async with running.connect("/wire") as client, running.connect("/wire") as other:
        wire, other_wire = await running.next_wire(), await running.next_wire()
        wire.failing = True
        await client.send("x")
        with pytest.raises(ConnectionClosed):
            await client.recv()
        assert client.close_code == 1011
        await other.send("still here")
        assert await other_wire.message() == "still here"
    assert "a fault in a door" in caplog.text


# --- the end ----------------------------------------------------------------------------------------------------


async def test_close_is_a_handshake(serve):
    running = await serve()
    async with running.connect("/wire") as client:
        wire = await running.next_wire()
        wire.connection.close(1000, "done")
        wire.connection.close(1001, "again")
        wire.connection.send_text("after the end")
        wire.connection.send_bytes(b"after the end")
        assert wire.connection.closed
        assert not wire.connection.writable()
        with pytest.raises(ConnectionClosed):
            await client.recv()
        assert (client.close_code, client.close_reason) == (1000, "done")
        assert await wire.ended() == 1000


async def test_tcp_is_dropped_when_close_is_never_answered(serve):
    running = await serve(limits={"close_timeout_s": 0.2})
    client = await running.raw()
    wire = await running.next_wire()
    began = time.monotonic()
    wire.connection.close(1000)
    assert await client.to_the_end() == b"\x88\x02" + CLOSE_1000
    assert await wire.ended() == 1006
    assert time.monotonic() - began < 2.0
    client.close()


@pytest.mark.parametrize("end", ["reset", "close"])
async def test_a_peer_that_vanishes_is_noticed_at_once(serve, end):
    running = await serve()
    client = await running.raw()
    wire = await running.next_wire()
    wire.connection.send_bytes(bytes(100))
    getattr(client, end)()
    assert await wire.ended() == 1006
    wire.connection.send_text("nobody")
    wire.connection.abort()


async def test_a_half_message_and_then_nothing(serve, wire_frame):
    running = await serve()
    client = await running.raw()
    wire = await running.next_wire()
    await client.send_raw(wire_frame(Opcode.BINARY, bytes(100))[:50])
    client.close()
    assert await wire.ended() == 1006
    assert wire.messages.empty()


async def test_abort_drops_what_waits(serve):
    running = await serve()
    client = await running.raw()
    wire = await running.next_wire()
    wire.connection.abort()
    assert await wire.ended() == 1006
    assert await client.to_the_end() == b""


# --- keepalive --------------------------------------------------------------------------------------------------


async def test_a_client_is_pinged_and_lives_on_while_it_answers(serve):
    running = await serve(limits={"ping_interval_s": 0.02, "pong_timeout_s": 5.0})
    client = await running.raw()
    wire = await running.next_wire()
    for _ in range(3):
        head = await client.until(b"\x89\x04")  # a ping with four bytes
        assert head == b""
        while len(client.buffer) < 4:
            client.buffer += await client.receive()
        payload, client.buffer = client.buffer[:4], client.buffer[4:]
        await client.send(Opcode.PONG, b"unsolicited")
        await client.send(Opcode.PONG, payload)
    assert not wire.connection.closed
    client.close()


async def test_a_client_that_answers_no_ping_is_dropped(serve):
    running = await serve(limits={"ping_interval_s": 0.02, "pong_timeout_s": 0.1})
    client = await running.raw()
    wire = await running.next_wire()
    assert await wire.ended() == 1006
    await client.to_the_end()


# --- a client that does not read --------------------------------------------------------------------------------


def fill(connection, size=184) -> int:
    """Send audio frames until one is not taken; how many were."""
    for count in range(2_000):
        if not connection.writable():
            return count
        connection.send_bytes(bytes(size))
    raise AssertionError("everything was taken")


async def settle(connection):
    """Until the loop has had its chance to write."""
    for _ in range(3):
        await asyncio.sleep(0)


async def fill_up(connection, size=184) -> int:
    """As :func:`fill`, until it stays so: a loop may write at the end of its turn."""
    count = 0
    while (more := fill(connection, size)) > 0:
        count += more
        await settle(connection)
    return count


def block(connection):
    """A frame that no kernel takes whole."""
    connection.send_bytes(bytes(200_000))
    assert not connection.writable()


async def test_a_stall_shows_after_a_few_frames(serve):
    running = await serve()
    client = await running.raw(receive_buffer=2048)
    wire = await running.next_wire()
    count = await fill_up(wire.connection)
    assert count <= 20  # the client's own kernel takes some of them; the system's default hides 11,000
    client.close()
    await wire.ended()


async def test_reading_goes_on_while_writing_is_blocked(serve):
    running = await serve()
    client = await running.raw(receive_buffer=2048)
    wire = await running.next_wire()
    block(wire.connection)
    await client.send(Opcode.TEXT, b"abort")
    assert await wire.message() == "abort"
    assert not wire.connection.writable()
    client.close()
    await wire.ended()


async def test_waiters_are_called_once_and_one_frame_at_a_time(serve):
    running = await serve()
    client = await running.raw(receive_buffer=2048)
    wire = await running.next_wire()
    block(wire.connection)
    calls: asyncio.Queue[str] = asyncio.Queue()

    def first():
        assert wire.connection.writable()
        calls.put_nowait("first")
        block(wire.connection)

    wire.connection.when_writable(first)
    wire.connection.when_writable(lambda: calls.put_nowait("second"))
    async with asyncio.timeout(10):
        while calls.empty():
            await client.receive()
        assert await calls.get() == "first"
        assert calls.empty()
        while calls.empty():
            await client.receive()
        assert await calls.get() == "second"
    client.close()
    await wire.ended()
    assert calls.empty()


async def test_a_waiter_on_a_free_connection_is_called_soon(serve):
    running = await serve()
    async with running.connect("/wire"):
        wire = await running.next_wire()
        called = asyncio.Event()
        wire.connection.when_writable(called.set)
        assert not called.is_set()  # never from within: the caller may hold half-changed state
        async with asyncio.timeout(10):
            await called.wait()


async def test_a_waiter_is_forgotten_when_the_connection_ends(serve):
    running = await serve()
    client = await running.raw(receive_buffer=2048)
    wire = await running.next_wire()
    block(wire.connection)
    called = []
    wire.connection.when_writable(lambda: called.append(1))
    client.reset()
    await wire.ended()
    await settle(wire.connection)
    assert called == []


async def test_a_frame_that_is_not_taken_in_time_aborts(serve):
    running = await serve(limits={"unwritten_timeout_s": 0.2})
    client = await running.raw(receive_buffer=2048)
    wire = await running.next_wire()
    block(wire.connection)
    began = time.monotonic()
    assert await wire.ended() == 1006
    assert 0.1 < time.monotonic() - began < 5.0
    client.close()


async def test_a_slow_reader_is_not_a_stalled_one(serve):
    running = await serve(limits={"unwritten_timeout_s": 0.3})
    client = await running.raw(receive_buffer=2048)
    wire = await running.next_wire()
    began = time.monotonic()
    free = asyncio.Event()
    while time.monotonic() - began < 1.0:  # three times the limit, and never caught up
        await fill_up(wire.connection)
        free.clear()
        wire.connection.when_writable(free.set)
        while not free.is_set():
            await client.receive()
            await settle(wire.connection)
    assert not wire.connection.closed
    client.close()
    await wire.ended()


async def test_text_that_nobody_reads_is_bounded(serve):
    running = await serve(limits={"max_backlog_bytes": 10_000})
    client = await running.raw(receive_buffer=2048)
    wire = await running.next_wire()
    sent = 0
    while not wire.connection.closed:
        wire.connection.send_text("x" * 1_000)
        sent += 1
        assert sent < 100
        await settle(wire.connection)
    assert await wire.ended() == 1006
    client.close()


async def test_close_of_a_blocked_connection_still_ends(serve):
    running = await serve(limits={"close_timeout_s": 0.2})
    client = await running.raw(receive_buffer=2048)
    wire = await running.next_wire()
    block(wire.connection)
    wire.connection.close(1000)
    assert await wire.ended() == 1006
    client.close()
