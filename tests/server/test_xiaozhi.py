"""The XiaoZhi door over real sockets: who connects, hello, frames both ways, and every end of a conversation."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Opcode

from vanling.core import framing
from vanling.session.frame import (
    Abort,
    Audio,
    Close,
    CloseOut,
    Error,
    ErrorCode,
    Heard,
    Hello,
    ListenMode,
    ListenStart,
    Opus,
    ReplyDone,
    ReplyStatus,
    Sentence,
    TtsStart,
    TtsStop,
)

MAC = "aa:bb:cc:dd:ee:ff"
HELLO = json.dumps(
    {
        "type": "hello",
        "version": 1,
        "features": {"mcp": True},
        "transport": "websocket",
        "audio_params": {"format": "opus", "sample_rate": 16000, "channels": 1, "frame_duration": 60},
    }
)


async def receive_json(client):
    async with asyncio.timeout(10):
        return json.loads(await client.recv())


async def closed(client):
    async with asyncio.timeout(10):
        await client.wait_closed()
    return client.close_code


@pytest.mark.parametrize("path", ["/xiaozhi/v1", "/xiaozhi/v1/", "/vanling/v1", "/vanling/v1/"])
async def test_hello_is_answered_on_every_path(serve, path):
    running = await serve()
    async with running.connect(path) as client:
        await client.send(HELLO)
        assert await receive_json(client) == {
            "session_id": "session-0",
            "type": "hello",
            "version": 1,
            "transport": "websocket",
            "audio_params": {"format": "opus", "sample_rate": 24000, "channels": 1, "frame_duration": 60},
        }


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("said", ["header", "hello"])
async def test_audio_goes_both_ways_in_every_framing(serve, version, said):
    running = await serve()
    headers = {"Protocol-Version": str(version)} if said == "header" else {}
    async with running.connect(headers=headers) as client:
        session = await running.sessions.next()
        await client.send(json.dumps({"type": "hello", "version": version}))
        assert (await receive_json(client))["version"] == version
        await client.send('{"type":"listen","state":"start","mode":"manual"}')
        await client.send(framing.pack(version, b"uplink", 40))
        assert isinstance(await session.next_frame(), Hello)
        assert await session.next_frame() == ListenStart(mode=ListenMode.MANUAL, ref="listen/start")
        stamp = 40 if version == 2 else 0
        assert await session.next_frame() == Opus(packet=b"uplink", timestamp_ms=stamp, ref="binary")
        session.outbound.send(Audio(packet=b"downlink"))
        kind, _, payload = framing.unpack(version, await client.recv())
        assert (kind, payload) == (framing.OPUS, b"downlink")


async def test_a_reply_goes_out_in_its_order(serve):
    running = await serve()
    async with running.connect() as client:
        session = await running.sessions.next()
        reply = [
            Heard(text="hi"),
            TtsStart(),
            Sentence(text="Hello."),
            Audio(packet=b"1"),
            Audio(packet=b"2"),
            ReplyDone(status=ReplyStatus.COMPLETED),
            TtsStop(),
        ]
        for message in reply:
            session.outbound.send(message)
        received = [await client.recv() for _ in range(6)]
        assert received[3:5] == [b"1", b"2"]
        texts = [json.loads(text) for text in received if isinstance(text, str)]
        assert [(text["type"], text.get("state")) for text in texts] == [
            ("stt", None),
            ("tts", "start"),
            ("tts", "sentence_start"),
            ("tts", "stop"),
        ]
        assert {text["session_id"] for text in texts} == {"session-0"}


# --- who it is --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "headers", "device_id", "client_id"),
    [
        ("", {"Device-Id": MAC, "Client-Id": "uuid"}, MAC, "uuid"),
        (f"?device-id={MAC.upper()}&client-id=uuid&authorization=Bearer+x", {}, MAC, "uuid"),
        ("?device-id=aa%3Abb%3Acc%3Add%3Aee%3Aff", {}, MAC, ""),
        ("?device-id=other", {"Device-Id": MAC}, MAC, ""),
        ("", {"Device-Id": "My-Robot_7"}, "My-Robot_7", ""),
        ("?device-id=a%0Ab", {}, "", ""),
        ("", {"Device-Id": "x" * 129}, "", ""),
        ("", {}, "", ""),
    ],
)
async def test_identity_comes_from_headers_or_query(serve, query, headers, device_id, client_id):
    running = await serve()
    async with running.connect(f"/xiaozhi/v1/{query}", headers=headers):
        who = (await running.sessions.next()).who
        assert (who.door, who.device_id, who.client_id) == ("xiaozhi", device_id, client_id)
        assert who.remote.startswith("127.0.0.1:")


async def test_a_newer_socket_of_a_device_replaces_the_older(serve):
    running = await serve()
    async with running.connect(headers={"Device-Id": MAC}) as older:
        first = await running.sessions.next()
        async with running.connect(headers={"Device-Id": MAC.upper()}) as newer:
            assert await closed(older) == 1000
            assert older.close_reason == "replaced"
            assert await first.ended() == "replaced"
            await newer.send(HELLO)
            assert (await receive_json(newer))["session_id"] == "session-1"
            async with running.connect(headers={"Device-Id": MAC}):
                assert await closed(newer) == 1000
    assert await running.sessions.all[2].ended() == "client_disconnect"


async def test_clients_without_an_id_do_not_replace_each_other(serve):
    running = await serve()
    async with running.connect() as one, running.connect() as two:
        for client in (one, two):
            await client.send(HELLO)
            await receive_json(client)
        assert running.server.xiaozhi.connections == 2


# --- what it may send -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    ['{"type":"listen"}', "[]", "NaN", "[" * 10_000, '{"type":7}', b"\x80\x04early", b"x" * 20_000],
    ids=lambda message: repr(message[:12]),
)
async def test_nonsense_is_answered_with_an_error_and_the_connection_lives_on(serve, message):
    running = await serve()
    async with running.connect() as client:
        await client.send(message)
        error = await receive_json(client)
        assert (error["type"], error["code"], error["session_id"]) == ("error", 504001, "session-0")
        await client.send(HELLO)
        assert (await receive_json(client))["type"] == "hello"


async def test_the_log_of_one_client_is_bounded_and_holds_no_text(serve, caplog):
    caplog.set_level(logging.INFO)
    running = await serve(auth_required=True, tokens=frozenset({"s3cret"}))
    headers = {"Authorization": "Bearer s3cret"}
    async with running.connect(headers=headers) as client:
        session = await running.sessions.next()
        session.outbound.send(Heard(text="my diary"))
        for _ in range(50):
            await client.send('{"type":"listen","state":"my diary"}')
        for _ in range(51):
            await receive_json(client)
    await session.ended()
    assert "diary" not in caplog.text
    assert "s3cret" not in caplog.text
    assert caplog.text.count("message refused") == 5


async def test_oddities_of_one_client_are_logged_a_few_times_with_its_session(serve, caplog):
    running = await serve()
    async with running.connect(headers={"Protocol-Version": "1"}) as client:
        odd = [
            ("mode_odd", '{"type":"listen","state":"start","mode":"my diary"}'),
            ("hello_odd", '{"type":"hello","version":"my diary","audio_params":[]}'),
            ("hello_odd", '{"type":"hello","version":3}'),
            ("message_ignored", '{"type":"my diary"}'),
        ]
        for _, message in odd:
            for _ in range(50):
                await client.send(message)
        await client.send("that is all")
        while (await receive_json(client))["type"] != "error":
            pass
    for event, _ in odd:
        logged = [record for record in caplog.records if getattr(record, "event", "") == event]
        assert len(logged) == 5
        assert {record.session_id for record in logged} == {"session-0"}
    assert "diary" not in caplog.text


# --- how it ends ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("greets", [True, False])
async def test_hello_has_a_time_limit(serve, greets):
    running = await serve(limits={"hello_timeout_s": 0.15})
    async with running.connect() as client:
        session = await running.sessions.next()
        if greets:
            await client.send(HELLO)
            await receive_json(client)
            await asyncio.wait({asyncio.ensure_future(client.wait_closed())}, timeout=0.3)
            assert not session.closed.done()
        else:
            assert await closed(client) == 1000
            assert await session.ended() == "no_hello"


@pytest.mark.parametrize("why", ["replaced", "server_shutdown", "no_hello"])
async def test_a_device_that_is_spoken_to_hears_stop_before_the_close(serve, why):
    running = await serve(limits={"hello_timeout_s": 0.2 if why == "no_hello" else 10.0})
    async with running.connect(headers={"Device-Id": MAC}) as client:
        session = await running.sessions.next()

        def feed(frame):
            assert frame == Close(reason=why)
            session.outbound.send(TtsStop())
            session.outbound.send(CloseOut(reason=frame.reason))

        session.feed = feed
        session.outbound.send(TtsStart())
        assert (await receive_json(client))["state"] == "start"
        if why == "replaced":
            async with running.connect(headers={"Device-Id": MAC}):
                pass
        elif why == "server_shutdown":
            await running.server.stop()
        assert (await receive_json(client))["state"] == "stop"
        assert await closed(client) == (1001 if why == "server_shutdown" else 1000)
        assert await session.ended() == why


async def test_a_session_that_fails_at_its_end_does_not_keep_the_socket(serve):
    running = await serve(limits={"hello_timeout_s": 0.2})
    async with running.connect() as client:
        session = await running.sessions.next()

        def fail(frame):
            raise RuntimeError("a fault in a session")

        session.feed = fail
        reports = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context["exception"]))
        assert await closed(client) == 1000
        assert await session.ended() == "no_hello"
        assert [str(report) for report in reports] == ["a fault in a session"]


async def test_a_finished_conversation_closes_with_1000(serve):
    running = await serve()
    async with running.connect() as client:
        session = await running.sessions.next()
        session.outbound.send(TtsStop())
        session.outbound.send(CloseOut(reason="farewell"))
        session.outbound.send(TtsStart())
        assert (await receive_json(client))["state"] == "stop"
        assert await closed(client) == 1000
        assert await session.ended() == "farewell"


async def test_a_device_that_never_answers_close_is_let_go(serve):
    running = await serve(limits={"close_timeout_s": 0.2})
    client = await running.raw("/xiaozhi/v1/")
    session = await running.sessions.next()
    session.outbound.send(CloseOut(reason="farewell"))
    assert await session.ended() == "farewell"
    assert await client.to_the_end() == b"\x88\x0a\x03\xe8farewell"
    assert running.server.xiaozhi.connections == 0


@pytest.mark.parametrize("end", ["reset", "close"])
async def test_a_client_that_vanishes_ends_its_session(serve, end):
    running = await serve()
    client = await running.raw("/xiaozhi/v1/")
    session = await running.sessions.next()
    session.outbound.send(Audio(packet=bytes(100)))
    getattr(client, end)()
    assert await session.ended() == "client_disconnect"
    session.outbound.send(Audio(packet=bytes(100)))
    session.outbound.send(CloseOut(reason="late"))
    assert not session.outbound.writable()
    assert running.server.xiaozhi.connections == 0


async def test_an_abort_is_heard_while_the_client_does_not_read(serve):
    running = await serve(limits={"unwritten_timeout_s": 0.5})
    client = await running.raw("/xiaozhi/v1/", receive_buffer=2048)
    session = await running.sessions.next()
    await client.send(Opcode.TEXT, HELLO.encode())
    await session.next_frame()
    session.outbound.send(Audio(packet=bytes(200_000)))
    assert not session.outbound.writable()
    await client.send(Opcode.TEXT, b'{"type":"abort"}')
    assert await session.next_frame() == Abort(ref="abort")
    assert await session.ended() == "client_disconnect"


async def test_a_session_that_cannot_be_opened_closes_the_socket(serve, caplog):
    running = await serve()

    def fail(outbound, who):
        raise RuntimeError("no engine")

    running.sessions.open = fail
    async with running.connect() as client:
        assert await closed(client) == 1011
    assert "no engine" in caplog.text
    assert running.server.xiaozhi.connections == 0


async def test_a_session_that_fails_to_close_is_logged(serve, caplog):
    running = await serve()

    async def fail(reason):
        raise RuntimeError("stuck")

    async with running.connect():
        session = await running.sessions.next()
        session.close = fail
    await running.server.stop()
    assert "stuck" in caplog.text


async def test_errors_reach_the_client_with_their_number(serve):
    running = await serve()
    async with running.connect() as client:
        session = await running.sessions.next()
        session.outbound.send(Error(code=ErrorCode.ASR_FAILED, message="recognition failed"))
        assert (await receive_json(client))["code"] == 504004


async def test_reconnects_leave_nothing_behind(serve):
    running = await serve()
    for _ in range(50):
        try:
            async with running.connect(headers={"Device-Id": MAC}) as client:
                await client.send(HELLO)
                await receive_json(client)
        except ConnectionClosed:
            pass
    for session in running.sessions.all:
        await session.ended()
    door = running.server.xiaozhi
    assert (door.connections, len(door._by_device)) == (0, 0)
