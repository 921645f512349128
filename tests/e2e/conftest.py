"""One server with the real engines for all end-to-end tests, in the session's event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from numpy.typing import NDArray

from tests.e2e.speech import RATE, Recording, recordings
from vanling.cli.speaker import spoken
from vanling.config import Config, load_config
from vanling.core.resample import Resampler
from vanling.engines.registry import BuiltEngines, build_engines
from vanling.server.runtime import Server

EVEN_VOICE = {"engine": "piper", "noise_scale": 0.0, "noise_w": 0.0}
"""A voice that says the same words the same way each time, so that what is heard back is no matter of luck."""

MISSING = "no recorded speech: install Debian's pocketsphinx-testdata or the moonshine-voice package"


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def config(data_dir: Path) -> Config:
    return load_config(None, ["server.port=0", f"server.data_dir={data_dir}"], {})


@pytest.fixture(scope="session")
def built(data_dir: Path) -> BuiltEngines:
    """The embedded engines; missing packages fail here, since the ``test`` extra brings them."""
    engines = build_engines({"tts": EVEN_VOICE}, data_dir=data_dir)
    yield engines
    engines.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server(config: Config, built: BuiltEngines) -> AsyncIterator[Server]:
    server = Server(config, engines=built.engines)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture(scope="session")
def recording() -> Recording:
    found = recordings()
    if not found:
        pytest.skip(MISSING)
    return found[0]


@pytest.fixture(scope="session")
def say(config: Config) -> Callable[[str], Coroutine[Any, Any, NDArray[np.int16]]]:
    """Speak a sentence as the commands do, the same each time: int16 mono at 16 kHz."""

    async def words(text: str) -> NDArray[np.int16]:
        return await spoken(text, config.engine_section("tts"), config.server.data_dir, lambda _: None)

    return words


@pytest.fixture(scope="session")
def transcribe(built: BuiltEngines) -> Callable[[NDArray[np.int16], int], Coroutine[Any, Any, str]]:
    """What the recogniser hears in a piece of audio."""

    async def words(pcm: NDArray[np.int16], rate: int) -> str:
        resampler = Resampler(rate, RATE)
        stream = built.engines.asr.new()
        stream.feed(np.concatenate([resampler.process(pcm), resampler.flush()]).astype(np.float32) / 32768)
        return (await stream.hypothesis()).text

    return words
