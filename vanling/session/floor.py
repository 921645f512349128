"""Who has the floor: whether a reply speaks, and what a voice does to it (CONVERSATION §3). Pure, like the machine.

The floor knows one reply at most. A voice shuts its gate, words take its place, and silence, noise and our own words
coming back open the gate again; what the words mean is the machine's.
"""

from __future__ import annotations

from vanling.dialogue.ling import Act, UserSaid
from vanling.pipeline.events import TurnHeard
from vanling.session.actions import (
    Action,
    HoldRunning,
    ReleaseRunning,
    StopRunning,
    ThinkAgain,
    ThinkAhead,
    Upgrade,
)
from vanling.session.ear import Ear
from vanling.session.frame import ListenMode
from vanling.session.hold import Counts, Hold
from vanling.session.settings import MS, Phase, SessionSettings

AFTER_REPLY_MS = 1_000
"""Speech that ends this soon after a reply may still be its echo (rule 3.5)."""


class Floor:
    """The running reply, its gate, and the guess that may become the next one."""

    def __init__(self, settings: SessionSettings) -> None:
        self._settings = settings
        self.phase = Phase.IDLE
        self.epoch = 1
        self.mode = ListenMode.AUTO
        self.listening = False
        """Between listen/start and listen/stop."""
        self.ear = Ear()
        self.counts = Counts()
        self.hold = Hold(settings.hold, self.counts)
        self.act: Act | None = None
        """What the running reply answers; None: none runs."""
        self.answering: TurnHeard | None = None
        """The spoken turn of the running reply."""
        self.ends_with = ""
        """Why the conversation ends after the running reply; empty: it does not."""
        self.mode_only = False
        """The next listen/start comes from the device, not from its user (rule 3.5)."""
        self.stall_off = False
        """An auto-mode device has closed its microphone (rule 3.5)."""
        self._guess = ""
        """What is being answered ahead of its confirmation."""
        self._lockout_ns: int | None = None
        self._started_ns: int | None = None
        self._stopped_ns: int | None = None
        self._over_ns: int | None = None

    @property
    def running(self) -> bool:
        return self.act is not None

    @property
    def disturbed(self) -> bool:
        """Somebody speaks to us, or has spoken and the words are still to come."""
        return self.ear.owes or (self.listening and (self.ear.voicing or self.ear.speech))

    @property
    def free(self) -> bool:
        """Neither a reply nor speech is going on."""
        return not self.running and not self.disturbed and not self._guess

    @property
    def open_press(self) -> bool:
        return self.listening and not self.mode.hands_free

    # --- a reply --------------------------------------------------------------------------------------------------

    def begin(
        self, act: Act, turn: TurnHeard | None, now_ns: int, *, said: TurnHeard | None = None, ends_with: str = ""
    ) -> list[Action]:
        """A reply begins, the one before it is over; it waits at once where somebody is speaking still.

        ``turn`` is what it answers, ``said`` the same where more words may be joined to it.
        """
        assert not self.running, "interrupt it first"
        thought_ahead = bool(self._guess) and turn is not None and act == UserSaid(self._guess)
        if thought_ahead:
            self._guess = ""
        actions = self.think_again()
        self.act, self.answering, self.ends_with = act, said, ends_with
        self.hold.begin()
        goes_on = turn is not None and turn.over.reason == "merged"
        actions.append(Upgrade(act, turn, self.epoch, goes_on, thought_ahead))
        return actions + self.judge_voice(now_ns)

    def interrupt(self, reason: str, now_ns: int) -> list[Action]:
        """Stop the running reply, if there is one; its messages still carry the old epoch."""
        if not self.running:
            return []
        if self.hold.begun:
            self._over_ns = now_ns
        self._forget_reply(now_ns)
        self.epoch += 1
        return [StopRunning(reason)]

    def reply_done(self, now_ns: int) -> str:
        """The running reply came to its own end. Returns why the conversation ends with it, or nothing."""
        ends_with = self.ends_with
        self._over_ns = now_ns
        self._forget_reply(now_ns)
        return ends_with

    def tts_started(self, now_ns: int) -> None:
        self.phase = Phase.SPEAKING
        self._started_ns = now_ns
        # An auto-mode device closes its microphone now and opens it with its next listen/start.
        self.stall_off = self.mode is ListenMode.AUTO

    def tts_stopped(self, now_ns: int) -> None:
        """A stop is sent; an auto-mode device answers it with a listen/start of its own."""
        if self.phase is Phase.SPEAKING:
            self.phase = Phase.LISTENING
        self._stopped_ns = now_ns
        self.mode_only = self.mode is ListenMode.AUTO

    def concerns_reply(self, turn: TurnHeard) -> bool:
        """Whether a hands-free turn was spoken during a reply, or so soon after it that it may be its echo."""
        if not self.mode.hands_free:
            return False
        if self.running:
            return True
        return self._over_ns is not None and turn.over.speech_end_ns - self._over_ns < AFTER_REPLY_MS * MS

    def _forget_reply(self, now_ns: int) -> None:
        if self.phase is Phase.SPEAKING:
            self.tts_stopped(now_ns)
        self.act = self.answering = None
        self.ends_with = ""
        self.hold.shut = False
        self._lockout_ns = None

    # --- its gate -------------------------------------------------------------------------------------------------

    def judge_voice(self, now_ns: int) -> list[Action]:
        """What the voice that is heard now does to the running reply (rules 3.2 and 3.7)."""
        if not self.running or not self.mode.hands_free or self.hold.shut:
            return []
        if not self.hold.begun:
            # Nothing has been heard of it yet: it waits for whoever speaks, and for words that are owed.
            wants = self.disturbed
            lockout_ns = self._lockout_after(self._stopped_ns)
        else:
            wants = self.listening and self.ear.voice and self.mode is ListenMode.REALTIME
            lockout_ns = max(self._lockout_after(self._started_ns), self._lockout_after(self._stopped_ns))
        if not wants:
            return []
        if now_ns < lockout_ns:
            self._lockout_ns = lockout_ns
            return []
        if self._settings.hold.hold:
            return self._shut(now_ns) if self.hold.may_shut() else []
        return self.interrupt("barge_in", now_ns) if self.hold.begun else []

    def voice(self, now_ns: int, *, new: bool) -> list[Action]:
        """There is voice: a ``new`` one, or one that has become speech or come back."""
        if self.listening:
            self.hold.rose(new=new)
        return self.judge_voice(now_ns)

    def let_go(self, reason: str, *, false_alarm: bool) -> list[Action]:
        """What was said came to nothing. The gate stays shut while others speak: :meth:`settled` opens it."""
        if self.hold.shut and self.hold.heeds_voice and self.disturbed:
            return []
        return self.release(reason, false_alarm=false_alarm)

    def release(self, reason: str, *, false_alarm: bool) -> list[Action]:
        """The reply goes on from the held sentence, under a new epoch (rule 3.3)."""
        if not self.hold.shut:
            return []
        self.hold.open(false_alarm=false_alarm)
        self.epoch += 1
        return [ReleaseRunning(self.epoch, reason)]

    def settled(self) -> list[Action]:
        """A gate is shut, and a guess kept, for a voice and for the words that it owes; without either they go."""
        if self.disturbed:
            return []
        return [*self.think_again(), *self.release("silence", false_alarm=True)]

    def deadlines(self) -> tuple[int | None, int | None]:
        return (self._lockout_ns, self.hold.patience_ends_ns())

    def on_time(self, now_ns: int) -> list[Action]:
        actions: list[Action] = []
        if self._lockout_ns is not None and now_ns >= self._lockout_ns:
            self._lockout_ns = None
            actions += self.judge_voice(now_ns)
        patience_ns = self.hold.patience_ends_ns()
        if patience_ns is not None and now_ns >= patience_ns:
            actions += self.release("words_owed", false_alarm=True)
        return actions

    def _shut(self, now_ns: int) -> list[Action]:
        reason = "barge_in" if self.hold.begun else "voice"
        self.hold.close()
        self._lockout_ns = None
        if self.phase is Phase.SPEAKING:
            self.tts_stopped(now_ns)
        return [HoldRunning(reason)]

    def _lockout_after(self, at_ns: int | None) -> int:
        return 0 if at_ns is None else at_ns + int(self._settings.barge_in_lockout_ms * MS)

    # --- thinking ahead -------------------------------------------------------------------------------------------

    def think_ahead(self, text: str) -> list[Action]:
        """Nothing of it is heard, stored or executed before the turn is confirmed (rule 3.1)."""
        ear = self.ear
        if self.mode not in self._settings.hold.think_ahead or self.running or ear.owes or self.hold.is_ours(text):
            return []
        if not self.mode.hands_free or not ear.speech or ear.voice:
            return []
        actions = self.think_again()
        self._guess = text
        self.counts.speculations += 1
        return [*actions, ThinkAhead(UserSaid(text))]

    def think_again(self) -> list[Action]:
        if not self._guess:
            return []
        self._guess = ""
        self.counts.dropped += 1
        return [ThinkAgain()]
