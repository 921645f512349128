"""Where to cut speech that is longer than the model's window: in the middle of its longest pause."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vanling.contracts.engines import Samples

STEP = 320
"""Samples of one loudness reading, 20 ms."""
QUIET_SHARE = 0.15
"""Quiet = below this share of the loud passages' level, or near the quietest reading."""


def cut_point(audio: Samples, earliest: int, latest: int) -> int:
    """Sample in ``earliest…latest`` at which to cut: the middle of the longest pause there, else the quietest 20 ms."""
    first, last = earliest // STEP, latest // STEP
    readings = audio[: last * STEP].reshape(-1, STEP)
    level = np.sqrt(np.mean(np.square(readings, dtype=np.float32), axis=1))
    floor = float(level.min())
    quiet = level[first:] < max(2.0 * floor, floor + QUIET_SHARE * (float(np.percentile(level, 90)) - floor))
    begin, length = _longest_run(quiet)
    if length == 0:
        return int((first + int(np.argmin(level[first:]))) * STEP + STEP // 2)
    return int((first + begin) * STEP + length * STEP // 2)


def _longest_run(flags: NDArray[np.bool_]) -> tuple[int, int]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    if not len(edges):
        return 0, 0
    begins, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - begins))
    return int(begins[longest]), int(ends[longest] - begins[longest])
