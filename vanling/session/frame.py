"""The session's vocabulary: what a door tells a session, and what a session tells its door.

A translator turns wire messages into frames and output messages into wire messages; nothing else in vanling knows
a wire format. Every frame carries ``ref``, whatever the client used to name its message, so that an error can be
answered to the one who caused it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from vanling.contracts.audio import AudioSpec, Codec, Pace

__all__ = [
    "Abort",
    "Audio",
    "AudioSpec",
    "Close",
    "CloseOut",
    "Codec",
    "Detect",
    "Emotion",
    "Error",
    "ErrorCode",
    "Frame",
    "Heard",
    "Hello",
    "HelloReply",
    "ListenMode",
    "ListenStart",
    "ListenStop",
    "Mcp",
    "McpOut",
    "Opus",
    "OutputMessage",
    "Pace",
    "ReplyDone",
    "ReplyStatus",
    "Say",
    "SayAnswer",
    "Sentence",
    "SentenceEnd",
    "Text",
    "TtsStart",
    "TtsStop",
]


class ListenMode(Enum):
    """Who ends a turn (CONVERSATION rule 1.3)."""

    AUTO = "auto"
    REALTIME = "realtime"
    MANUAL = "manual"

    @property
    def hands_free(self) -> bool:
        return self is not ListenMode.MANUAL


# --- in ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Anything that a door tells its session."""

    ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello(Frame):
    """The client introduces itself; ``uplink`` is what it will send (None: not said)."""

    uplink: AudioSpec | None = None
    features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opus(Frame):
    """One Opus packet of the microphone."""

    packet: bytes
    timestamp_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenStart(Frame):
    mode: ListenMode = ListenMode.AUTO


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenStop(Frame):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Detect(Frame):
    """``listen/detect``: a wake word, or text that a board sends in its place; the session tells them apart."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Frame):
    """Typed text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Abort(Frame):
    """Stop speaking."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Say(Frame):
    """An announcement: speak this as soon as nobody else does; answered by :class:`SayAnswer`."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mcp(Frame):
    """A JSON-RPC message of the device's MCP server, as JSON text; consumed by a filter, never by the session."""

    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Close(Frame):
    """The client has gone."""

    reason: str = "client_disconnect"


# --- out --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputMessage:
    """Anything that a session tells its door. ``epoch`` is the session's at the time of writing (0: outside turns)."""

    epoch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HelloReply(OutputMessage):
    session_id: str
    downlink: AudioSpec | None
    """None where this session has no voice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard(OutputMessage):
    """What the user said or typed, final."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Emotion(OutputMessage):
    """The face of the next sentence: one of the firmware's 21 names."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TtsStart(OutputMessage):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence(OutputMessage):
    """The sentence whose audio comes next."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceEnd(OutputMessage):
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audio(OutputMessage):
    """One packet of the door's downlink format."""

    packet: bytes = field(repr=False)
    duration_ms: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TtsStop(OutputMessage):
    pass


class ReplyStatus(Enum):
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyDone(OutputMessage):
    """A reply has ended; ``text`` is all of it that was written."""

    status: ReplyStatus
    text: str = ""


class ErrorCode(Enum):
    """What went wrong, for the one who caused it; a door maps it to its own codes."""

    BAD_MESSAGE = "bad_message"
    BAD_AUDIO = "bad_audio"
    ASR_FAILED = "asr_failed"
    LLM_FAILED = "llm_failed"
    LLM_EMPTY = "llm_empty"
    TTS_FAILED = "tts_failed"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True, kw_only=True)
class SayAnswer(OutputMessage):
    """What became of an announcement: spoken now, or queued until its moment comes."""

    queued: bool
    ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Error(OutputMessage):
    code: ErrorCode
    message: str
    ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpOut(OutputMessage):
    """A JSON-RPC message for the device's MCP server, as JSON text."""

    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseOut(OutputMessage):
    """The conversation is over: the door ends the connection in its way."""

    reason: str
