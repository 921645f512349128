"""What doctor measures and proposes, with engines whose speed is known."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import numpy as np
import pytest

from vanling.cli import speaker, speed
from vanling.cli.speaker import speak, spoken
from vanling.config import Config, load_config
from vanling.contracts.engines import AsrResult, Outcome, Pcm, Samples
from vanling.errors import EngineError, EngineUnavailableError


class Voice:
    rate = 22_050
    language = "en"

    def __init__(self) -> None:
        self.closed = False

    def can_speak(self, text: str) -> bool:
        return text.isascii()

    async def synthesize(self, sentence: str, **_: object) -> AsyncIterator[Pcm]:
        for _ in range(2 if sentence else 0):
            yield Pcm(np.full(22_050, 0.5, np.float32), self.rate)

    def close(self) -> None:
        self.closed = True


class Recogniser:
    """Takes as long as its options say."""

    def __init__(self, ms: float, text: str) -> None:
        self.ms = ms
        self.text = text

    def new(self, _language: str | None = None) -> Recogniser:
        return self

    def feed(self, pcm: Samples) -> None:
        assert pcm.dtype == np.float32

    async def hypothesis(self) -> AsrResult:
        await asyncio.sleep(self.ms / 1000)
        return AsrResult(Outcome.TEXT, self.text)


def engines(
    monkeypatch: pytest.MonkeyPatch, ms: Mapping[tuple[int, int], float], wrong: set[int] = frozenset()
) -> None:  # type: ignore[assignment]
    """``ms`` by (beam, threads); beams in ``wrong`` mishear."""

    def build(kind: str, section: Mapping[str, Any], _context: object) -> object:
        if kind == "tts":
            return None if section["engine"] == "mute" else Voice()
        beam = section.get("beam", 5)
        return Recogniser(ms[beam, section.get("threads", 1)], "mumble" if beam in wrong else "words")

    monkeypatch.setattr(speed, "build_one", build)
    monkeypatch.setattr(speed, "usable_cores", lambda: 4)


async def measured(*sets: str) -> tuple[speed.Speed, list[str]]:
    return await speed.measure(load_config(None, sets, {}), lambda _: None)


async def test_a_fast_machine_needs_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    engines(monkeypatch, {(5, 1): 1})
    found, proposals = await measured()
    assert found.asr_ms is not None
    assert found.asr_ratio == pytest.approx(found.asr_ms / 2000)
    assert found.heard == "words"
    assert found.opus_ratio > 0
    assert proposals == []


async def test_the_fastest_alternative_that_hears_the_same_is_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "QUICK_MS", 10.0)
    engines(monkeypatch, {(5, 1): 60, (2, 1): 5, (5, 4): 20, (2, 4): 4}, wrong=frozenset({2}))
    _, proposals = await measured()
    assert proposals[0].startswith("asr.beam = 5 and asr.threads = 4")


async def test_a_change_that_gains_little_is_not_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "QUICK_MS", 10.0)
    engines(monkeypatch, {(5, 1): 40, (2, 1): 38, (5, 4): 39, (2, 4): 38})
    assert (await measured())[1] == []


async def test_without_a_voice_only_opus_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    engines(monkeypatch, {})
    found, proposals = await measured("tts.engine=mute")
    assert (found.asr_ms, found.tts_ratio, proposals) == (None, None, [])


async def test_a_text_becomes_what_a_microphone_would_hear() -> None:
    pcm = await speak(Voice(), "hello")
    assert pcm.dtype == np.int16
    assert abs(len(pcm) - 32_000) <= 1
    assert abs(int(np.median(pcm)) - 16_383) <= 2


async def test_what_the_voice_cannot_say_is_refused() -> None:
    with pytest.raises(EngineError, match=r"no sounds for this text: type it$"):
        await speak(Voice(), "你好", "type it")
    with pytest.raises(EngineError, match=r"no sounds for this text$"):
        await speak(Voice(), "你好")
    with pytest.raises(EngineError, match="no sound"):
        await speak(Voice(), "")


async def test_the_embedded_voice_speaks_though_the_server_has_another(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Any] = []

    def build(kind: str, section: Mapping[str, Any], _context: object) -> object:
        built.append((kind, dict(section), Voice()))
        return built[-1][2]

    monkeypatch.setattr(speaker, "build_one", build)
    folder = Config().server.data_dir
    await spoken("hi", {"engine": "mute"}, folder, lambda _: None)
    await spoken("hi", {"engine": "piper", "speaker": "3"}, folder, lambda _: None)
    assert [entry[:2] for entry in built] == [
        ("tts", {"noise_scale": 0.0, "noise_w": 0.0, "engine": "piper"}),
        ("tts", {"noise_scale": 0.0, "noise_w": 0.0, "engine": "piper", "speaker": "3"}),
    ]
    assert all(entry[2].closed for entry in built)


def test_an_engine_whose_library_is_missing_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    from vanling.engines.build import BuildContext
    from vanling.engines.registry import build_one

    def missing(name: str) -> object:
        raise ImportError("no", name="onnxruntime")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(EngineUnavailableError, match=r"onnxruntime.*pip install 'vanling\[embedded\]'"):
        build_one("tts", {"engine": "piper"}, BuildContext(tmp_path))
