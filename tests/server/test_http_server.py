"""Starting, refusing to start, and stopping."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import ssl
import time

import httpx
import pytest

from vanling.errors import ConfigError, StartError
from vanling.server.http_server import HttpServer
from vanling.server.settings import ServerSettings
from vanling.server.signals import stop_event

HELLO = '{"type":"hello"}'
GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"


async def test_a_free_port_is_found_and_told(serve):
    running = await serve()
    assert running.port > 0
    assert running.server.url == f"http://127.0.0.1:{running.port}"
    async with httpx.AsyncClient() as client:
        assert (await client.get(running.http + "/healthz")).json() == {"status": "ok"}


async def test_listening_on_every_address_takes_ipv4_too(serve):
    try:
        running = await serve(host="::")
    except StartError:
        pytest.skip("no IPv6 here")
    for host in ("127.0.0.1", "[::1]"):
        async with httpx.AsyncClient() as client:
            response = await client.post(f"http://{host}:{running.port}/xiaozhi/ota/")
        url = response.json()["websocket"]["url"]
        assert url.startswith("ws://")
        assert "[" not in url


async def test_a_port_in_use_is_one_clear_sentence(serve):
    running = await serve()
    second = HttpServer(ServerSettings(port=running.port), running.sessions)
    with pytest.raises(StartError, match="port is in use") as error:
        await second.start()
    assert f"127.0.0.1:{running.port}" in str(error.value)
    assert "\n" not in str(error.value)
    await second.stop()


@pytest.mark.parametrize(
    ("settings", "kind", "words"),
    [
        ({"host": "no.such.host.invalid"}, StartError, "cannot listen on"),
        ({"host": "192.0.2.1"}, StartError, "cannot listen on"),
        ({"tls_cert": "/nowhere/cert.pem", "tls_key": "/nowhere/key.pem"}, StartError, "TLS"),
        ({"public_url": "voice"}, ConfigError, "public_url"),
    ],
)
async def test_what_cannot_be_started_says_why(settings, kind, words):
    with pytest.raises(kind, match=words):
        await HttpServer(ServerSettings(port=0, **settings), None).start()


async def test_without_a_token_nobody_learns_which_routes_exist(serve):
    running = await serve(auth_required=True, tokens=frozenset({"s3cret"}))
    async with httpx.AsyncClient(base_url=running.http) as client:
        for path in ("/nowhere", "/docs", "/openapi.json", "/", "/xiaozhi/ota/../../docs", "/xiaozhi/v1/"):
            assert (await client.get(path)).status_code == 401
            assert (await client.get(path, headers={"Authorization": "Bearer wrong"})).status_code == 401
        assert (await client.get("/nowhere", headers={"Authorization": "Bearer s3cret"})).status_code == 404
        for path in ("/healthz", "/xiaozhi/ota", "/xiaozhi/ota/", "/api/ota"):
            assert (await client.get(path)).status_code == 200


async def test_stop_closes_conversations_and_says_so(serve):
    running = await serve()
    async with running.connect() as one, running.connect() as two:
        sessions = [await running.sessions.next() for _ in range(2)]
        await running.server.stop()
        for client in (one, two):
            async with asyncio.timeout(10):
                await client.wait_closed()
            assert client.close_code == 1001
        assert [await session.ended() for session in sessions] == ["server_shutdown"] * 2
    with pytest.raises(OSError, match=r"Connect call failed|refused"):
        await asyncio.open_connection("127.0.0.1", running.port)


async def test_stop_does_not_wait_for_clients_that_never_answer(serve, caplog):
    running = await serve(limits={"close_timeout_s": 1.5})
    clients = [await running.raw("/xiaozhi/v1/", receive_buffer=2048) for _ in range(3)]
    idle = await asyncio.open_connection("127.0.0.1", running.port)
    wire_client = await running.raw("/wire", receive_buffer=2048)
    wire = await running.next_wire()
    wire.connection.send_bytes(bytes(200_000))
    began = time.monotonic()
    await running.server.stop()
    assert time.monotonic() - began < 4.5
    for client in (*clients, wire_client):
        await client.to_the_end()
    idle[1].close()
    assert await wire.ended() == 1006
    assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []


async def test_stop_does_not_wait_for_a_session_that_never_closes(serve):
    running = await serve(drain_timeout_s=1.5)
    async with running.connect():
        session = await running.sessions.next()
        never = asyncio.Event()
        session.close = lambda reason: never.wait()
        began = time.monotonic()
        await running.server.stop()
        assert time.monotonic() - began < 3.0


async def test_nobody_comes_in_while_conversations_are_ending(serve):
    running = await serve(drain_timeout_s=2.0)
    async with running.connect():
        session = await running.sessions.next()
        kept = await asyncio.open_connection("127.0.0.1", running.port)
        kept[1].write(GET + b"\r\n")
        await kept[0].readuntil(b"}")
        ending, may_end = asyncio.Event(), asyncio.Event()

        async def close(reason):
            ending.set()
            await may_end.wait()

        session.close = close
        stopping = asyncio.create_task(running.server.stop())
        await ending.wait()
        upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        key = b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        kept[1].write(b"GET /xiaozhi/v1/ HTTP/1.1\r\nHost: x\r\n" + upgrade + key + b"\r\n")
        assert (await kept[0].readline()).startswith(b"HTTP/1.1 503")
        may_end.set()
        await stopping
        kept[1].close()


async def test_stop_twice_and_without_a_start(serve):
    running = await serve()
    await running.server.stop()
    await running.server.stop()
    await HttpServer(ServerSettings(port=0), None).stop()


@pytest.mark.parametrize("beginning", [b"", GET, b"\r\n"])
async def test_a_peer_that_does_not_finish_its_request_is_dropped(serve, beginning):
    running = await serve(limits={"request_timeout_s": 0.1})
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(beginning)
    with contextlib.suppress(ConnectionError):
        assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
async def test_headers_have_a_size(serve, end):
    running = await serve()
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(GET + b"X: " + b"a" * 100_000 + end)
    with contextlib.suppress(ConnectionError):
        assert (await asyncio.wait_for(reader.read(), 10)).startswith(b"HTTP/1.1 400")
    writer.close()


async def test_a_body_that_does_not_come_is_not_awaited_for_ever(serve):
    running = await serve(limits={"request_timeout_s": 0.1})
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(b"POST /xiaozhi/ota/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{")
    assert (await asyncio.wait_for(reader.read(), 10)).startswith(b"HTTP/1.1 408")
    writer.close()


@pytest.mark.parametrize("request_line", [b"\x16\x03\x01\x02\x00\x01", b"GET", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"])
async def test_what_is_not_http_gets_400_and_no_more(serve, request_line):
    running = await serve(limits={"request_timeout_s": 0.3})
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(request_line)
    try:
        answer = await asyncio.wait_for(reader.read(), 10)
    except ConnectionError:
        answer = b""
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400")
    writer.close()


async def test_uvicorn_prints_nothing_of_its_own(serve, capfd, caplog):
    caplog.set_level(logging.DEBUG)
    running = await serve()
    async with httpx.AsyncClient() as client:
        await client.get(running.http + "/healthz")
    async with running.connect(headers={"Authorization": "Bearer s3cret"}) as client:
        await client.send(HELLO)
        await client.recv()
    await running.server.stop()
    assert capfd.readouterr() == ("", "")
    ours = [record for record in caplog.records if record.name.startswith(("uvicorn", "vanling"))]
    assert not [record for record in ours if record.name.startswith("uvicorn")]
    assert "s3cret" not in " ".join(record.getMessage() for record in ours)


async def test_tls_serves_both_and_shows_a_stall(serve, certificate):
    cert, key = certificate
    running = await serve(tls_cert=cert, tls_key=key, limits={"unwritten_timeout_s": 0.3})
    trust = ssl.create_default_context(cafile=cert)
    trust.check_hostname = False
    async with httpx.AsyncClient(verify=trust) as client:
        response = await client.post(running.server.url + "/xiaozhi/ota/")
        assert response.json()["websocket"]["url"] == f"wss://127.0.0.1:{running.port}/xiaozhi/v1/"
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(("127.0.0.1", running.port))
    sock.setblocking(False)
    async with running.connect(sock=sock, ssl=trust, server_hostname="localhost") as client:
        session = await running.sessions.next()
        await client.send(HELLO)
        assert "hello" in await client.recv()
    async with running.connect("/wire", ssl=trust) as client:
        wire = await running.next_wire()
        wire.connection.send_bytes(b"audio")
        assert await client.recv() == b"audio"
        client.transport.pause_reading()
        sent = 0
        while not wire.connection.closed:
            if wire.connection.writable():
                wire.connection.send_bytes(bytes(20_000))
                sent += 20_000
            await asyncio.sleep(0)
        assert await wire.ended() == 1006  # though no one ever wrote more than a frame ahead
        client.transport.abort()
    assert await session.ended() == "client_disconnect"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_is_an_event_to_wait_for(number):
    before = signal.getsignal(number)
    with stop_event() as stop:
        os.kill(os.getpid(), number)
        async with asyncio.timeout(10):
            await stop.wait()
    assert signal.getsignal(number) in (before, signal.SIG_DFL, signal.default_int_handler)
