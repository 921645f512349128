"""encode: speech at the voice's rate to packets of the door's downlink format."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from vanling.contracts.audio import AudioSpec
from vanling.contracts.engines import Pcm, Priority, Samples
from vanling.contracts.offload import Offload
from vanling.core.opus import Encoder
from vanling.core.pcm import float32_to_int16
from vanling.core.resample import Resampler
from vanling.pipeline.events import AudioOut, Event, SentenceDone, SpeechPiece
from vanling.pipeline.node import AsyncNode, AsyncTemplate, NodeContext

MAX_JOB_MS = 500
"""Speech encoded in one job, so that a long piece of one session does not hold up the first frame of another."""


class EncodeNode(AsyncNode):
    """Resamples and encodes off the loop; a sentence is flushed to whole frames at its end."""

    def __init__(self, spec: AudioSpec, bitrate: int, complexity: int, offload: Offload, context: NodeContext) -> None:
        self._spec = spec
        self._offload = offload
        self._backlog_ms: Callable[[], float] = context.backlog_ms
        self._thought_only: Callable[[], bool] = context.thought_only
        self._encoder = Encoder(spec.rate, spec.channels, spec.frame_ms, bitrate, complexity)
        self._resampler: Resampler | None = None
        self._rate_in = 0
        self._sent = False

    async def stream(self, upstream: AsyncIterator[Event]) -> AsyncGenerator[Event, None]:
        async for event in upstream:
            if isinstance(event, SpeechPiece):
                for part in _parts(event.pcm):
                    packets = await self._offload.run(self._priority(), self._encode, part, event.pcm.rate)
                    if packets:
                        self._sent = True
                        yield AudioOut(tuple(packets), self._spec.frame_ms)
                continue
            if isinstance(event, SentenceDone):
                packets = await self._offload.run(self._priority(), self._flush)
                if packets:
                    yield AudioOut(tuple(packets), self._spec.frame_ms)
            yield event

    def _priority(self) -> Priority:
        if self._thought_only():
            return Priority.SPECULATION
        if not self._sent:
            return Priority.FIRST_CHUNK
        return Priority.STARVING if self._backlog_ms() < 1000 else Priority.REST

    def _encode(self, samples: Samples, rate: int) -> list[bytes]:
        packets = self._end_resampling() if rate != self._rate_in else []
        if self._resampler is None:
            self._resampler = Resampler(rate, self._spec.rate)
            self._rate_in = rate
        return packets + self._encoder.encode(self._to_channels(self._resampler.process(samples)))

    def _flush(self) -> list[bytes]:
        return self._end_resampling() + self._encoder.flush()

    def _end_resampling(self) -> list[bytes]:
        if self._resampler is None:
            return []
        rest = self._resampler.flush().astype(np.float32, copy=False)
        self._resampler = None
        return self._encoder.encode(self._to_channels(rest))

    def _to_channels(self, samples: Samples) -> NDArray[np.int16]:
        mono = float32_to_int16(samples)
        return mono if self._spec.channels == 1 else np.repeat(mono[:, None], self._spec.channels, axis=1)


def _parts(pcm: Pcm) -> Iterator[Samples]:
    step = max(1, pcm.rate * MAX_JOB_MS // 1000)
    for start in range(0, len(pcm.samples), step):
        yield pcm.samples[start : start + step]


class EncodeTemplate(AsyncTemplate):
    """Brings the session's :class:`AudioSpec`: what the hello announces and the outlet paces by."""

    def __init__(self, spec: AudioSpec, offload: Offload, *, bitrate: int = 24_000, complexity: int = 5) -> None:
        self._spec = spec
        self._offload = offload
        self._bitrate = bitrate
        self._complexity = complexity

    def capabilities(self) -> Sequence[object]:
        return (self._spec,)

    def new_instance(self, context: NodeContext) -> EncodeNode:
        return EncodeNode(self._spec, self._bitrate, self._complexity, self._offload, context)
