"""Whisper's log-mel spectrogram in numpy: 25 ms Hann windows every 10 ms, Slaney's mel bands, 80 dB deep.

Figures from the Whisper paper (arXiv:2212.04356, section 2.2) and its published front end.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from vanling.contracts.engines import MODEL_RATE, Samples

WINDOW = 400
HOP = 160
FRAMES_PER_S = MODEL_RATE // HOP
TAIL = 160
"""Zeros after the audio, as the reference front end appends them."""


def log_mel(audio: Samples, n_mels: int = 80) -> Samples:
    """(n,) samples at 16 kHz → (n_mels, 1 + n // 160) features, about -1…1.5."""
    power = _power_spectrum(np.concatenate((audio, np.zeros(TAIL, np.float32))))
    mel = _mel_bands(n_mels) @ power
    features = np.log10(np.maximum(mel, 1e-10))
    np.maximum(features, features.max() - 8.0, out=features)
    scaled: Samples = ((features + 4.0) / 4.0).astype(np.float32)
    return scaled


def pad_frames(features: Samples, frames: int) -> Samples:
    """Cut or fill with zeros, as the model was trained, to ``frames`` columns; contiguous."""
    padded = np.zeros((features.shape[0], frames), np.float32)
    kept = min(frames, features.shape[1])
    padded[:, :kept] = features[:, :kept]
    return padded


def _power_spectrum(audio: Samples) -> NDArray[np.float32]:
    centred = np.pad(audio, WINDOW // 2, mode="reflect" if len(audio) > WINDOW // 2 else "constant")
    frames = np.lib.stride_tricks.sliding_window_view(centred, WINDOW)[::HOP]
    # The reference drops the last frame.
    spectrum = np.fft.rfft(frames[:-1] * _hann(), axis=1)
    return (spectrum.real**2 + spectrum.imag**2).T.astype(np.float32)


@cache
def _hann() -> NDArray[np.float32]:
    """Periodic Hann window."""
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)


@cache
def _mel_bands(n_mels: int) -> NDArray[np.float32]:
    """Triangles of equal area on Slaney's mel scale, (n_mels, WINDOW // 2 + 1)."""
    bins = np.fft.rfftfreq(WINDOW, 1 / MODEL_RATE)
    edges = _to_hz(np.linspace(0.0, _to_mel(MODEL_RATE / 2), n_mels + 2))
    low, centre, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising = (bins - low) / (centre - low)
    falling = (high - bins) / (high - centre)
    bands: NDArray[np.float64] = np.maximum(0.0, np.minimum(rising, falling)) * (2.0 / (high - low))
    return bands.astype(np.float32)


# Slaney: linear up to 1 kHz at 200/3 Hz per mel, then 27 mel per factor 6.4.
_HZ_PER_MEL = 200.0 / 3
_BREAK_HZ = 1000.0
_BREAK_MEL = _BREAK_HZ / _HZ_PER_MEL
_LOG_STEP = np.log(6.4) / 27.0


def _to_mel(hz: float) -> float:
    if hz < _BREAK_HZ:
        return hz / _HZ_PER_MEL
    return float(_BREAK_MEL + np.log(hz / _BREAK_HZ) / _LOG_STEP)


def _to_hz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(mel < _BREAK_MEL, mel * _HZ_PER_MEL, _BREAK_HZ * np.exp(_LOG_STEP * (mel - _BREAK_MEL)))
