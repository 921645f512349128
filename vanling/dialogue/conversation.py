"""A conversation in the hands of one owner: its identity, its history, and the right to write into it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from vanling.contracts.engines import Message, ToolCall
from vanling.dialogue.history import History

log = logging.getLogger(__name__)


class Conversation:
    """What a session and its Ling hold. Made by itself it belongs to its maker for good; one that a
    :class:`~vanling.dialogue.conversation_book.ConversationBook` lent out is lost when another owner claims the same
    key. From then on, as after :meth:`release`, writes do nothing.

    A turn enters the history as the user's words when they are confirmed, and as the assistant's when the reply ends,
    cut to what was heard. What we say of our own accord (greetings, prompts for empty input) does not enter.
    """

    def __init__(
        self, key: str, history: History | None = None, *, on_release: Callable[[Conversation], None] | None = None
    ) -> None:
        """``on_release`` is told once that the owner is done."""
        self.key = key
        self._history = History() if history is None else history
        self._on_release = on_release
        self._on_lost: Callable[[], None] | None = None
        self._over = ""

    @property
    def over(self) -> bool:
        """Whether this owner writes no more."""
        return bool(self._over)

    def messages(self) -> list[Message]:
        """All messages, oldest first."""
        return self._history.messages()

    def prompt(self, question: str) -> list[Message]:
        """The history up to and with ``question``, whether it is part of it yet or not; see :meth:`History.prompt`."""
        return self._history.prompt(question)

    # --- what is said ---------------------------------------------------------------------------------------------

    def user_said(self, text: str) -> None:
        """Words of the user that are confirmed and will be answered."""
        if self._may_write("user_said"):
            self._history.begin(text)

    def user_went_on(self, text: str) -> None:
        """The words of the present turn and what came behind them, heard as one; they will be answered anew."""
        if self._may_write("user_went_on"):
            self._history.replace(text)

    def withdraw(self) -> None:
        """The present turn was none; it leaves nothing."""
        if self._may_write("withdraw"):
            self._history.withdraw()

    def reply_again(self) -> None:
        """A further reply begins without words of the user."""
        if self._may_write("reply_again"):
            self._history.resume()

    def assistant_said(self, text: str, *, interrupted: bool = False) -> None:
        """The reply is over; ``text`` is what was heard of it. An unheard reply leaves no entry, and what is said
        outside a turn neither."""
        if self._may_write("assistant_said"):
            self._history.finish(text, interrupted=interrupted)

    # --- tools ----------------------------------------------------------------------------------------------------

    @property
    def turn(self) -> int:
        """Number of the turn that is being answered, 0 where none is: whoever writes calls names it."""
        return 0 if self._over else self._history.turn

    def called(self, turn: int, calls: Sequence[ToolCall], text: str = "") -> bool:
        """The model wrote ``text`` and calls tools. False where that turn is over: then nothing must be called.

        Raises:
            ValueError: no call, or two with the same id.
        """
        return self._may_write("called") and self._history.called(turn, calls, text)

    def returned(self, turn: int, call_id: str, result: str) -> bool:
        """A tool's result. False where it comes too late; its cancelled placeholder stays."""
        return self._may_write("returned") and self._history.returned(turn, call_id, result)

    def left_to_client(self, turn: int, call_id: str) -> bool:
        """The client runs this tool; "pending" stands for its output until :meth:`output` replaces it."""
        return self._may_write("left_to_client") and self._history.left_to_client(turn, call_id)

    def output(self, call_id: str, result: str) -> bool:
        """The client's output of a tool; False where it is not awaited."""
        return self._may_write("output") and self._history.output(call_id, result)

    # --- ownership ------------------------------------------------------------------------------------------------

    def when_lost(self, finalise: Callable[[], None]) -> None:
        """Call ``finalise`` when another owner takes over; what it writes is the last that is taken."""
        self._on_lost = finalise

    def lose(self) -> None:
        """Another owner takes over: let this one write down what was heard, close open calls, take its right away."""
        if self._over:
            return
        if self._on_lost is not None:
            try:
                self._on_lost()
            except Exception:  # the new owner must get its conversation whatever the old one is up to
                log.exception("the old owner failed", extra=self._extra("takeover_error"))
        self._end("lost")

    def release(self) -> None:
        """This owner is done; another may go on within the time that conversations are kept. Twice is once."""
        self._end("released")

    def _end(self, how: str) -> None:
        if self._over:
            return
        self._history.cancel_all()
        self._over = how
        self._on_lost = None
        if self._on_release is not None:
            self._on_release(self)

    def _may_write(self, what: str) -> bool:
        if self._over:
            log.debug("%s refused: the conversation was %s", what, self._over, extra=self._extra("write_refused"))
        return not self._over

    def _extra(self, event: str) -> dict[str, str]:
        return {"component": "CONVERSATION", "event": event, "conversation": self.key}
