"""Recorded speech that packages ship, with what is said in it."""

from __future__ import annotations

import importlib.util
import re
import wave
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vanling.core.resample import Resampler

RATE = 16_000
POCKETSPHINX = Path("/usr/share/pocketsphinx/test/data/librivox")


@dataclass(frozen=True)
class Recording:
    path: Path
    text: str

    def samples(self) -> NDArray[np.int16]:
        """int16 mono at 16 kHz."""
        with wave.open(str(self.path)) as file:
            rate = file.getframerate()
            pcm = np.frombuffer(file.readframes(file.getnframes()), np.int16)
        if rate == RATE:
            return pcm
        resampler = Resampler(rate, RATE)
        return np.concatenate([resampler.process(pcm), resampler.flush()])


def recordings() -> list[Recording]:
    """LibriVox readings of Debian's ``pocketsphinx-testdata``, and the recording of the ``moonshine-voice`` wheel.

    Only those without a pause that would end a turn.
    """
    found = []
    name = "sense_and_sensibility_01_austen_64kb"
    for number, text in (
        ("0890", "unless to be rather cold hearted and rather selfish is to be ill disposed"),
        ("0930", "he might even have been made amiable himself"),
    ):
        path = POCKETSPHINX / f"{name}-{number}.wav"
        if path.is_file():
            found.append(Recording(path, text))
    spec = importlib.util.find_spec("moonshine_voice")
    if spec is not None and spec.submodule_search_locations:
        path = Path(spec.submodule_search_locations[0]) / "assets" / "clone-test.wav"
        if path.is_file():
            found.append(Recording(path, "i think that america do it very well"))
    return found


def plain(text: str) -> str:
    """Lower-case words without marks."""
    return " ".join(re.sub(r"[^\w']+", " ", text.lower()).split())


def alike(heard: str, said: str) -> float:
    """Share of words that two texts have in common, in order: 0…1. The recogniser itself errs on synthetic speech."""
    return SequenceMatcher(None, plain(heard).split(), plain(said).split()).ratio()
