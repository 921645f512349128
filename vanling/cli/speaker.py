"""A voice for people who do not want to speak to their computer: text to the 16 kHz audio of a microphone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from vanling.cli.microphone import RATE
from vanling.cli.wav import resample
from vanling.contracts.engines import Tts
from vanling.engines.build import BuildContext
from vanling.engines.registry import build_one, closing_engine
from vanling.errors import EngineError

VOICE = "piper"
EVEN = {"noise_scale": 0.0, "noise_w": 0.0}
"""The same words always sound the same: a device that is to be understood does not vary its voice for liveliness."""


async def spoken(
    text: str, section: dict[str, Any], data_dir: Path, report: Callable[[str], None], instead: str = ""
) -> NDArray[np.int16]:
    """``text`` as int16 mono at 16 kHz, spoken by the embedded voice.

    ``section`` is the configuration's ``tts``; where that names another engine, the embedded voice speaks with its
    defaults. ``instead`` says what to do about a text that it cannot speak.

    Raises:
        EngineError: there is no voice here, or it has no sounds for this text.
    """
    report("loading the voice")
    chosen = section if section.get("engine") == VOICE else {"engine": VOICE}
    voice = await asyncio.to_thread(build_one, "tts", {**EVEN, **chosen}, BuildContext(data_dir, report))
    with closing_engine(voice):
        return await speak(cast(Tts, voice), text, instead)


async def speak(voice: Tts, text: str, instead: str = "") -> NDArray[np.int16]:
    """``text`` as int16 mono at 16 kHz, spoken by ``voice``."""
    if not voice.can_speak(text):
        hint = f": {instead}" if instead else ""
        raise EngineError(f"the voice (language {voice.language}) has no sounds for this text{hint}")
    chunks = [chunk.samples async for chunk in voice.synthesize(text)]
    if not chunks:
        raise EngineError("the voice made no sound of this text")
    pcm = np.clip(np.concatenate(chunks) * 32767.0, -32768, 32767).astype(np.int16)
    return resample(pcm, voice.rate, RATE)
