"""Turns: what was heard means something, is answered, and what waits for its moment is said (CONVERSATION §3–5). Pure.

Everything that is said begins here, with :meth:`Turns.begin`; what a voice does to it then is the floor's.
"""

from __future__ import annotations

from collections import deque

from vanling.contracts.engines import Outcome
from vanling.dialogue.empty_input import EmptyInput, Verdict
from vanling.dialogue.ling import Act, Announcement, EmptyTurn, UserSaid
from vanling.dialogue.ling import Say as SayPhrase
from vanling.dialogue.phrases import Phrase
from vanling.pipeline.events import Answered, TurnHeard
from vanling.session.actions import Action, End, Hear, Send
from vanling.session.floor import Floor
from vanling.session.frame import Error, ErrorCode, Heard, ListenMode, Say, SayAnswer, Sentence
from vanling.session.saying import Saying
from vanling.session.settings import Phase
from vanling.session.waking import Waking

MAX_WAITING_TEXTS = 8
"""Typed lines that wait behind a turn that is being recognised; more than that is not a person."""


class Turns:
    """One session's turns, texts and announcements."""

    def __init__(self, floor: Floor, waking: Waking) -> None:
        self.empty = EmptyInput()
        self.saying = Saying()
        self._floor = floor
        self._ear = floor.ear
        self._waking = waking
        self._texts: deque[str] = deque()
        self._joining = False
        """Two pieces of a sentence are being recognised together; the pieces behind them wait in ``_later``."""
        self._later: deque[TurnHeard] = deque()

    # --- what comes in ----------------------------------------------------------------------------------------------

    def text(self, text: str, now_ns: int) -> list[Action]:
        """Typed text; what was said before it is answered first (rule 6.3)."""
        if not self._ear.owes:
            return self._answer(text, None, now_ns)
        if len(self._texts) < MAX_WAITING_TEXTS:
            self._texts.append(text)
            return []
        full = "too many lines wait for words that are being recognised; this one was dropped"
        return [Send(Error(epoch=self._floor.epoch, code=ErrorCode.BAD_MESSAGE, message=full))]

    def press(self) -> None:
        """A press begins: nothing from before it is answered any more (rule 3.6)."""
        self._texts.clear()
        self._later.clear()
        self._joining = False

    def guess(self, text: str) -> list[Action]:
        """What the open turn probably says; with text waiting, the reply would not be the next."""
        return [] if self._texts else self._floor.think_ahead(text)

    def shown(self, sentence: Sentence) -> list[Action]:
        """A sentence of the running reply goes out."""
        floor = self._floor
        first = not floor.hold.begun
        floor.hold.say(sentence.text)
        if first and isinstance(floor.act, UserSaid):
            self.empty.answered()
        return [Hear(Answered())] if first else []

    def announce(self, say: Say) -> list[Action]:
        """Said at once where nobody speaks, else when its moment comes (rule 5.6)."""
        text = say.text.strip()
        if not text:
            return []
        queued = self.saying.waits or not self.saying.ready or not self._may_announce()
        self.saying.add(text)
        return [Send(SayAnswer(epoch=self._floor.epoch, queued=queued, ref=say.ref))]

    # --- what is heard --------------------------------------------------------------------------------------------

    def turn_heard(self, event: TurnHeard, now_ns: int) -> list[Action]:
        """One outcome after the other: while two pieces are being joined, those behind them wait for it."""
        if self._joining and event.over.reason != "merged":
            self._later.append(event)
            return []
        self._joining = False
        actions = self._outcome(event, now_ns)
        while self._later and not self._joining:
            actions += self._outcome(self._later.popleft(), now_ns)
        while self._texts and not self._ear.owes:
            actions += self._answer(self._texts.popleft(), None, now_ns)
        return actions

    def _outcome(self, event: TurnHeard, now_ns: int) -> list[Action]:
        """Classified here, when the recogniser has answered, never by racing events (rule 4.1)."""
        failure = event.outcome.failure
        if not failure and event.outcome.result.outcome is Outcome.TEXT:
            return self._words(event, now_ns)
        if self._floor.concerns_reply(event):
            # Of no words during a reply, or of its echo, nothing comes (rules 3.3 and 3.5).
            return self._floor.let_go("failed" if failure else "no_words", false_alarm=True)
        if failure:
            error = Error(epoch=self._floor.epoch, code=ErrorCode.ASR_FAILED, message="speech could not be recognised")
            return [Send(error), *self.begin(SayPhrase(Phrase.FAILURE), None, now_ns)]
        return self._nothing_said(event, now_ns)

    def _words(self, event: TurnHeard, now_ns: int) -> list[Action]:
        """Words: our own come back, more of the sentence that is being answered, or a new turn (rule 3.3)."""
        floor, text = self._floor, event.outcome.result.text
        if floor.concerns_reply(event) and floor.hold.hears_itself(text):
            return floor.let_go("echo", false_alarm=False)
        answered = floor.answering
        if answered is not None and floor.mode.hands_free and floor.hold.may_merge():
            self._floor.counts.merged += 1
            self._joining = True
            return [*self.interrupt("merged", now_ns), Hear(self._ear.rejoin(answered, event))]
        return self._answer(text, event, now_ns)

    def _nothing_said(self, event: TurnHeard, now_ns: int) -> list[Action]:
        judgement = self.empty.judge(
            hands_free=self._floor.mode.hands_free,
            explicit_stop=event.over.reason == "stop",
            voiced_ms=event.over.voiced_ms,
            realtime=self._floor.mode is ListenMode.REALTIME,
        )
        if judgement.verdict is Verdict.SILENT:
            return []
        gives_up = judgement.verdict is Verdict.GIVE_UP
        if gives_up and self.saying.waits:
            return []  # there is something left to say (rule 4.3)
        if gives_up and not judgement.grade:
            return self.end("no_input", now_ns)
        act = EmptyTurn(judgement.kind, judgement.grade)
        return self.begin(act, event, now_ns, ends_with="no_input" if gives_up else "")

    # --- what is said ---------------------------------------------------------------------------------------------

    def _answer(self, text: str, turn: TurnHeard | None, now_ns: int) -> list[Action]:
        self.empty.words()
        interrupted = self.interrupt("new_turn", now_ns)
        shown = Send(Heard(epoch=self._floor.epoch, text=text))
        return [*interrupted, shown, *self.begin(UserSaid(text), turn, now_ns)]

    def begin(self, act: Act, turn: TurnHeard | None, now_ns: int, *, ends_with: str = "") -> list[Action]:
        self._waking.drop_greeting()
        interrupted = self.interrupt("upgrade", now_ns)
        # Only to what the user said more may be joined, not to a prompt for having said nothing.
        said = turn if isinstance(act, UserSaid) else None
        return interrupted + self._floor.begin(act, turn, now_ns, said=said, ends_with=ends_with)

    def interrupt(self, reason: str, now_ns: int) -> list[Action]:
        act = self._floor.act
        if isinstance(act, Announcement) and not self._floor.hold.begun and reason not in ("abort", "end"):
            self.saying.again(act.text)
        return self._floor.interrupt(reason, now_ns)

    def settled(self, actions: list[Action], now_ns: int) -> list[Action]:
        """What follows from where things stand now: a gate opens, a guess is dropped, an announcement begins."""
        if self._floor.phase in (Phase.IDLE, Phase.ENDED):
            return actions
        actions += self._floor.settled()
        if self._may_announce() and (text := self.saying.next()) is not None:
            actions += self.begin(Announcement(text), None, now_ns)
        return actions

    def end(self, reason: str, now_ns: int) -> list[Action]:
        actions = [*self._floor.think_again(), *self.interrupt("end", now_ns)]
        self._floor.phase = Phase.ENDED
        return [*actions, End(reason)]

    def _may_announce(self) -> bool:
        """Nobody speaks, and nobody is about to."""
        floor = self._floor
        waiting = bool(self._texts) or self._waking.greeting_ns is not None
        return floor.phase is Phase.LISTENING and floor.free and not floor.open_press and not waiting
