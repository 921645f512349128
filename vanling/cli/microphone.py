"""The microphone of a simulated device: frames of 60 ms at 16 kHz, each handed over when its last sample was spoken."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vanling.cli.speech_end import WINDOW_MS, voiced_windows

RATE = 16_000
FRAME_MS = 60
FRAME = RATE * FRAME_MS // 1000
WINDOW = RATE * WINDOW_MS // 1000
BREATH_MS = 60
LEAD_SILENCE_MS = 200
"""A person does not begin to speak in the very millisecond in which the microphone opens."""


class Microphone(Protocol):
    """Where the uplink's audio comes from."""

    async def frame(self) -> NDArray[np.int16]:
        """The next :data:`FRAME` samples, as soon as real time has reached their end."""

    @property
    def finished(self) -> bool:
        """Whether all that is to be said has been handed over; what follows is silence."""

    def speech_end_ns(self, pause_ms: int = 0) -> int | None:
        """When the last voiced sample so far was spoken, by the monotonic clock; None before the first.

        With ``pause_ms``, the last one that was followed by a pause of at least that length, if there was one: a
        speaker may have begun again while the turn that the pause ended was still being answered.
        """


class Clip:
    """A recording, spoken in real time between silences that never end."""

    def __init__(self, pcm: NDArray[np.int16], lead_ms: int = LEAD_SILENCE_MS) -> None:
        """``pcm``: int16 mono at :data:`RATE`."""
        self._lead = RATE * lead_ms // 1000
        self._pcm = np.concatenate([np.zeros(self._lead, np.int16), pcm.astype(np.int16, copy=False)])
        self._voiced = self._lead // WINDOW + np.flatnonzero(voiced_windows(pcm, RATE))
        """Which windows of what is sent hold speech."""
        self._position = 0
        self._began_ns = 0

    @property
    def finished(self) -> bool:
        return self._position >= len(self._pcm)

    def speech_end_ns(self, pause_ms: int = 0) -> int | None:
        spoken = self._voiced[: np.searchsorted(self._voiced, self._position // WINDOW)]
        if len(spoken) == 0:
            return None
        last = int(spoken[-1])
        if pause_ms:
            solid = _without_breaths(spoken)
            pauses = np.diff(np.append(solid, self._position // WINDOW)) - 1
            ends = np.flatnonzero(pauses * WINDOW_MS >= pause_ms)
            last = int(solid[ends[-1]]) if len(ends) else last
        return self._began_ns + (last + 1) * WINDOW_MS * 1_000_000

    async def frame(self) -> NDArray[np.int16]:
        if self._position == 0:
            self._began_ns = time.monotonic_ns()
        end = self._position + FRAME
        # Absolute deadlines: a frame that leaves late must not push all later ones back.
        await sleep_until(self._began_ns + end * 1_000_000_000 // RATE)
        samples = np.zeros(FRAME, np.int16)
        piece = self._pcm[self._position : end]
        samples[: len(piece)] = piece
        self._position = end
        return samples


def _without_breaths(windows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Numbers of voiced windows without runs under 60 ms: a breath drawn in a pause does not make it two pauses."""
    runs = np.split(windows, np.flatnonzero(np.diff(windows) > 1) + 1)
    kept = [run for run in runs if len(run) * WINDOW_MS >= BREATH_MS]
    return np.concatenate(kept) if kept else windows


async def sleep_until(deadline_ns: int) -> None:
    """Return at ``deadline_ns`` of the monotonic clock; at once, but not without a turn of the loop, if it is past."""
    await asyncio.sleep(max(0.0, (deadline_ns - time.monotonic_ns()) / 1e9))
