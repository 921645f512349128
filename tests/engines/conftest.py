"""The real engines, built once for all tests, and recorded speech to try them on."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from tests.engines.speech import Recording, recordings
from vanling.engines.build import BuildContext
from vanling.engines.models import PIPER_JOE, SILERO, SMOLLM2, WHISPER_TINY_EN, PackagedModel


def need(*modules: str) -> None:
    """Skip, with the reason, where an optional library is not installed."""
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def need_model(model: PackagedModel) -> None:
    if model.folder() is None:
        pytest.skip(f"not installed: {model.distribution}")


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

    engine = build(GgufOptions(context=512), context)
    yield engine
    engine.close()
