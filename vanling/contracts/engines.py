"""What the conversation needs of a voice detector, a recogniser, a language model and a voice.

Audio is mono float32 in [-1, 1]. Recognisers and detectors take :data:`MODEL_RATE`; voices answer at their own rate.
Everything that may take longer than a millisecond is a coroutine or an async iterator and may be cancelled at any
await: a job that a worker thread has not begun is then dropped, one that runs is left to finish unheard.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

MODEL_RATE = 16_000
"""Sample rate in Hz of all audio that goes into detectors and recognisers."""

Samples = NDArray[np.float32]


class Priority(IntEnum):
    """Order in which worker threads take jobs (CONVERSATION rule 7.3); lower goes first."""

    CONFIRMED = 0
    """Recognition of a turn that has ended, or of a request."""
    FIRST_CHUNK = 1
    """First audio of a reply or a request."""
    STARVING = 2
    """A further sentence while less than one second of audio is left."""
    SPECULATION = 3
    """Work that a resumed voice would throw away."""
    REST = 4


@dataclass(frozen=True, slots=True)
class Pcm:
    """A piece of audio: mono float32 samples at ``rate`` Hz."""

    samples: Samples
    rate: int

    @property
    def duration_ms(self) -> float:
        return 1000.0 * len(self.samples) / self.rate


class VadStream(Protocol):
    """The state that a voice detector keeps for one stream of audio."""

    def reset(self) -> None:
        """Forget the audio so far."""


class Vad(Protocol):
    """A voice activity detector, shared by all streams. Its calls block: they belong in a worker thread."""

    window_samples: int
    """Samples of one window at :data:`MODEL_RATE`."""

    def new(self) -> VadStream: ...

    def push(self, streams: Sequence[VadStream], windows: Samples) -> Samples:
        """Speech probability of one window for each of n different streams: float32 (n, window_samples) → (n,)."""


class VadHandle(Protocol):
    """One stream's place in a :class:`VadQueue`. All calls belong to the event loop and return at once."""

    @property
    def dropped(self) -> int:
        """Windows thrown away (the oldest first) because the detector fell too far behind."""

    def push(self, window: Samples) -> None:
        """Queue one window; ``on_window`` gets it back with its probability, in push order, unless it was dropped."""

    def reset(self) -> None:
        """Forget the audio so far: takes effect between the windows pushed before and those pushed after."""

    def close(self) -> None:
        """Leave the queue; no callback follows. A second call does nothing."""


class VadQueue(Protocol):
    """Takes the windows of many streams to one :class:`Vad` without blocking the event loop."""

    window_samples: int
    """Samples of one window at :data:`MODEL_RATE`."""

    def open(self, on_window: Callable[[Samples, float], None], on_error: Callable[[Exception], None]) -> VadHandle:
        """Add a stream. Callbacks run in the loop that opened it; a window whose batch failed goes to ``on_error``."""


class Outcome(Enum):
    """What a recogniser made of a turn."""

    TEXT = "text"
    EMPTY = "empty"
    """There was sound, but no words."""
    NOTHING = "nothing"
    """There was nothing to recognise."""


@dataclass(frozen=True, slots=True)
class AsrResult:
    outcome: Outcome
    text: str = ""
    no_speech: float = 0.0
    """The model's own probability, 0…1, that nobody spoke."""
    audio_ms: float = 0.0
    """How much audio this result covers."""


class AsrStream(Protocol):
    """One utterance on its way through a recogniser."""

    def feed(self, pcm: Samples) -> None:
        """Append audio; never blocks."""

    async def hypothesis(self, priority: Priority = Priority.CONFIRMED) -> AsrResult:
        """Recognise all audio fed so far. Non-destructive and repeatable; more audio may follow."""


class Asr(Protocol):
    languages: tuple[str, ...]
    """Languages it understands as ISO 639-1 codes; ("*",) where it finds out by itself."""

    def new(self, language: str | None = None) -> AsrStream: ...


class Tts(Protocol):
    rate: int
    """Native sample rate in Hz."""
    language: str
    """Language of the voice, ISO 639-1."""

    def can_speak(self, text: str) -> bool:
        """Whether the voice has sounds for this text (an English voice has none for Chinese characters)."""

    def synthesize(
        self,
        sentence: str,
        *,
        voice: str | None = None,
        priority: Callable[[], Priority] = lambda: Priority.FIRST_CHUNK,
    ) -> AsyncIterator[Pcm]:
        """Speak one sentence in chunks, the first as early as the engine can; ``priority`` is asked before each."""


class Role(Enum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called; ``arguments`` is JSON as the model wrote it, well formed or not."""

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a conversation as a language model sees it."""

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Of an assistant: each is answered by one message of role TOOL right behind it, in this order."""
    tool_call_id: str = ""
    """Of a TOOL message: the call that it answers."""
    interrupted: bool = False
    """Of an assistant: the text is what the user heard before breaking in; there was more."""


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """What a request may ask of a model; None leaves it to the engine's configuration."""

    max_tokens: int | None = None
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a model's answer."""

    text: str


class Llm(Protocol):
    pure: bool
    """True where asking has no effect outside the answer, so that a question may be asked and withdrawn."""

    def stream(self, messages: Sequence[Message], options: LlmOptions = LlmOptions()) -> AsyncIterator[Delta]:
        """Answer the last message; the iterator ends with the answer. Closing it stops the work."""


@dataclass(frozen=True, slots=True)
class EngineSet:
    """The engines of one server, built once at the start and shared by every session."""

    vad: Vad
    asr: Asr
    llm: Llm
    tts: Tts | None
    """None in a text-only server."""
