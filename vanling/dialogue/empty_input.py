"""Turns without words: the hub decides whether to say something, the wording comes later (CONVERSATION §4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class EmptyKind(Enum):
    MANUAL = "manual"
    """A press without words."""
    WAKE = "wake"
    """Woken, then nothing."""
    AUTO_SPOKE = "auto_spoke"
    """Voice without words, hands-free."""
    SILENCE = "silence"
    """An explicit end of listening without any voice, hands-free."""
    CONTINUING = "continuing"
    """An empty listen after a reply in realtime mode."""


class Verdict(Enum):
    SILENT = "silent"
    PROMPT = "prompt"
    GIVE_UP = "give_up"
    """End the conversation; with one closing sentence where :attr:`Judgement.grade` is not zero."""


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Verdict
    kind: EmptyKind
    grade: int = 0


MIN_COUNTED_VOICED_MS = 600.0
"""Less voice than this is a cough: neither prompted nor counted (rule 4.2)."""

GIVE_UP_AT = 3


class EmptyInput:
    """Counts the empty turns in a row and grades what to do about each."""

    def __init__(self) -> None:
        self._count = 0
        self._woken = False
        self._answered = False

    def woken(self) -> None:
        """A wake word came; empty turns are of kind Wake until words come."""
        self._woken = True
        self._answered = False
        self._count = 0

    def words(self) -> None:
        """Real input came."""
        self._woken = False
        self._count = 0

    def answered(self) -> None:
        """Something that the user said was answered; a realtime client goes on listening behind it."""
        self._answered = True

    def judge(self, *, hands_free: bool, explicit_stop: bool, voiced_ms: float, realtime: bool = False) -> Judgement:
        """Grade one empty outcome.

        ``explicit_stop``: the turn was ended by the client's listen/stop, not by silence or a stall.
        """
        if not hands_free:
            return Judgement(Verdict.PROMPT, EmptyKind.MANUAL, 1)
        kind = self._kind(explicit_stop, voiced_ms, realtime)
        if kind is EmptyKind.CONTINUING or (kind is EmptyKind.AUTO_SPOKE and voiced_ms < MIN_COUNTED_VOICED_MS):
            return Judgement(Verdict.SILENT, kind)
        self._count += 1
        if self._count < GIVE_UP_AT:
            return Judgement(Verdict.PROMPT, kind, self._count)
        self._count = 0
        return Judgement(Verdict.GIVE_UP, kind, GIVE_UP_AT if kind is EmptyKind.AUTO_SPOKE else 0)

    def _kind(self, explicit_stop: bool, voiced_ms: float, realtime: bool) -> EmptyKind:
        if self._woken and (explicit_stop or voiced_ms >= MIN_COUNTED_VOICED_MS):
            return EmptyKind.WAKE
        if realtime and self._answered:
            return EmptyKind.CONTINUING
        if explicit_stop and voiced_ms == 0:
            return EmptyKind.SILENCE
        return EmptyKind.AUTO_SPOKE
