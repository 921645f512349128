"""Engines that cost nothing: what is left is the server's own work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

import numpy as np

from vanling.contracts.engines import AsrResult, EngineSet, Outcome, Pcm, Priority, Samples, VadStream
from vanling.engines.echo import EchoLlm


class StubVad:
    """Hears voice in every window, or, with ``by_level``, in every window that is not quiet."""

    window_samples = 512

    def __init__(self, *, by_level: bool = False) -> None:
        self._by_level = by_level
        self._voice = np.array([0.9], np.float32)

    def new(self) -> StubVad:
        return self

    def reset(self) -> None:
        pass

    def push(self, streams: Sequence[VadStream], windows: Samples) -> Samples:
        if not self._by_level:
            return self._voice if len(streams) == 1 else np.full(len(streams), 0.9, np.float32)
        return np.where(np.abs(windows).max(axis=1) > 0.01, np.float32(0.9), np.float32(0.0))


class StubAsr:
    """Knows the words without listening."""

    languages = ("en",)

    def __init__(self, text: str = "stub") -> None:
        self._text = text

    def new(self, language: str | None = None) -> StubAsrStream:
        return StubAsrStream(self._text)


class StubAsrStream:
    def __init__(self, text: str) -> None:
        self._text = text
        self.samples = 0

    def feed(self, pcm: Samples) -> None:
        self.samples += len(pcm)

    async def hypothesis(self, priority: Priority = Priority.CONFIRMED) -> AsrResult:
        return AsrResult(Outcome.TEXT, self._text)


class StubTts:
    """Hums for ``seconds`` whatever the sentence, in pieces of a second, at once."""

    rate = 22_050
    language = "en"

    def __init__(self, seconds: float = 4.0) -> None:
        t = np.arange(int(self.rate * seconds)) / self.rate
        self._hum = (0.2 * np.sin(2 * np.pi * 180 * t) * (1 + np.sin(2 * np.pi * 3 * t))).astype(np.float32)

    def can_speak(self, text: str) -> bool:
        return True

    async def synthesize(
        self, sentence: str, *, voice: str | None = None, priority: Callable[[], Priority] = lambda: Priority.REST
    ) -> AsyncIterator[Pcm]:
        for start in range(0, len(self._hum), self.rate):
            yield Pcm(self._hum[start : start + self.rate], self.rate)


def stub_engines(seconds: float = 4.0) -> EngineSet:
    return EngineSet(StubVad(by_level=True), StubAsr(), EchoLlm(), StubTts(seconds))
