"""Speech-like audio for the benchmarks of the core."""

import numpy as np
import numpy.typing as npt
import pytest


@pytest.fixture(scope="session")
def speech() -> npt.NDArray[np.int16]:
    """3 s at 16 kHz: a gliding buzz with a vowel's formants, a syllable rhythm and some breath."""
    rate = 16000
    t = np.arange(rate * 3) / rate
    pitch = 2 * np.pi * (120 * t + 8 * np.sin(2 * np.pi * 1.5 * t))
    partials = np.arange(1, 25)
    formants = [(600, 500, 1.0), (1700, 400, 0.4)]
    strength = sum(height * np.exp(-(((partials * 120 - at) / width) ** 2)) for at, width, height in formants)
    sound = (np.sin(np.outer(pitch, partials)) * strength).sum(axis=1) * (0.55 + 0.45 * np.sin(2 * np.pi * 3 * t))
    sound += np.random.default_rng(0).normal(size=len(t)) * 0.05
    return (sound / np.abs(sound).max() * 12000).astype(np.int16)
