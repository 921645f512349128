"""A voice's sound, made in growing chunks from its three parts: the first after 20 frames instead of all of them.

A frame is one hop of the vocoder (256 samples of 22 kHz, 11.6 ms). Flow and vocoder see a few frames beyond each chunk;
with enough of them the result is that of one full call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vanling.contracts.engines import Samples
from vanling.engines.onnx_session import open_session

CHUNK_FRAMES = (20, 40, 80, 160, 320)
"""The last size repeats. Each chunk plays for longer than the next takes to make, even at a third of our speed."""

Ids = NDArray[np.int64]
Feed = dict[str, NDArray[Any]]


class Voice(Protocol):
    """Makes sound of phoneme ids; its iterator does the work of one chunk per step."""

    def speak(self, ids: Ids, scales: Samples, speaker: int) -> Iterator[Samples]: ...


class WholeVoice:
    """The voice as published: one chunk per sentence, when all of it is done."""

    def __init__(self, model: Path, threads: int) -> None:
        self._voice = _Part(model, threads)

    def speak(self, ids: Ids, scales: Samples, speaker: int) -> Iterator[Samples]:
        yield self._voice(_sentence(ids, scales), speaker)[0].reshape(-1)


@dataclass(frozen=True, slots=True)
class StageNames:
    """What a cut voice's tensors are called, and how much context its parts need."""

    z_p: str
    """Encoder → flow, (1, channels, frames)."""
    mask: str
    """Which frames are real, (1, 1, frames)."""
    z: str
    """Flow → vocoder, (1, channels, frames)."""
    flow_context: int = 0
    """Frames that the flow sees on either side of those it is asked for."""
    vocoder_context: int = 0
    hop: int = 0
    """Samples per frame."""


class StagedVoice:
    """The voice in three parts, streamed."""

    def __init__(self, folder: Path, names: StageNames, threads: int) -> None:
        self.names = names
        self._encoder = _Part(folder / "encoder.onnx", threads)
        self._flow = _Part(folder / "flow.onnx", threads)
        self._vocoder = _Part(folder / "vocoder.onnx", threads)

    def speak(self, ids: Ids, scales: Samples, speaker: int) -> Iterator[Samples]:
        z_p, mask = self.encode(ids, scales, speaker)
        yield from self.decode(z_p, mask, speaker)

    def encode(self, ids: Ids, scales: Samples, speaker: int = 0) -> tuple[Samples, Samples]:
        """(z_p, mask) of a whole sentence; the noise in it is drawn anew at each call."""
        z_p, mask = self._encoder(_sentence(ids, scales), speaker)
        return z_p, mask

    def decode_whole(self, z_p: Samples, mask: Samples, speaker: int = 0) -> Samples:
        """The sound in one call of flow and vocoder: what streaming has to equal."""
        z = self._flow({self.names.z_p: z_p, self.names.mask: mask}, speaker)[0]
        return self._vocoder({self.names.z: z}, speaker)[0].reshape(-1)

    def decode(self, z_p: Samples, mask: Samples, speaker: int = 0) -> Iterator[Samples]:
        """The sound in chunks of :data:`CHUNK_FRAMES`."""
        n_frames = z_p.shape[2]
        context, hop = self.names.vocoder_context, self.names.hop
        sizes: tuple[int, ...] = CHUNK_FRAMES
        z = np.empty_like(z_p)
        flowed = begin = 0
        while begin < n_frames:
            end = min(n_frames, begin + sizes[0])
            behind, ahead = max(0, begin - context), min(n_frames, end + context)
            if ahead > flowed:
                z[:, :, flowed:ahead] = self._flow_between(z_p, mask, flowed, ahead, speaker)
                flowed = ahead
            sound = self._vocoder({self.names.z: z[:, :, behind:ahead]}, speaker)[0].reshape(-1)
            yield sound[(begin - behind) * hop : (end - behind) * hop]
            begin, sizes = end, sizes[1:] or sizes

    def _flow_between(self, z_p: Samples, mask: Samples, begin: int, end: int, speaker: int) -> Samples:
        behind, ahead = max(0, begin - self.names.flow_context), end + self.names.flow_context
        part = self._flow(
            {self.names.z_p: z_p[:, :, behind:ahead], self.names.mask: mask[:, :, behind:ahead]}, speaker
        )[0]
        return part[:, :, begin - behind : end - behind]


def _sentence(ids: Ids, scales: Samples) -> Feed:
    return {"input": ids[np.newaxis], "input_lengths": np.array([len(ids)], np.int64), "scales": scales}


class _Part:
    """One ONNX file; who speaks is passed to the parts that ask for it."""

    def __init__(self, path: Path, threads: int) -> None:
        self._session = open_session(path, threads)
        self._wants_speaker = any(value.name == "sid" for value in self._session.get_inputs())

    def __call__(self, feed: Feed, speaker: int) -> list[Samples]:
        if self._wants_speaker:
            feed["sid"] = np.array([speaker], np.int64)
        outputs: list[Samples] = self._session.run(None, feed)
        return outputs
