"""What the server itself adds to a spoken conversation with the embedded engines (``own``, DESIGN §6)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np

from bench.ratio import SMOKE, report
from vanling.cli.device import Clip, Device, DeviceIdentity
from vanling.config import load_config
from vanling.core.resample import Resampler
from vanling.engines.registry import build_engines
from vanling.server.runtime import Server
from vanling.session.metrics import TurnTimes

TURNS = 2 if SMOKE else 30
SENTENCE = "Could you please tell me what the weather is like today?"
BAR_MS = 20.0


def test_own_time_of_a_conversation(benchmark, tmp_path):
    """One device, spoken turns of about 3 s, recogniser, Echo and voice for real; the reply is cut after its start."""
    turns = benchmark.pedantic(lambda: asyncio.run(_converse(tmp_path)), rounds=1)
    assert len(turns) == TURNS
    own = [turn.own_ms() for turn in turns]
    first = [turn.latency_ms()["first_audio"] for turn in turns]
    beyond = [a - turn.silence_ms for a, turn in zip(first, turns, strict=True)]
    report(
        benchmark,
        "own_p99_ms",
        float(np.percentile(own, 99)),
        BAR_MS,
        own_median_ms=float(np.median(own)),
        first_audio_median_ms=float(np.median(first)),
        after_silence_median_ms=float(np.median(beyond)),
    )


async def _converse(data_dir: Path) -> list[TurnTimes]:
    built = await asyncio.to_thread(build_engines, {}, data_dir=data_dir)
    config = load_config(None, ["server.port=0", f"server.data_dir={data_dir}"], {})
    server = Server(config, engines=built.engines)
    turns: list[TurnTimes] = []
    server.on_turn(lambda _, times: turns.append(times))
    await server.start()
    device = Device(server.ws_url, DeviceIdentity.make("", ""))
    try:
        speech = await _speech(built.engines.tts)
        await device.open()
        for _ in range(TURNS):
            await device.speak(Clip(speech))
            await device.wait_for(lambda seen: bool(seen.arrivals_ns))
            await device.abort()
            await device.wait_for(lambda seen: seen.tts_stop_ns is not None)
    finally:
        await device.close()
        await server.stop()
        built.close()
    return turns


async def _speech(tts) -> np.ndarray:
    pcm = np.concatenate([piece.samples async for piece in tts.synthesize(SENTENCE)])
    resampler = Resampler(tts.rate, 16_000)
    pcm = np.concatenate([resampler.process(pcm), resampler.flush()])
    return (np.clip(pcm, -1, 1) * 32767).astype(np.int16)
