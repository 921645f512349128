"""Our engines and the stock ones on the same models, one thread each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines.speech import Recording, recordings
from vanling.contracts.engines import Samples
from vanling.engines.build import BuildContext
from vanling.engines.models import PIPER_JOE, WHISPER_TINY_EN

Run = Callable[[Coroutine[object, object, object]], object]


@pytest.fixture(scope="session")
def run() -> Iterator[Run]:
    """Run a coroutine in one event loop that is kept for all measurements."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> BuildContext:
    return BuildContext(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def speech() -> list[Recording]:
    """Read sentences and short card names, with transcripts."""
    found = recordings("librivox") + recordings("cards")
    if not found:
        pytest.skip("no recorded speech: install Debian's pocketsphinx-testdata")
    return found


@pytest.fixture(scope="session")
def whisper(context: BuildContext):  # type: ignore[no-untyped-def]
    pytest.importorskip("ctranslate2")
    from vanling.engines.options import WhisperOptions
    from vanling.engines.whisper.engine import build

    engine = build(WhisperOptions(), context)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def piper(context: BuildContext):  # type: ignore[no-untyped-def]
    pytest.importorskip("gruut")
    from vanling.engines.options import PiperOptions
    from vanling.engines.piper.engine import build

    engine = build(PiperOptions(), context)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def stock_whisper():  # type: ignore[no-untyped-def]
    """faster-whisper on the same tiny.en: int8, one thread."""
    faster_whisper = pytest.importorskip("faster_whisper")
    folder = WHISPER_TINY_EN.folder()
    assert folder is not None
    return faster_whisper.WhisperModel(
        str(folder / "model"), device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True
    )


@pytest.fixture(scope="session")
def stock_piper():  # type: ignore[no-untyped-def]
    """piper-tts on the same voice: one thread, whole sentences."""
    piper = pytest.importorskip("piper")
    import json

    import onnxruntime

    folder = PIPER_JOE.folder()
    assert folder is not None
    model = folder / PIPER_JOE.files[0].path
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    config = piper.PiperConfig.from_dict(json.loads(Path(f"{model}.json").read_bytes()))
    return piper.PiperVoice(config=config, session=session)


class Stock:
    """The stock stack: whole 30 s windows, greedy; whole sentences."""

    def __init__(self, whisper: Any, piper: Any) -> None:
        self._whisper = whisper
        self._piper = piper

    def hear(self, audio: Samples) -> str:
        segments, _ = self._whisper.transcribe(audio, beam_size=1, language="en")
        return " ".join(segment.text.strip() for segment in segments)

    def first_chunk(self, text: str) -> object:
        return next(iter(self._piper.synthesize(text)))


@pytest.fixture(scope="session")
def stock(stock_whisper, stock_piper) -> Stock:  # type: ignore[no-untyped-def]
    return Stock(stock_whisper, stock_piper)
