"""The simulated device against scripted servers: it does what the firmware does, and says what went wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from vanling.cli.connecting import DeviceError
from vanling.cli.device import Device, Mode, converse
from vanling.cli.identity import DeviceIdentity
from vanling.cli.microphone import Clip

FakeServer = Callable[..., Any]
Tone = Callable[..., Any]


async def test_a_conversation_in_auto_mode(fake_server: FakeServer, tone: Tone) -> None:
    async def script(peer: Any) -> None:
        await peer.greet()
        await peer.until(type="listen", state="start")
        while len(peer.packets) < 12:
            await peer.read()
        await peer.reply("Hello.", "How are you?", heard="hi there")
        await peer.drain()

    async with fake_server(script) as fake:
        seen = await converse(fake.url, audio=tone(300), device_id="02:00:00:00:00:01", token="t0ken")
    assert (seen.session_id, seen.heard, seen.sentences) == ("s-1", "hi there", ["Hello.", "How are you?"])
    assert seen.reply == "Hello. How are you?"
    assert seen.emotions == ["happy"]
    assert (seen.frames, seen.bad_packets, seen.dropped, seen.discarded) == (6, 0, 0, 0)
    assert seen.rate == 24_000
    assert seen.audio_s == pytest.approx(0.36)
    assert np.abs(seen.audio).max() > 4000
    hello, listen = fake.peers[0].messages[:2]
    assert hello == {
        "type": "hello", "version": 1, "features": {"mcp": False}, "transport": "websocket",
        "audio_params": {"format": "opus", "sample_rate": 16000, "channels": 1, "frame_duration": 60},
    }  # fmt: skip
    assert listen == {"session_id": "s-1", "type": "listen", "state": "start", "mode": "auto"}
    headers = fake.requests[0].headers
    assert headers["Authorization"] == "Bearer t0ken"
    assert headers["Device-Id"] == "02:00:00:00:00:01"
    assert headers["Protocol-Version"] == "1"
    assert "Sec-WebSocket-Extensions" not in headers


async def test_the_microphone_streams_in_real_time_and_closes_when_the_reply_starts(
    fake_server: FakeServer, tone: Tone
) -> None:
    late: list[int] = []

    async def script(peer: Any) -> None:
        await peer.greet()
        while len(peer.packets) < 15:
            await peer.read()
        await peer.send(type="tts", state="start")
        await asyncio.sleep(0.36)  # six frames, were the microphone still open
        await peer.send(type="tts", state="stop")
        await peer.drain()
        late.append(len(peer.packets) - 15)

    async with fake_server(script) as fake:
        await converse(fake.url, audio=tone(300))
    peer = fake.peers[0]
    assert late[0] <= 2
    # 15 frames of 60 ms: the first when it has been spoken, the last 14 frames later.
    assert peer.packet_times[14] - peer.packet_times[0] == pytest.approx(14 * 0.06, abs=0.2)
    heard = peer.heard()
    assert np.abs(heard[:2400]).max() < 400, "200 ms of silence lead in"
    assert np.abs(heard[4000:7000]).max() > 4000
    assert np.abs(heard[9600:14000]).max() < 400, "silence follows until the reply"


async def test_in_manual_mode_the_button_ends_the_turn(fake_server: FakeServer, tone: Tone) -> None:
    async def script(peer: Any) -> None:
        await peer.greet()
        await peer.until(type="listen", state="stop")
        await peer.reply("Yes.")
        await peer.drain()

    async with fake_server(script) as fake:
        seen = await converse(fake.url, audio=tone(300), mode=Mode.MANUAL)
    assert seen.reply == "Yes."
    assert [message.get("mode") for message in fake.peers[0].messages] == [None, "manual", None]
    assert len(fake.peers[0].packets) == 9, "200 ms lead and 300 ms of tone fill 9 frames; no more follow"


async def test_in_realtime_mode_the_microphone_stays_open_and_a_held_reply_goes_on(
    fake_server: FakeServer, tone: Tone
) -> None:
    during: list[int] = []

    async def script(peer: Any) -> None:
        await peer.greet()
        while len(peer.packets) < 10:
            await peer.read()
        await peer.reply("One.")
        while len(peer.packets) < 14:
            await peer.read()
        during.append(len(peer.packets))
        await peer.reply("Two.")
        await peer.drain()

    async with fake_server(script) as fake:
        seen = await converse(fake.url, audio=tone(300), mode=Mode.REALTIME)
    assert during == [14]
    assert seen.sentences == ["One.", "Two."]


async def test_typed_text_is_sent_as_real_clients_do(fake_server: FakeServer) -> None:
    async def script(peer: Any) -> None:
        await peer.greet()
        message = await peer.until(type="listen", state="detect")
        await peer.reply("Yes.", heard=message["text"])
        await peer.drain()

    async with fake_server(script) as fake:
        seen = await converse(fake.url, text='你好 "there"')
    assert seen.heard == '你好 "there"'
    assert fake.peers[0].packets == []
    latency = seen.latency_ms()
    assert latency["endpoint"] is latency["llm_first"] is latency["tts_first"] is None
    assert latency["asr"] is not None
    assert latency["first_audio"] is not None
    assert 0 <= latency["asr"] <= latency["first_audio"]


async def test_latency_counts_from_the_last_voiced_sample(fake_server: FakeServer, tone: Tone) -> None:
    async def script(peer: Any) -> None:
        await peer.greet()
        while len(peer.packets) < 9:  # the tone ends at 200 + 280 = 480 ms, in the eighth frame
            await peer.read()
        await peer.reply("Yes.")
        await peer.drain()

    quiet = np.zeros(4800, np.int16)
    async with fake_server(script) as fake:
        seen = await converse(fake.url, audio=np.concatenate([tone(280), quiet]))
    first_audio = seen.latency_ms()["first_audio"]
    assert first_audio is not None
    # The ninth frame leaves at 540 ms: 60 ms after the last voiced sample, however busy this machine is.
    assert 55 <= first_audio < 400


async def test_several_turns_and_an_abort_on_one_connection(fake_server: FakeServer, tone: Tone) -> None:
    async def script(peer: Any) -> None:
        await peer.greet()
        await peer.until(type="listen", state="stop")
        await peer.send(type="tts", state="start")
        await peer.until(type="abort")
        await peer.send(type="tts", state="stop")
        await peer.until(type="listen", state="detect")
        await peer.reply("Second.")
        await peer.drain()

    async with fake_server(script) as fake:
        device = Device(fake.url, DeviceIdentity.make())
        await device.open()
        await device.speak(Clip(tone(100)), Mode.MANUAL)
        await device.wait_for(lambda seen: seen.tts_start_ns is not None)
        await device.abort("wake_word_detected")
        first = await device.reply(5)
        await device.type("again")
        second = await device.reply(5)
        await device.close()
    assert (first.sentences, second.sentences) == ([], ["Second."])
    assert second.session_id == "s-1"
    abort = next(message for message in fake.peers[0].messages if message["type"] == "abort")
    assert abort == {"session_id": "s-1", "type": "abort", "reason": "wake_word_detected"}


async def refusal(url: str, **options: Any) -> str:
    with pytest.raises(DeviceError) as caught:
        await converse(url, **({"text": "hi"} | options))
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_no_reply_is_said_with_the_servers_last_complaint(fake_server: FakeServer) -> None:
    async def script(peer: Any) -> None:
        await peer.greet()
        await peer.until(type="listen", state="detect")
        await peer.send(type="error", message="the recogniser is out of order")
        await peer.drain()

    async with fake_server(script) as fake:
        said = await refusal(fake.url, deadline_s=0.2)
    assert "no reply within 0.2 s" in said
    assert "out of order" in said


async def test_a_reply_that_does_not_end(fake_server: FakeServer) -> None:
    async def script(peer: Any) -> None:
        await peer.greet()
        await peer.until(type="listen", state="detect")
        await peer.send(type="tts", state="start")
        await peer.drain()

    async with fake_server(script) as fake:
        assert "did not end within 0.2 s" in await refusal(fake.url, deadline_s=0.2)


async def test_a_server_that_closes_early(fake_server: FakeServer, tone: Tone) -> None:
    async def script(peer: Any) -> None:
        await peer.greet()
        await peer.until(type="listen")
        await peer.socket.close(1000, "no_activity")

    async with fake_server(script) as fake:
        assert "code 1000 no_activity" in await refusal(fake.url)
        assert "code 1000 no_activity" in await refusal(fake.url, text=None, audio=tone(300))


async def test_a_server_that_tires_of_listening_has_heard_no_speech(fake_server: FakeServer, tone: Tone) -> None:
    async def script(peer: Any) -> None:
        await peer.greet()
        await peer.until(type="listen")
        await peer.socket.close(1000, "no_activity_timeout")

    async with fake_server(script) as fake:
        assert "heard no speech" in await refusal(fake.url, text=None, audio=tone(300))
        assert "heard no speech" not in await refusal(fake.url, text="typed")


async def test_a_server_that_vanishes(fake_server: FakeServer, tone: Tone) -> None:
    async def script(peer: Any) -> None:
        await peer.greet()
        await peer.until(type="listen")
        peer.socket.transport.abort()

    async with fake_server(script) as fake:
        assert "lost" in await refusal(fake.url, text=None, audio=tone(300))


@pytest.mark.parametrize(
    ("hello", "words"),
    [
        ({"type": "hello", "session_id": "x"}, "crashes a real device"),
        ({"type": "hello", "transport": "websocket", "audio_params": {"sample_rate": 44100}}, "44100"),
        ({"type": "hello", "transport": "websocket", "audio_params": {"sample_rate": "fast"}}, "fast"),
    ],
)
async def test_a_hello_that_a_device_cannot_live_with(fake_server: FakeServer, hello: Any, words: str) -> None:
    async def script(peer: Any) -> None:
        await peer.send(**hello)
        await peer.drain()

    async with fake_server(script) as fake:
        assert words in await refusal(fake.url)


async def test_nonsense_from_the_server_is_survived(fake_server: FakeServer) -> None:
    async def script(peer: Any) -> None:
        await peer.greet()
        await peer.until(type="listen", state="detect")
        for message in ("{", "[]", '{"type":"unknown"}', '{"type":"tts"}', '{"type":7}'):
            await peer.socket.send(message)
        await peer.socket.send(b"audio before start")
        await peer.send(type="tts", state="stop")
        await peer.send(type="tts", state="start")
        await peer.socket.send(b"\xff" * 7)
        await peer.send(type="tts", state="sentence_start", text="Yes.")
        await peer.send(type="tts", state="stop")
        await peer.drain()

    async with fake_server(script) as fake:
        seen = await converse(fake.url, text="hi")
    assert seen.reply == "Yes."
    assert (seen.discarded, seen.bad_packets, len(seen.errors)) == (1, 1, 2)


async def test_who_does_not_answer_or_refuses_is_one_sentence(unused_tcp_port: int) -> None:
    url = f"ws://127.0.0.1:{unused_tcp_port}/"
    assert "connection refused" in await refusal(url)
    assert "no WebSocket URL" in await refusal("127.0.0.1:8080")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("http://10.0.0.2:8080", "ws://10.0.0.2:8080/xiaozhi/v1/"),
        ("http://10.0.0.2:8080/xiaozhi/ota/", "ws://10.0.0.2:8080/xiaozhi/v1/"),
        ("https://voice.example.com/other/", "wss://voice.example.com/other/"),
    ],
)
async def test_a_page_s_address_suggests_the_websocket_s(given: str, meant: str) -> None:
    assert (await refusal(given)).endswith(f" {meant}")


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", b""], ids=["http", "hangs up"]
)
async def test_tls_to_a_plain_server_suggests_ws(answer: bytes) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        where = f"127.0.0.1:{server.sockets[0].getsockname()[1]}/xiaozhi/v1/"
        said = await refusal(f"wss://{where}")
    assert "does not speak TLS" in said
    assert said.endswith(f"use ws://{where}")


@pytest.mark.parametrize(("status", "words"), [(401, "--token"), (403, "--token"), (404, "path"), (500, "HTTP 500")])
async def test_an_http_refusal_is_explained(status: int, words: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode())
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert words in await refusal(f"ws://127.0.0.1:{port}/")
