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

    def user_said(self, text: str) -> None:
        self._append(Message(Role.USER, text))

    def assistant_said(self, text: str) -> None:
        """Store what was heard of a reply; an unheard reply leaves no entry."""
        if text:
            self._append(Message(Role.ASSISTANT, text))

    def _append(self, message: Message) -> None:
        self._messages.append(message)
        overhang = len(self._messages) - self._max_messages
        if overhang > 0:
            del self._messages[:overhang]
