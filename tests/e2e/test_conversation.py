"""A device speaks and is answered: real engines, a real socket, real Opus, real recorded speech."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest
from websockets.asyncio.client import connect

from tests.e2e.speech import RATE, alike, plain, recordings
from vanling.cli.device import Clip, Device, DeviceIdentity, Mode, converse
from vanling.core.framing import pack, unpack
from vanling.core.opus import Decoder, Encoder

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("which", recordings() or [None], ids=lambda each: each.path.stem if each else "none")
async def test_recorded_speech_is_heard_and_every_sentence_of_the_answer_is_in_the_audio(
    server, recording, which, transcribe
):
    seen = await converse(server.ws_url, audio=which.samples())
    assert plain(seen.heard) == which.text
    assert plain(seen.reply) == plain(f"You said {which.text}")
    assert alike(await transcribe(seen.audio, seen.rate), seen.reply) > 0.7
    assert (seen.errors, seen.bad_packets, seen.dropped, seen.discarded) == ([], 0, 0, 0)


async def test_push_to_talk_ends_with_the_release_not_with_a_pause(server, say):
    first, second = await say("Please remember the number seven."), await say("And then tell me about it.")
    pause = np.zeros(RATE * 9 // 10, np.int16)  # longer than what ends a turn hands-free
    seen = await converse(server.ws_url, audio=np.concatenate([first, pause, second]), mode=Mode.MANUAL)
    assert "remember the number" in plain(seen.heard)
    assert "tell me about it" in plain(seen.heard)


async def test_every_sentence_of_a_long_reply_is_spoken(server, transcribe):
    text = "The first sentence is here. The second one follows it. Now comes the third. And the last one ends the list."
    seen = await converse(server.ws_url, text=text)
    assert seen.heard == text
    assert len(seen.sentences) == 4
    heard_back = plain(await transcribe(seen.audio, seen.rate))
    for words in ("first sentence is here", "second one follows it", "now comes the third", "last one ends the list"):
        assert words in heard_back
    assert seen.underruns == 0


async def test_text_that_the_voice_cannot_speak_is_shown(server):
    seen = await converse(server.ws_url, text="今天天气怎么样")
    assert seen.sentences == ["你说：今天天气怎么样。"]
    assert seen.frames == 0
    assert seen.tts_stop_ns is not None


async def test_abort_silences_the_reply_and_the_next_turn_is_answered(server):
    device = Device(server.ws_url, DeviceIdentity.make("", ""))
    await device.open()
    try:
        await device.type("This is a rather long sentence that takes its time to be spoken to the very end of it.")
        await device.wait_for(lambda seen: len(seen.arrivals_ns) >= 3)
        await device.abort()
        await device.wait_for(lambda seen: seen.tts_stop_ns is not None)
        frames = len(device.conversation.arrivals_ns)
        await device.type("Short.")
        seen = await device.reply()
        assert seen.reply == "You said: Short."
        assert frames < 20  # of about 80
    finally:
        await device.close()


async def test_two_turns_on_one_connection(server, say):
    device = Device(server.ws_url, DeviceIdentity.make("", ""))
    await device.open()
    try:
        for sentence in ("The weather is nice today.", "Where are my keys?"):
            await device.speak(Clip(await say(sentence)))
            assert plain((await device.reply()).heard) == plain(sentence)
    finally:
        await device.close()


@pytest.mark.parametrize("version", [2, 3])
async def test_binary_versions_with_headers(server, say, transcribe, version):
    headers = {"Protocol-Version": str(version), "Device-Id": f"aa:bb:cc:dd:ee:0{version}"}
    async with connect(server.ws_url, additional_headers=headers, proxy=None) as socket:
        await socket.send(json.dumps({"type": "hello", "version": version, "transport": "websocket"}))
        assert json.loads(await socket.recv())["type"] == "hello"
        await socket.send(json.dumps({"type": "listen", "state": "start", "mode": "manual"}))
        for packet in Encoder(RATE).encode(await say("Hello out there.")):
            await socket.send(pack(version, packet))
        await socket.send(json.dumps({"type": "listen", "state": "stop"}))
        decoder, audio, heard = Decoder(24_000), [], ""
        async with asyncio.timeout(30):
            async for message in socket:
                if isinstance(message, bytes):
                    audio.append(decoder.decode(unpack(version, message)[2]))
                    continue
                event = json.loads(message)
                heard = event["text"] if event["type"] == "stt" else heard
                if event.get("state") == "stop":
                    break
    assert plain(heard) == "hello out there"
    assert alike(await transcribe(np.concatenate(audio), 24_000), "you said hello out there") > 0.7


async def test_a_device_that_falls_silent_in_mid_turn_is_answered_all_the_same(server, say):
    """No more frames at all (DTX, a lost link): the stall ends the turn (pains P11)."""
    async with connect(server.ws_url, proxy=None) as socket:
        await socket.send('{"type":"hello"}')
        await socket.send('{"type":"listen","state":"start","mode":"auto"}')
        spoken = await say("Are you still there?")
        loud = np.flatnonzero(np.abs(spoken.astype(np.int32)) > 500)[-1]
        for packet in Encoder(RATE).encode(spoken[:loud]):
            await socket.send(packet)
            await asyncio.sleep(0.06)
        async with asyncio.timeout(20):
            async for message in socket:
                if isinstance(message, str) and json.loads(message)["type"] == "stt":
                    assert plain(json.loads(message)["text"]).startswith("are you still")
                    return


async def test_hostile_packets_hurt_nobody(server, say):
    """Garbage on one connection; that one and its neighbour are answered (pains P48)."""
    rng = np.random.default_rng(7)
    async with connect(server.ws_url, proxy=None) as bad:
        await bad.send('{"type":"hello"}')
        await bad.send('{"type":"listen","state":"start","mode":"manual"}')
        for size in (0, 1, 2, 50, 400, 1500, 4000):
            for _ in range(5):
                await bad.send(rng.bytes(size))
        await bad.send("[" * 10_000)
        await bad.send(b"\x80\x04N.")
        neighbour = await converse(server.ws_url, text="I am fine.")
        assert neighbour.reply == "You said: I am fine."
        await bad.send('{"type":"listen","state":"start","mode":"manual"}')
        for packet in Encoder(RATE).encode(await say("Can you hear me now?")):
            await bad.send(packet)
        await bad.send('{"type":"listen","state":"stop"}')
        async with asyncio.timeout(30):
            async for message in bad:
                if isinstance(message, str) and json.loads(message)["type"] == "stt":
                    assert plain(json.loads(message)["text"]) == "can you hear me now"
                    return


async def test_times_of_a_turn_are_in_order(server, say):
    times = []
    server.on_turn(lambda session_id, turn: times.append((session_id, turn)))
    seen = await converse(server.ws_url, audio=await say("What time is it?"))
    mine = [turn for session_id, turn in times if session_id == seen.session_id]
    assert len(mine) == 1
    steps = [mine[0].latency_ms()[name] for name in ("endpoint", "asr", "llm_first", "tts_first", "first_audio")]
    assert None not in steps
    assert steps == sorted(steps)
    assert steps[0] >= 500  # the silence that ends a turn
