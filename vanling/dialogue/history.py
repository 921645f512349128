"""What was said in a conversation, as a language model may be asked to go on from: valid whatever was interrupted.

Turns are units. The budget drops the oldest whole; the newest is always kept whole, word for word, however long: what
does not fit a model is the model's own to shorten.
"""

from __future__ import annotations

from collections.abc import Sequence

from vanling.contracts.engines import Message, Role, ToolCall
from vanling.dialogue.tokens import TokenCounter, cost, estimate_tokens
from vanling.dialogue.turn import Turn

DEFAULT_TOKENS = 2_000


class History:
    """Turns, oldest first; at most one, the newest, is open: its reply is not over.

    Writers of calls name the turn they work for by :attr:`turn`, so that a straggler of an interrupted reply writes
    nothing into the next one.
    """

    def __init__(self, *, tokens: int = DEFAULT_TOKENS, count: TokenCounter = estimate_tokens) -> None:
        """``tokens``: budget of all but the newest turn and it together; ``count``: how they are counted."""
        self._budget = tokens
        self._count = count
        self._turns: list[Turn] = []
        self._costs: list[int] = []
        self._number = 0

    @property
    def turn(self) -> int:
        """Number of the open turn; 0 where none is."""
        return self._number if self._open() else 0

    @property
    def empty(self) -> bool:
        return not self._turns

    def messages(self) -> list[Message]:
        """All that is kept, oldest first."""
        return [message for turn in self._turns for message in turn.messages()]

    def prompt(self, question: str) -> list[Message]:
        """What to ask a model that shall answer ``question``: its open turn where it has begun, else (a guess that is
        not confirmed, an instruction of ours) the history with the question behind it. Changes nothing."""
        turn = self._open()
        if turn is not None and turn.words == question:
            return self.messages()
        asked = Message(Role.USER, question)
        first = self._first_that_fits(cost([asked], self._count))
        return [*(message for turn in self._turns[first:] for message in turn.messages()), asked]

    # --- turns ----------------------------------------------------------------------------------------------------

    def begin(self, words: str) -> None:
        """The user's words are confirmed; their reply begins."""
        self._finish("", interrupted=True)
        self._add(Turn(words))

    def replace(self, words: str) -> None:
        """The newest turn went on before anything followed from it: these are its words now, and its reply begins."""
        self._finish("", interrupted=True)
        if self._turns and self._turns[-1].bare:
            self._drop_newest()
        self._add(Turn(words))

    def resume(self) -> None:
        """A further reply begins, without words of the user."""
        self._finish("", interrupted=True)
        if not self._turns:
            self._add(Turn(None))
            return
        self._number += 1
        self._turns[-1].reopen()

    def withdraw(self) -> None:
        """The newest turn was none: it leaves nothing, unless something followed from it already."""
        if self._turns and self._turns[-1].bare:
            self._drop_newest()
        else:
            self._finish("", interrupted=True)

    def finish(self, heard: str, *, interrupted: bool = False) -> bool:
        """The reply is over, and this is what was heard of it. False without an open turn: what we say of our own
        accord is not part of the conversation."""
        return self._finish(heard, interrupted=interrupted)

    def cancel_all(self) -> None:
        """Nothing more will come: the open turn ends unheard, every call without a result gets its placeholder."""
        self._finish("", interrupted=True)
        for at, turn in enumerate(self._turns):
            turn.cancel_all()
            self._costs[at] = self._cost(turn)
        self._trim()

    # --- tools ----------------------------------------------------------------------------------------------------

    def called(self, turn: int, calls: Sequence[ToolCall], text: str = "") -> bool:
        """The model wrote ``text`` and calls tools; False where ``turn`` is over.

        Raises:
            ValueError: no call, or two with the same id.
        """
        if not self._is_open(turn):
            return False
        self._turns[-1].called(calls, text)
        return self._weigh()

    def returned(self, turn: int, call_id: str, result: str) -> bool:
        """A tool's result; False where ``turn`` is over, or no running call has this id."""
        return self._is_open(turn) and self._turns[-1].returned(call_id, result) and self._weigh()

    def left_to_client(self, turn: int, call_id: str) -> bool:
        """The client runs this tool; "pending" stands for its output until it comes."""
        return self._is_open(turn) and self._turns[-1].left_to_client(call_id) and self._weigh()

    def output(self, call_id: str, result: str) -> bool:
        """The client's output, in whichever turn it is awaited (the newest first); False where in none."""
        for at in reversed(range(len(self._turns))):
            if self._turns[at].output(call_id, result):
                self._costs[at] = self._cost(self._turns[at])
                self._trim()
                return True
        return False

    # --- the budget -----------------------------------------------------------------------------------------------

    def _is_open(self, turn: int) -> bool:
        return turn == self._number and self._open() is not None

    def _open(self) -> Turn | None:
        return self._turns[-1] if self._turns and self._turns[-1].open else None

    def _finish(self, heard: str, *, interrupted: bool) -> bool:
        turn = self._open()
        if turn is None:
            return False
        turn.close(heard, interrupted=interrupted)
        if turn.empty:
            self._drop_newest()
            return True
        return self._weigh()

    def _add(self, turn: Turn) -> None:
        self._number += 1
        self._turns.append(turn)
        self._costs.append(0)
        self._weigh()

    def _drop_newest(self) -> None:
        del self._turns[-1], self._costs[-1]

    def _weigh(self) -> bool:
        """The newest turn has changed."""
        self._costs[-1] = self._cost(self._turns[-1])
        self._trim()
        return True

    def _cost(self, turn: Turn) -> int:
        return cost(turn.messages(), self._count)

    def _trim(self) -> None:
        if self._turns:
            first = min(self._first_that_fits(0), len(self._turns) - 1)
            del self._turns[:first], self._costs[:first]

    def _first_that_fits(self, used: int) -> int:
        """Index of the oldest turn that, with all behind it and ``used`` tokens more, is within the budget."""
        first = len(self._turns)
        while first > 0 and (used := used + self._costs[first - 1]) <= self._budget:
            first -= 1
        return first
