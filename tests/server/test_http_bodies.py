"""Bodies that do not come, or come when nobody waits for them any more."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket

import pytest

from vanling.server.routes import ota

BODY = b"Content-Length: 50000\r\n\r\n"


async def opened(running, data):
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(data)
    return reader, writer


async def answer(reader):
    """The head of the next answer; its body is read and dropped."""
    async with asyncio.timeout(10):
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().splitlines() if line.startswith(b"content-length"))
        await reader.readexactly(int(length.split(b":")[1]))
    return head


async def ended(reader):
    async with asyncio.timeout(10):
        with contextlib.suppress(ConnectionError):
            assert await reader.read() == b""


def state(running):
    return running.server._server.server_state


@pytest.fixture
def reading(monkeypatch):
    """Set once a bootstrap request waits for its body."""
    event, read = asyncio.Event(), ota._read_body

    async def read_body(request):
        event.set()
        return await read(request)

    monkeypatch.setattr(ota, "_read_body", read_body)
    return event


@pytest.mark.parametrize(
    "request_line", [b"POST /nope", b"POST /healthz", b"GET /healthz", b"POST /xiaozhi/ota/activate"]
)
async def test_the_rest_of_a_body_that_nobody_reads_has_a_time_limit(serve, request_line):
    running = await serve(limits={"request_timeout_s": 0.2})
    reader, writer = await opened(running, request_line + b" HTTP/1.1\r\nHost: x\r\n" + BODY)
    await answer(reader)
    writer.write(b"x")  # stops uvicorn's own timer
    await ended(reader)
    writer.close()


async def test_a_body_that_drips_is_not_awaited_for_ever(serve):
    running = await serve(limits={"request_timeout_s": 0.2})
    reader, writer = await opened(running, b"POST /nope HTTP/1.1\r\nHost: x\r\n" + BODY)
    await answer(reader)

    async def drip():
        while True:
            writer.write(b"x")
            await asyncio.sleep(0.01)

    dripping = asyncio.create_task(drip())
    await ended(reader)
    dripping.cancel()
    writer.close()


async def test_a_body_that_comes_late_does_no_harm(serve):
    running = await serve()
    reader, writer = await opened(running, b"POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
    assert (await answer(reader)).startswith(b"HTTP/1.1 404")
    writer.write(b"later" + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (await answer(reader)).startswith(b"HTTP/1.1 200")
    writer.close()


async def test_silence_after_a_late_body_ends_too(serve):
    running = await serve()
    reader, writer = await opened(running, b"POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
    await answer(reader)
    (connection,) = state(running).connections
    connection.timeout_keep_alive = 0.1
    writer.write(b"later")
    await ended(reader)
    writer.close()


async def test_an_upgrade_on_a_kept_connection_is_not_ended_as_idle(serve):
    running = await serve()
    reader, writer = await opened(running, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    await answer(reader)
    (connection,) = state(running).connections
    writer.write(
        b"GET /wire HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    assert (await asyncio.wait_for(reader.readline(), 10)).startswith(b"HTTP/1.1 101")
    assert (connection.timeout_keep_alive_task, connection._timer) == (None, None)
    writer.close()


async def test_a_client_that_goes_in_the_middle_of_its_body_is_no_error(serve, caplog, reading):
    running = await serve()
    _, writer = await opened(running, b"POST /xiaozhi/ota/ HTTP/1.1\r\nHost: x\r\n" + BODY + b"{")
    await asyncio.wait_for(reading.wait(), 10)
    tasks = set(state(running).tasks)
    writer.close()
    await asyncio.wait(tasks, timeout=10)
    assert all(task.done() for task in tasks)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("route", ["/xiaozhi/ota/", "/nope"])
async def test_stop_while_a_body_comes_is_no_error(serve, caplog, reading, route):
    running = await serve()
    reader, writer = await opened(running, f"POST {route} HTTP/1.1\r\nHost: x\r\n".encode() + BODY + b"{")
    if route == "/nope":
        await answer(reader)
    else:
        await asyncio.wait_for(reading.wait(), 10)
    await running.server.stop()
    await ended(reader)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    writer.close()


async def test_answers_that_nobody_reads_are_not_kept_for_ever(serve):
    running = await serve(limits={"request_timeout_s": 0.2})
    loop = asyncio.get_running_loop()
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        sock.setblocking(False)
        await loop.sock_connect(sock, ("127.0.0.1", running.port))
        requests = loop.sock_sendall(
            sock, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 1_000_000
        )  # more than both kernels take
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(requests, 30)


@pytest.mark.parametrize(
    "request_line",
    [b"POST /wire HTTP/1.1", b"GET /wire HTTP/1.1\r\nContent-Length: 3", b"GET /wire HTTP/1.1\r\nX: " + b"x" * 9_000],
    ids=["a POST", "a body", "a long header"],
)
async def test_an_upgrade_request_that_cannot_be_one_is_told_so(serve, request_line):
    running = await serve()
    upgrade = b"\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    reader, writer = await opened(
        running, request_line + upgrade + b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    async with asyncio.timeout(10):
        assert (await reader.readline()).split()[1] in (b"400", b"405", b"431")
        with contextlib.suppress(ConnectionError):
            await reader.read()
    assert running.wires.empty()
    writer.close()
