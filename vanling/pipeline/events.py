"""What travels along a node chain. Events that a node does not know pass through it, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from vanling.contracts.engines import AsrResult, Pcm, Samples
from vanling.dialogue.emotion import NEUTRAL
from vanling.dialogue.ling import Act, EndOfReply


class Event:
    """Anything on the chain."""

    __slots__ = ()


# --- hearing: opus → vad → asr → turn -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AudioFrame(Event):
    """One packet of the uplink, and when it arrived."""

    packet: bytes = field(repr=False)
    arrived_ns: int


@dataclass(frozen=True, slots=True)
class PcmFrame(Event):
    """Decoded audio: int16 mono at 16 kHz, any length."""

    pcm: NDArray[np.int16] = field(repr=False)
    arrived_ns: int


@dataclass(frozen=True, slots=True)
class Window(Event):
    """One detector window with its verdict. Times are of the window's last sample, by the audio's own clock."""

    pcm: Samples = field(repr=False)
    probability: float
    voiced: bool
    end_ns: int
    arrived_ns: int
    """When the packet that completed the window arrived: nothing could be known earlier."""


@dataclass(frozen=True, slots=True)
class VoiceHeard(Event):
    """64 ms of voice: perhaps speech, perhaps a cough; sooner than :class:`SpeechStarted`."""


@dataclass(frozen=True, slots=True)
class VoiceLapsed(Event):
    """The voice fell silent before it was long enough for speech."""


@dataclass(frozen=True, slots=True)
class SpeechStarted(Event):
    """Follows the window that made it sure."""


@dataclass(frozen=True, slots=True)
class SpeechPaused(Event):
    """The falling edge: ``vad.min_silence_ms`` of silence after speech."""


@dataclass(frozen=True, slots=True)
class SpeechResumed(Event):
    """Speech came back before the turn was over."""


@dataclass(frozen=True, slots=True)
class SpeechEnded(Event):
    """Silence confirmed: the turn is over, hands-free."""

    silence_ms: float


@dataclass(frozen=True, slots=True)
class SetMode(Event):
    """How to hear from here on."""

    hands_free: bool
    """Silence ends turns; else only :class:`FinishTurn` does."""
    listening: bool
    """False: audio only fills the pre-roll, no turn begins."""
    fresh: bool
    """Forget all audio before: detector, pre-roll and open speech."""


@dataclass(frozen=True, slots=True)
class FinishTurn(Event):
    """End the turn now: released, stalled, or too long; always answered by one :class:`TurnOver`."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rejoin(Event):
    """Two turns were one: recognise their audio together. Answered like the end of a turn, with reason ``merged``."""

    first: TurnHeard
    second: TurnHeard


@dataclass(frozen=True, slots=True)
class GuessHeard(Event):
    """What the turn says if nothing more comes: recognised at the falling edge, before the silence is confirmed."""

    text: str


@dataclass(frozen=True, slots=True)
class Answered(Event):
    """The reply to the last turn has begun to be heard: nothing can be joined to that turn any more."""


@dataclass(frozen=True, slots=True)
class PartialHeard(Event):
    """What speech that goes on sounds like so far."""

    text: str
    voiced_ms: float


@dataclass(frozen=True, slots=True)
class TurnOver(Event):
    """A turn has ended; its words follow as :class:`TurnOutcome` with the same number."""

    number: int
    reason: str
    """``silence``, ``stop``, ``stall``, ``length`` or ``merged``."""
    speech_end_ns: int
    """End of the last voiced window, by the audio's clock; of the turn where there was none."""
    decided_ns: int
    """When the audio that decided it had arrived."""
    silence_ms: float
    """Silence that had to be waited for: from the end of speech to the end of the packet that decided."""
    voiced_ms: float


@dataclass(frozen=True, slots=True)
class TurnOutcome(Event):
    """What the recogniser made of a turn; ``failure`` says why it could not."""

    number: int
    result: AsrResult
    at_ns: int
    busy_ms: float
    """How long the recogniser was waited for after the turn was over."""
    failure: str = ""


@dataclass(frozen=True, slots=True)
class TurnHeard(Event):
    """A turn with its outcome, in the order of the turns: what the session decides upon."""

    over: TurnOver
    outcome: TurnOutcome


# --- reply: ling → tts → encode -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnComplete(Event):
    """Head of a reply: what to answer."""

    act: Act


@dataclass(frozen=True, slots=True)
class TextChunk(Event):
    """One sentence of the reply."""

    text: str
    emotion: str = NEUTRAL
    spoken: str = ""
    """What the voice is given instead of the text; empty: the text itself."""


@dataclass(frozen=True, slots=True)
class ReplyEnd(Event):
    """Nothing follows in this reply; ``end`` says how the model did."""

    end: EndOfReply


@dataclass(frozen=True, slots=True)
class SentenceBegin(Event):
    text: str
    emotion: str


@dataclass(frozen=True, slots=True)
class SpeechPiece(Event):
    """A piece of a sentence's audio at the voice's own rate."""

    pcm: Pcm = field(repr=False)


@dataclass(frozen=True, slots=True)
class SentenceDone(Event):
    """All audio of the sentence has passed; ``failure`` says why it stayed silent or broke off."""

    text: str
    failure: str = ""


@dataclass(frozen=True, slots=True)
class AudioOut(Event):
    """Packets of the downlink format, each ``duration_ms`` long."""

    packets: tuple[bytes, ...] = field(repr=False)
    duration_ms: float


class Milestone(Enum):
    LLM_FIRST = "llm_first"
    """The model's first piece of text (TTFT)."""
    SENTENCE_FIRST = "sentence_first"
    """The first whole sentence."""
    TTS_FIRST = "tts_first"
    """The voice's first audio (TTFB)."""


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """A milestone of the reply for the turn's times."""

    what: Milestone
    at_ns: int
    busy_ms: float
    """How long the engine worked for it."""
