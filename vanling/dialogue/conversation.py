"""A conversation: who said what, as the model will see it next time."""

from __future__ import annotations

from vanling.contracts.engines import Message, Role


class Conversation:
    """History and identity of one conversation.

    A turn enters the history as the user's words when its reply begins, and as the assistant's words when the reply
    ends, cut to what was heard.
    """

    def __init__(self, key: str, *, max_messages: int = 40) -> None:
        self.key = key
        self._messages: list[Message] = []
        self._max_messages = max_messages

    def messages(self) -> list[Message]:
        """All messages, oldest first."""
        return list(self._messages)

    def prompt(self, question: str) -> list[Message]:
        """The history up to and with ``question``, whether it is part of it yet or not."""
        asked = Message(Role.USER, question)
        return self.messages() if self._messages[-1:] == [asked] else [*self._messages, asked]

    def user_said(self, text: str) -> None:
        """Words of the user that are confirmed and will be answered."""
        self._append(Message(Role.USER, text))

    def user_went_on(self, text: str) -> None:
        """The words of the present turn and what came behind them, heard as one; they will be answered anew."""
        if self._messages and self._messages[-1].role is Role.USER:
            self._messages.pop()
        self.user_said(text)

    def assistant_said(self, text: str) -> None:
        """Store what was heard of a reply; an unheard one leaves no entry, and what is said outside a turn neither."""
        if text and self._messages and self._messages[-1].role is Role.USER:
            self._append(Message(Role.ASSISTANT, text))

    def _append(self, message: Message) -> None:
        self._messages.append(message)
        overhang = len(self._messages) - self._max_messages
        if overhang > 0:
            del self._messages[:overhang]
