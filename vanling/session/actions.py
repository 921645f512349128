"""What the session machine asks its shell to do; the shell does them in order."""

from __future__ import annotations

from dataclasses import dataclass

from vanling.dialogue.ling import Act
from vanling.pipeline.events import Event, TurnHeard
from vanling.session.frame import OutputMessage


class Action:
    """Anything the machine decides."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Send(Action):
    """Hand a message to the door now."""

    message: OutputMessage


@dataclass(frozen=True, slots=True)
class Hear(Action):
    """Push an event into the hearing half, behind all audio before it."""

    event: Event


@dataclass(frozen=True, slots=True)
class Upgrade(Action):
    """The shadow round has its turn: it becomes the running round and answers ``act``; a fresh shadow hears on."""

    act: Act
    turn: TurnHeard | None
    """None for typed text and for what we say of our own accord."""
    epoch: int
    """Of the reply; the machine may already be further when this is done."""
    goes_on: bool = False
    """These words are those of the last turn and more: they take their place."""
    thought_ahead: bool = False
    """The reply that :class:`ThinkAhead` began is this one."""


@dataclass(frozen=True, slots=True)
class ThinkAhead(Action):
    """Begin to answer behind a shut gate what the user has probably said."""

    act: Act


@dataclass(frozen=True, slots=True)
class ThinkAgain(Action):
    """Drop what was thought ahead."""


@dataclass(frozen=True, slots=True)
class HoldRunning(Action):
    """Shut the running reply's gate: it goes on being made, and nothing of it leaves."""

    reason: str


@dataclass(frozen=True, slots=True)
class ReleaseRunning(Action):
    """Open the gate: the reply goes on from the held sentence, under a new epoch."""

    epoch: int
    reason: str


@dataclass(frozen=True, slots=True)
class StopRunning(Action):
    """Stop the running round: its closing messages, then nothing of it any more."""

    reason: str


@dataclass(frozen=True, slots=True)
class End(Action):
    """The conversation is over."""

    reason: str
