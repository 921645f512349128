"""Signals that the tests of the core share."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says nothing on a busy machine.
settings.register_profile("core", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("core")

Pcm = npt.NDArray[np.int16]


@pytest.fixture(scope="session")
def voice() -> Callable[..., Pcm]:
    """A voice-like signal: a gliding buzz with a vowel's formants and a syllable rhythm. Deterministic."""

    def make(rate: int, seconds: float = 1.2, channels: int = 1) -> Pcm:
        t = np.arange(int(rate * seconds)) / rate
        pitch = 2 * np.pi * (120 * t + 8 * np.sin(2 * np.pi * 1.5 * t))
        partials = np.arange(1, int(min(3400, rate * 0.45) / 140))
        strength = np.exp(-(((partials * 120 - 600) / 500) ** 2)) + 0.4 * np.exp(
            -(((partials * 120 - 1700) / 400) ** 2)
        )
        sound = (np.sin(np.outer(pitch, partials)) * strength).sum(axis=1) * (0.55 + 0.45 * np.sin(2 * np.pi * 3 * t))
        pcm = (sound / np.abs(sound).max() * 12000).astype(np.int16)
        return pcm if channels == 1 else np.ascontiguousarray(np.stack([pcm, pcm // 2], axis=1))

    return make


@pytest.fixture(scope="session")
def likeness() -> Callable[[npt.ArrayLike, npt.ArrayLike], float]:
    """Correlation of two signals at their best alignment within 20 ms of 16 kHz: 1 is the same shape."""

    def measure(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
        x, y = np.asarray(a, float), np.asarray(b, float)
        n = min(len(x), len(y)) - 320
        best = 0.0
        for lag in range(320):
            u, v = x[:n], y[lag : lag + n]
            best = max(best, float(u @ v / np.sqrt((u @ u) * (v @ v) + 1e-9)))
        return best

    return measure
