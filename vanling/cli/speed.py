"""How fast this machine recognises, speaks and codes, against real time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from vanling.cli.microphone import RATE
from vanling.cli.speaker import speak
from vanling.config import Config
from vanling.contracts.engines import Asr, Tts
from vanling.core.opus import Decoder, Encoder
from vanling.engines.build import BuildContext, usable_cores
from vanling.engines.registry import build_one, closing_engine

SENTENCE = "Please turn on the light in the kitchen, and tell me what time it is."
QUICK_MS = 300.0
"""Recognition of three seconds that stays hidden in the silence that ends a turn."""


@dataclass(slots=True)
class Speed:
    """Milliseconds, and ratios of processing time to audio time (1.0 = only just real time)."""

    cores: int
    opus_ratio: float = 0.0
    """Decoding and encoding one stream."""
    tts_first_ms: float | None = None
    tts_ratio: float | None = None
    asr_ms: float | None = None
    """Recognising the sentence, about four seconds."""
    asr_ratio: float | None = None
    heard: str = ""

    def document(self) -> dict[str, object]:
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(self).items()}


async def measure(config: Config, stage: Callable[[str], None]) -> tuple[Speed, list[str]]:
    """Measure the configured engines; also what to change, as sentences (empty: nothing).

    Raises:
        VanlingError: an engine cannot be built or fails.
    """
    speed = Speed(usable_cores())
    context = BuildContext(config.server.data_dir, stage)
    stage("measuring Opus")
    speed.opus_ratio = _opus_ratio()
    pcm = await _measure_voice(config, context, speed, stage)
    if pcm is None:
        return speed, []
    await _measure_recogniser(config.engine_section("asr"), context, speed, pcm, stage)
    return speed, await _proposals(config, context, speed, pcm, stage)


async def _measure_voice(
    config: Config, context: BuildContext, speed: Speed, stage: Callable[[str], None]
) -> NDArray[np.int16] | None:
    stage("measuring the voice")
    voice = build_one("tts", config.engine_section("tts"), context)
    if voice is None:
        return None
    with closing_engine(voice):
        tts = cast(Tts, voice)
        began = time.perf_counter()
        samples = 0
        async for chunk in tts.synthesize(SENTENCE):
            if speed.tts_first_ms is None:
                speed.tts_first_ms = (time.perf_counter() - began) * 1000.0
            samples += len(chunk.samples)
        speed.tts_ratio = (time.perf_counter() - began) / max(samples / tts.rate, 1e-9)
        return await speak(tts, SENTENCE) if tts.can_speak(SENTENCE) else None


async def _measure_recogniser(
    section: dict[str, object],
    context: BuildContext,
    speed: Speed,
    pcm: NDArray[np.int16],
    stage: Callable[[str], None],
) -> None:
    stage("measuring the recogniser")
    speed.asr_ms, speed.heard = await _recognise(section, context, pcm)
    speed.asr_ratio = speed.asr_ms / 1000.0 / (len(pcm) / RATE)


async def _recognise(section: dict[str, object], context: BuildContext, pcm: NDArray[np.int16]) -> tuple[float, str]:
    """The faster of two runs in milliseconds, and the text."""
    engine = build_one("asr", section, context)
    with closing_engine(engine):
        best, text = float("inf"), ""
        for _ in range(2):
            stream = cast(Asr, engine).new("en")
            stream.feed((pcm / 32768.0).astype(np.float32))
            began = time.perf_counter()
            text = (await stream.hypothesis()).text
            best = min(best, (time.perf_counter() - began) * 1000.0)
    return best, text


async def _proposals(
    config: Config, context: BuildContext, speed: Speed, pcm: NDArray[np.int16], stage: Callable[[str], None]
) -> list[str]:
    """What would make this machine answer sooner; alternatives are measured, not guessed."""
    section = config.engine_section("asr")
    if section["engine"] != "whisper" or speed.asr_ms is None or speed.asr_ms <= QUICK_MS:
        return []
    beam, threads = section.get("beam", 5), section.get("threads", 1)
    tried = [(2, threads), (beam, speed.cores), (2, speed.cores)]
    results = []
    for tried_beam, tried_threads in dict.fromkeys(tried):
        stage(f"measuring the recogniser with beam {tried_beam}, {tried_threads} threads")
        ms, text = await _recognise({**section, "beam": tried_beam, "threads": tried_threads}, context, pcm)
        if text == speed.heard:
            results.append((ms, tried_beam, tried_threads))
    proposals = []
    if results and min(results)[0] < 0.8 * speed.asr_ms:
        ms, beam, threads = min(results)
        proposals.append(f"asr.beam = {beam} and asr.threads = {threads}: {ms:.0f} ms instead of {speed.asr_ms:.0f}")
    if speed.asr_ratio is not None and speed.asr_ratio > 0.5:
        proposals.append("this machine is slow for Whisper: a recogniser on another machine answers sooner")
    return proposals


def _opus_ratio() -> float:
    """Processing time per second of audio, one stream up at 16 kHz and one down at 24 kHz."""
    rng = np.random.default_rng(0)
    audio_s = 3.0
    up = (rng.normal(0, 2000, int(RATE * audio_s))).astype(np.int16)
    down = (rng.normal(0, 2000, int(24_000 * audio_s))).astype(np.int16)
    packets = Encoder(RATE, complexity=0).encode(up)
    decoder, encoder = Decoder(RATE), Encoder(24_000)
    began = time.perf_counter()
    for packet in packets:
        decoder.decode(packet)
    encoder.encode(down)
    return (time.perf_counter() - began) / audio_s
