"""Engines that follow a script. Nothing here takes time by itself: what has to be late waits for an event of the test.

A step of a script is a value to give, an exception to raise, ``Held(event, step)`` to wait first, or ``HANG``.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from vanling.contracts.engines import (
    MODEL_RATE,
    AsrResult,
    Delta,
    EngineSet,
    LlmOptions,
    Message,
    Outcome,
    Pcm,
    Priority,
    Role,
    Samples,
    VadStream,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Held(Generic[T]):
    """Do ``step`` once ``event`` is set."""

    event: asyncio.Event
    step: T | Exception


class Hang:
    """Never answer; only cancellation ends it."""


HANG = Hang()

Step: TypeAlias = T | Exception | Held[T] | Hang


async def take(step: Step[T]) -> T:
    """Do one step of a script."""
    if isinstance(step, Hang):
        await asyncio.Event().wait()
        raise AssertionError("a hang ended")
    if isinstance(step, Held):
        await step.event.wait()
        step = step.step
    if isinstance(step, Exception):
        raise step
    return step


class FakeVadStream:
    """Counts its windows and resets."""

    def __init__(self) -> None:
        self.windows = 0
        self.resets = 0

    def reset(self) -> None:
        self.resets += 1


class FakeVad:
    """Hears a voice in every window whose peak is over 0.1; or follows ``script`` (shared by all streams), then that.

    An exception in the script is raised, and takes its batch with it.
    """

    window_samples = 512

    def __init__(self, script: Iterable[float | Exception] = (), *, voice: float = 0.95, silence: float = 0.02) -> None:
        self.script = deque(script)
        self.voice = voice
        self.silence = silence
        self.streams: list[FakeVadStream] = []
        self.batches: list[int] = []
        """Number of windows of every call."""

    def new(self) -> FakeVadStream:
        self.streams.append(FakeVadStream())
        return self.streams[-1]

    def push(self, streams: Sequence[VadStream], windows: Samples) -> Samples:
        self.batches.append(len(streams))
        probabilities = []
        for stream, window in zip(streams, windows, strict=True):
            assert isinstance(stream, FakeVadStream)
            stream.windows += 1
            step = self.script.popleft() if self.script else self._loudness(window)
            if isinstance(step, Exception):
                raise step
            probabilities.append(step)
        return np.array(probabilities, np.float32)

    def _loudness(self, window: Samples) -> float:
        return self.voice if float(np.max(np.abs(window))) > 0.1 else self.silence


class FakeAsr:
    """Answers each ``hypothesis()`` with the next step of its script, then with ``otherwise``.

    A text is an outcome TEXT, the empty text EMPTY; without any audio the outcome is NOTHING whatever the script says.
    """

    def __init__(
        self,
        script: Iterable[Step[str | AsrResult]] = (),
        *,
        otherwise: Step[str | AsrResult] = "hello there",
        languages: tuple[str, ...] = ("en",),
    ) -> None:
        self.script = deque(script)
        self.otherwise = otherwise
        self.languages = languages
        self.streams: list[FakeAsrStream] = []
        self.calls: list[tuple[Priority, float]] = []
        """Priority and ms of audio of every hypothesis asked for, in order."""
        self.cancelled = 0

    def new(self, language: str | None = None) -> FakeAsrStream:
        self.streams.append(FakeAsrStream(self, language))
        return self.streams[-1]


class FakeAsrStream:
    """One utterance; ``audio`` is what it was fed."""

    def __init__(self, asr: FakeAsr, language: str | None) -> None:
        self._asr = asr
        self.language = language
        self._chunks: list[Samples] = []

    @property
    def audio(self) -> Samples:
        return np.concatenate(self._chunks) if self._chunks else np.zeros(0, np.float32)

    def feed(self, pcm: Samples) -> None:
        self._chunks.append(np.array(pcm, np.float32))

    async def hypothesis(self, priority: Priority = Priority.CONFIRMED) -> AsrResult:
        audio_ms = 1000.0 * sum(map(len, self._chunks)) / MODEL_RATE
        self._asr.calls.append((priority, audio_ms))
        if not self._chunks:
            return AsrResult(Outcome.NOTHING)
        try:
            said: str | AsrResult = await take(self._asr.script.popleft() if self._asr.script else self._asr.otherwise)
        except asyncio.CancelledError:
            self._asr.cancelled += 1
            raise
        if isinstance(said, AsrResult):
            return said
        return AsrResult(Outcome.TEXT if said else Outcome.EMPTY, said, audio_ms=audio_ms)


def _not_ascii(text: str) -> bool:
    return not any(character.isascii() for character in text)


class FakeTts:
    """Speaks ``ms_per_character`` of a steady 0.25 per sentence, in chunks of ``chunk_ms``.

    ``script`` gives, by sentence, steps to do before the chunks: the number of chunks after which the step is done is
    its place in the list, ``None`` does nothing.
    """

    def __init__(
        self,
        script: Mapping[str, Sequence[Step[None]]] | None = None,
        *,
        rate: int = 16_000,
        language: str = "en",
        chunk_ms: float = 100.0,
        ms_per_character: float = 50.0,
        unspeakable: Callable[[str], bool] = _not_ascii,
    ) -> None:
        self.script = dict(script or {})
        self.rate = rate
        self.language = language
        self.chunk_ms = chunk_ms
        self.ms_per_character = ms_per_character
        self._unspeakable = unspeakable
        self.spoken: list[str] = []
        """Sentences begun."""
        self.finished: list[str] = []
        """Sentences spoken to their end."""
        self.stopped: list[str] = []
        """Sentences whose iterator was closed or cancelled before its end."""
        self.priorities: list[Priority] = []

    def can_speak(self, text: str) -> bool:
        return not self._unspeakable(text)

    def duration_ms(self, sentence: str) -> float:
        return len(sentence) * self.ms_per_character

    async def synthesize(
        self,
        sentence: str,
        *,
        voice: str | None = None,
        priority: Callable[[], Priority] = lambda: Priority.FIRST_CHUNK,
    ) -> AsyncIterator[Pcm]:
        self.spoken.append(sentence)
        steps = deque(self.script.get(sentence, ()))
        left = round(self.duration_ms(sentence) * self.rate / 1000)
        chunk = round(self.chunk_ms * self.rate / 1000)
        done = False
        try:
            while left > 0:
                self.priorities.append(priority())
                if steps:
                    await take(steps.popleft())
                yield Pcm(np.full(min(chunk, left), 0.25, np.float32), self.rate)
                left -= chunk
            done = True
        finally:
            (self.finished if done else self.stopped).append(sentence)


class FakeLlm:
    """Answers each question with the next of ``answers``, then with ``otherwise``; "{said}" becomes the user's words.

    An answer is a text, given word by word, or a list of steps, each a piece of text.
    """

    def __init__(
        self,
        answers: Iterable[str | Sequence[Step[str]]] = (),
        *,
        otherwise: str | Sequence[Step[str]] = "You said: {said}",
        pure: bool = True,
    ) -> None:
        self.answers = deque(answers)
        self.otherwise = otherwise
        self.pure = pure
        self.asked: list[tuple[Message, ...]] = []
        self.options: list[LlmOptions] = []
        self.stopped = 0
        """Answers whose iterator was closed, cancelled or failed before its end."""

    async def stream(self, messages: Sequence[Message], options: LlmOptions = LlmOptions()) -> AsyncIterator[Delta]:  # noqa: B008
        self.asked.append(tuple(messages))
        self.options.append(options)
        said = next((message.text for message in reversed(messages) if message.role is Role.USER), "")
        answer = self.answers.popleft() if self.answers else self.otherwise
        steps: Sequence[Step[str]] = _words(answer) if isinstance(answer, str) else answer
        done = False
        try:
            for step in steps:
                yield Delta((await take(step)).replace("{said}", said))
            done = True
        finally:
            self.stopped += not done


def fake_engines(
    *, vad: FakeVad | None = None, asr: FakeAsr | None = None, llm: FakeLlm | None = None, tts: FakeTts | None = None
) -> EngineSet:
    """A server's engines, all of them fakes."""
    return EngineSet(vad=vad or FakeVad(), asr=asr or FakeAsr(), llm=llm or FakeLlm(), tts=tts or FakeTts())


def _words(text: str) -> list[str]:
    return [word for word in text.replace(" ", " \0").split("\0") if word]
