"""The gate of the running reply: when somebody's voice shuts it, and when it opens again (CONVERSATION §3).

One mechanism for a voice before the first frame, a voice during the reply, a cough, and our own words coming back.
"""

from __future__ import annotations

from dataclasses import dataclass

from vanling.dialogue.echo import is_echo
from vanling.session.settings import MS, HoldSettings

FALSE_ALARMS = 2
ECHOES = 1
"""After so many, onsets do not shut the gate of this reply any more (rule 3.4)."""

WORDLESS_MS = 3_000
"""So much voice without a word is not speech (rule 3.3)."""


@dataclass(slots=True)
class Counts:
    """What thinking ahead and being interrupted came to, over a session."""

    speculations: int = 0
    dropped: int = 0
    held: int = 0
    resumed: int = 0
    merged: int = 0
    echoes: int = 0
    saved_ms: float = 0.0
    """By how much speculation brought replies forward."""


class Hold:
    """The state of one reply's gate; :meth:`begin` starts anew with the next reply."""

    def __init__(self, settings: HoldSettings, counts: Counts) -> None:
        self._settings = settings
        self._counts = counts
        self.shut = False
        self.begun = False
        """Something of the reply has been heard."""
        self._spoken: list[str] = []
        self._echoes = 0
        self._false_alarms = 0
        self._fell_ns: int | None = None
        self._ignore_speech = False

    def begin(self) -> None:
        """A new reply. The voice that is heard meanwhile is the same as before."""
        self.shut = self.begun = False
        self._spoken = []
        self._echoes = self._false_alarms = 0

    def say(self, text: str) -> None:
        """A sentence of the reply goes out."""
        self.begun = True
        self._spoken.append(text)

    @property
    def heeds_voice(self) -> bool:
        """Whether the present voice counts for the gate of this reply."""
        return self._echoes < ECHOES and self._false_alarms < FALSE_ALARMS and not self._ignore_speech

    def may_shut(self) -> bool:
        """Whether a voice may shut the gate now."""
        return self._settings.hold and not self.shut and self.heeds_voice

    def close(self) -> None:
        self.shut = True
        self._counts.held += 1

    def open(self, *, false_alarm: bool) -> None:
        self.shut = False
        self._counts.resumed += 1
        self._false_alarms += false_alarm

    def rose(self, *, new: bool) -> None:
        """There is voice, and nothing runs out while somebody speaks; a ``new`` one gets its own chance."""
        self._fell_ns = None
        self._ignore_speech = self._ignore_speech and not new

    def fell(self, now_ns: int) -> None:
        """The voice fell silent, or was cut off; its words are owed."""
        if self._fell_ns is None:
            self._fell_ns = now_ns

    def wordless(self, text: str, voiced_ms: float) -> bool:
        """Whether speech that goes on has been given its chance; it does not shut the gate again."""
        if text.strip() or voiced_ms < WORDLESS_MS:
            return False
        self._ignore_speech = True
        return True

    def patience_ends_ns(self) -> int | None:
        """When the reply goes on though words are still owed."""
        if not self.shut or self._fell_ns is None:
            return None
        return self._fell_ns + int(self._settings.false_interruption_ms * MS)

    def may_merge(self) -> bool:
        return self._settings.merge and not self.begun

    def is_ours(self, text: str) -> bool:
        """Whether these words are of the reply, come back through the microphone."""
        return self._settings.echo and is_echo(text, self._spoken)

    def hears_itself(self, text: str) -> bool:
        """The same of a turn's words: then the reply has had its echo."""
        if not self.is_ours(text):
            return False
        self._echoes += 1
        self._counts.echoes += 1
        return True
