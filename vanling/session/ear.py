"""What the session knows of its hearing half, whose news arrive later than the audio that they are about.

Between a command to the hearing half ("forget", "the turn is over") and its answer lie all windows that still wait
for their verdict. This ledger keeps what was asked and what has been answered apart, so that old news is not taken for
new.
"""

from __future__ import annotations

from vanling.pipeline.events import FinishTurn, Rejoin, TurnHeard, TurnOver


class Ear:
    """Open speech, resets under way, and the turns whose words are still wanted."""

    def __init__(self) -> None:
        self.speech = False
        """Speech is open: begun, and its turn not over."""
        self.voice = False
        """Between an onset and its falling edge."""
        self.voicing = False
        """There is voice, perhaps not enough of it for speech."""
        self._finishing = 0
        self._awaited: set[int] = set()
        self._resets_asked = 0
        self._resets_done = 0
        self._press_reset = 0

    @property
    def owes(self) -> bool:
        """Whether words of an ended turn are still to come, told or on its way."""
        return bool(self._awaited or self._finishing)

    @property
    def awaits_words(self) -> bool:
        """Whether the recogniser is being waited for."""
        return bool(self._awaited)

    @property
    def up_to_date(self) -> bool:
        """False while a reset is on its way: an onset that comes now belongs to the audio before it."""
        return self._resets_done == self._resets_asked

    def reset(self) -> None:
        """The hearing half was asked to forget."""
        self.speech = self.voice = self.voicing = False
        self._resets_asked += 1

    def reset_done(self) -> None:
        """It has."""
        self._resets_done += 1

    def press(self) -> None:
        """A press begins, its reset just asked for: what was said before is not waited for any more (rule 3.6)."""
        self._awaited.clear()
        self._finishing = 0
        self._press_reset = self._resets_asked

    def finish(self, reason: str) -> FinishTurn:
        """End the turn now; the answer is a :class:`TurnOver`."""
        self._finishing += 1
        return FinishTurn(reason)

    def rejoin(self, first: TurnHeard, second: TurnHeard) -> Rejoin:
        """Two turns were one; the answer is a :class:`TurnOver` here too."""
        self._finishing += 1
        return Rejoin(first, second)

    def onset(self) -> None:
        self.speech = self.voice = self.voicing = True

    def lapse(self) -> None:
        """The voice was too short for speech."""
        self.voicing = False

    def pause(self) -> None:
        self.voice = False

    def end(self) -> None:
        self.speech = self.voice = self.voicing = False

    def turn_over(self, over: TurnOver) -> None:
        # A turn that was cut for its length goes on; one that was joined has long been over.
        if over.reason == "silence":
            self.end()
        elif over.reason in ("stop", "stall"):
            self.speech = False
        if self._resets_done < self._press_reset:
            return  # its audio came before the present press
        if over.reason in ("stop", "stall", "merged"):
            self._finishing -= 1
        self._awaited.add(over.number)

    def take(self, heard: TurnHeard) -> bool:
        """Whether these words are wanted; they are wanted once."""
        if heard.over.number not in self._awaited:
            return False
        self._awaited.discard(heard.over.number)
        return True
