"""What can be set about a session, and the phases that it goes through."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from vanling.session.frame import ListenMode

MS = 1_000_000
"""Nanoseconds."""


class Phase(Enum):
    IDLE = "idle"
    """Before hello."""
    LISTENING = "listening"
    SPEAKING = "speaking"
    """The running round is between ``tts start`` and ``tts stop``; hearing goes on."""
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class HoldSettings:
    """``turn.*``: each part can be switched off."""

    hold: bool = True
    """Voice shuts the gate; off: in realtime mode it interrupts, before the first frame it is let run."""
    merge: bool = True
    """Pieces of one sentence become one turn."""
    echo: bool = True
    """Our own words coming back are no turn."""
    think_ahead: frozenset[ListenMode] = frozenset({ListenMode.REALTIME})
    """Modes in which answering begins at the falling edge already, behind a shut gate."""
    false_interruption_ms: float = 2_000
    """How long words may be owed, from the falling edge on, before the reply goes on without them."""


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """``session.*`` and ``turn.*``; times in ms of wall time."""

    no_activity_ms: float | None = 30_000
    """Close after so long without activity; None: never."""
    stall_ms: float = 1_200
    barge_in_lockout_ms: float = 250
    wake_words: tuple[str, ...] = ()
    greeting: bool = True
    hold: HoldSettings = field(default_factory=HoldSettings)
