"""The commands as a user runs them: real processes, real engines."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import time
import wave

import numpy as np
import pytest
from websockets.asyncio.client import connect

from tests.e2e.speech import alike, plain, recordings

pytestmark = pytest.mark.asyncio(loop_scope="session")

EVEN = ("--set", "tts.noise_scale=0.0", "--set", "tts.noise_w=0.0")
VANLING = (sys.executable, "-m", "vanling")


async def run(*arguments: str, limit_s: float = 120) -> tuple[int, str, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("VANLING_")}
    process = await asyncio.create_subprocess_exec(
        *VANLING, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environment
    )
    async with asyncio.timeout(limit_s):
        out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


class Serving:
    """A ``vanling serve`` process on a free port."""

    def __init__(self, data_dir) -> None:
        self._data_dir = data_dir

    async def __aenter__(self) -> Serving:
        arguments = ["serve", "--port", "0", "--set", f"server.data_dir={self._data_dir}"]
        self.process = await asyncio.create_subprocess_exec(
            *VANLING, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(60):
            line = (await self.process.stdout.readline()).decode()
        self.url = line.split()[-1].replace("http", "ws") + "/xiaozhi/v1/"
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()


async def test_demo_holds_a_spoken_conversation(transcribe, tmp_path):
    reply = tmp_path / "reply.wav"
    code, out, err = await run("demo", "--json", "--say", "Please open the window.", "--save", str(reply), *EVEN)
    assert code == 0, err
    told = json.loads(out)
    assert plain(told["heard"]) == "please open the window"
    assert told["sentences"] == [f"You said: {told['heard']}"]
    assert set(told["latency_ms"]) == {"endpoint", "asr", "llm_first", "tts_first", "first_audio"}
    assert None not in told["latency_ms"].values()
    with wave.open(str(reply)) as file:
        rate = file.getframerate()
        pcm = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    assert abs(len(pcm) / rate - told["audio_s"]) < 0.01
    assert alike(await transcribe(pcm, rate), told["reply"]) > 0.7


async def test_demo_with_recorded_speech(recording):
    which = recordings()[-1]
    code, out, err = await run("demo", "--json", "--wav", str(which.path))
    assert code == 0, err
    assert plain(json.loads(out)["heard"]) == which.text


async def test_talk_speaks_plays_and_types_to_a_server(tmp_path, recording):
    async with Serving(tmp_path) as server:
        for way, expected in (
            (("--say", "Good evening to you."), "good evening to you"),
            (("--say", "Good evening to you.", "--mode", "manual"), "good evening to you"),
            (("--wav", str(recordings()[-1].path)), recordings()[-1].text),
            (("--text", "Type this."), "type this"),
        ):
            code, out, err = await run("talk", "--url", server.url, "--json", *way)
            assert code == 0, err
            told = json.loads(out)
            assert plain(told["heard"]) == expected
            assert told["latency_ms"]["endpoint"] is None  # a client cannot see it
            assert told["latency_ms"]["first_audio"] is not None


async def test_sigterm_drains_and_exits_0_while_a_device_is_spoken_to(tmp_path):
    async with Serving(tmp_path) as server, connect(server.url, proxy=None) as device:
        await device.send('{"type":"hello"}')
        await device.send('{"type":"text","text":"Say something that takes a while to be spoken to its end."}')
        async for message in device:
            if isinstance(message, bytes):
                break
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            await server.process.wait()
            _, err = await server.process.communicate()
        assert server.process.returncode == 0
        assert time.monotonic() - began < 5  # promised to service managers, not a matter of speed
        assert b"Traceback" not in err
        assert b"never retrieved" not in err


async def test_a_port_in_use_is_one_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = await run("serve", "--port", str(port), "--set", f"server.data_dir={tmp_path}")
    assert code == 1
    assert out == ""
    assert str(port) in err.strip().splitlines()[-1]
    assert "Traceback" not in err
