"""The real engines, built once for all tests, and recorded speech to try them on."""

from __future__ import annotations

import importlib.util
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from vanling.contracts.engines import MODEL_RATE, Samples
from vanling.engines.build import BuildContext
from vanling.engines.models import PIPER_JOE, SILERO, SMOLLM2, WHISPER_TINY_EN, PackagedModel

POCKETSPHINX = Path("/usr/share/pocketsphinx/test/data")
"""Debian's pocketsphinx-testdata: LibriVox and playing-card recordings with their transcripts."""


@dataclass(frozen=True, slots=True)
class Recording:
    name: str
    audio: Samples
    text: str


def need(*modules: str) -> None:
    """Skip, with the reason, where an optional library is not installed."""
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def need_model(model: PackagedModel) -> None:
    if model.folder() is None:
        pytest.skip(f"not installed: {model.distribution}")


def read_wav(path: Path) -> Samples:
    """Mono float32 at 16 kHz; other rates are resampled linearly, which is enough for speech tests."""
    with wave.open(str(path)) as file:
        audio = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
        audio = audio.reshape(-1, file.getnchannels()).mean(axis=1)
        rate = file.getframerate()
    if rate == MODEL_RATE:
        return audio
    return to_model_rate(audio, rate)


def to_model_rate(audio: Samples, rate: int) -> Samples:
    """Crude resampling: a moving average against aliases, then linear interpolation."""
    if rate > MODEL_RATE:
        audio = np.convolve(audio, np.ones(2) / 2, "same")
    at = np.arange(int(len(audio) * MODEL_RATE / rate)) * (rate / MODEL_RATE)
    return np.interp(at, np.arange(len(audio)), audio).astype(np.float32)


def recordings(folder: str) -> list[Recording]:
    """Recordings of one folder of pocketsphinx-testdata, with what is said in them."""
    files = {"librivox": "transcription", "cards": "cards.transcription"}
    transcript = POCKETSPHINX / folder / files[folder]
    if not transcript.is_file():
        return []
    found = []
    for line in transcript.read_text().splitlines():
        text, _, name = line.rpartition("(")
        path = transcript.parent / f"{name.rstrip(') ')}.wav"
        if path.is_file():
            found.append(Recording(path.stem, read_wav(path), text.replace("<s>", "").replace("</s>", "").strip()))
    return found


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> BuildContext:
    return BuildContext(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def speech() -> list[Recording]:
    """Recorded sentences with transcripts."""
    found = recordings("librivox")
    if not found:
        pytest.skip("no recorded speech: install Debian's pocketsphinx-testdata")
    return found


@pytest.fixture(scope="session")
def silero(context: BuildContext):  # type: ignore[no-untyped-def]
    need("onnxruntime")
    need_model(SILERO)
    from vanling.engines.options import SileroOptions
    from vanling.engines.silero import build

    return build(SileroOptions(), context)


@pytest.fixture(scope="session")
def whisper(context: BuildContext) -> Iterator[object]:
    need("ctranslate2", "tokenizers")
    need_model(WHISPER_TINY_EN)
    from vanling.engines.options import WhisperOptions
    from vanling.engines.whisper.engine import build

    engine = build(WhisperOptions(), context)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def piper(context: BuildContext) -> Iterator[object]:
    need("onnxruntime", "onnx", "gruut")
    need_model(PIPER_JOE)
    from vanling.engines.options import PiperOptions
    from vanling.engines.piper.engine import build

    engine = build(PiperOptions(), context)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def gguf(context: BuildContext) -> Iterator[object]:
    need("xllamacpp")
    need_model(SMOLLM2)
    from vanling.engines.gguf import build
    from vanling.engines.options import GgufOptions

    engine = build(GgufOptions(), context)
    yield engine
    engine.close()
