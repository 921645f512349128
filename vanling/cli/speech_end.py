"""Where speech ends in a recording, from its loudness alone: the zero point of a latency measured from outside.

The server has its own idea of it (the last voiced window of its detector); a client that wants to know how long a
person really waited must not ask the server.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WINDOW_MS = 10
BELOW_PEAK_DB = 27.0
"""The quietest consonants lie some 25 dB below the loudest vowel."""
ABOVE_NOISE_DB = 10.0
LEAST_DB = -55.0
"""Nothing below this (dBFS) counts as speech, however quiet the recording."""


def last_voiced_sample(pcm: NDArray[np.int16], rate: int) -> int:
    """Samples up to the end of the last 10 ms window that holds speech; 0 where there is none."""
    voiced = np.flatnonzero(voiced_windows(pcm, rate))
    return 0 if len(voiced) == 0 else (int(voiced[-1]) + 1) * (rate * WINDOW_MS // 1000)


def voiced_windows(pcm: NDArray[np.int16], rate: int) -> NDArray[np.bool_]:
    """For each whole window of 10 ms whether it holds speech, measured against the whole recording."""
    window = rate * WINDOW_MS // 1000
    n_windows = len(pcm) // window
    if n_windows == 0:
        return np.zeros(0, np.bool_)
    levels = _levels_db(pcm[: n_windows * window].reshape(n_windows, window))
    peak_db = float(levels.max())
    noise_db = float(np.percentile(levels, 5))
    # A recording without pauses has no noise to measure: its quietest windows are speech, and must not set the bar.
    threshold_db = max(LEAST_DB, peak_db - BELOW_PEAK_DB, min(noise_db + ABOVE_NOISE_DB, peak_db - 15.0))
    loud = np.pad(levels > threshold_db, 1)
    # A single loud window is a click: the end of a file that was cut, a tongue, a key.
    voiced: NDArray[np.bool_] = loud[1:-1] & (loud[:-2] | loud[2:])
    return voiced


def _levels_db(windows: NDArray[np.int16]) -> NDArray[np.float64]:
    power = np.mean((windows.astype(np.float64) / 32768.0) ** 2, axis=1)
    levels: NDArray[np.float64] = 10.0 * np.log10(np.maximum(power, 1e-10))
    return levels
