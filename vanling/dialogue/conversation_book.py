"""Who owns which conversation, and how long those without an owner are kept (CONVERSATION rule 6.2)."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from vanling.clock import Clock
from vanling.dialogue.conversation import Conversation
from vanling.dialogue.history import DEFAULT_TOKENS, History
from vanling.dialogue.tokens import TokenCounter, estimate_tokens

log = logging.getLogger(__name__)

MAX_KEPT = 256
"""Conversations kept without an owner; of more, those left first are forgotten."""


class ConversationBook:
    """Conversations by the id of a device or of a conversation. All calls belong to one event loop."""

    def __init__(
        self,
        clock: Clock,
        *,
        resume_ms: float = 600_000,
        history_tokens: int = DEFAULT_TOKENS,
        max_kept: int = MAX_KEPT,
        count: TokenCounter = estimate_tokens,
    ) -> None:
        self._clock = clock
        self._resume_ns = int(resume_ms * 1e6)
        self._tokens = history_tokens
        self._max_kept = max_kept
        self._count = count
        self._owned: dict[str, tuple[Conversation, History]] = {}
        self._kept: OrderedDict[str, tuple[int, History]] = OrderedDict()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def kept(self) -> int:
        """Conversations without an owner that can still be resumed."""
        return len(self._kept)

    @property
    def owned(self) -> int:
        return len(self._owned)

    def claim(self, key: str) -> Conversation:
        """The conversation of ``key`` for a new owner: taken over from the present one, resumed, or a new one."""
        self._forget()
        if (present := self._owned.get(key)) is not None:
            log.info("conversation taken over", extra=_extra("conversation_takeover", key))
            owner, history = present
            owner.lose()
            self._kept.pop(key, None)
        elif (left := self._kept.pop(key, None)) is not None:
            log.info("conversation resumed", extra=_extra("conversation_resumed", key))
            _, history = left
        else:
            history = self._new_history()
        conversation = Conversation(key, history, on_release=self._released)
        self._owned[key] = (conversation, history)
        return conversation

    def anonymous(self, key: str) -> Conversation:
        """A conversation that nobody can ask for again; ``key`` is for the log."""
        return Conversation(key, self._new_history())

    @asynccontextmanager
    async def request(self, key: str) -> AsyncGenerator[Conversation, None]:
        """The conversation for the time of one request. Requests with the same key wait for each other; a
        connection's ownership is taken over."""
        lock = self._locks.get(key)
        if lock is None:
            self._locks[key] = lock = asyncio.Lock()
        async with lock:
            conversation = self.claim(key)
            try:
                yield conversation
            finally:
                conversation.release()

    def _new_history(self) -> History:
        return History(tokens=self._tokens, count=self._count)

    def _released(self, conversation: Conversation) -> None:
        """An owner is done, of its own will or not."""
        _, history = self._owned.pop(conversation.key)
        if not history.empty:
            self._kept[conversation.key] = (self._clock.now_ns(), history)
        self._forget()

    def _forget(self) -> None:
        """Drop what nobody came back for, and what is too much; the oldest come first."""
        expired_ns = self._clock.now_ns() - self._resume_ns
        while self._kept:
            left_ns, _ = next(iter(self._kept.values()))
            if left_ns > expired_ns and len(self._kept) <= self._max_kept:
                break
            self._kept.popitem(last=False)


def _extra(event: str, key: str) -> dict[str, str]:
    return {"component": "CONVERSATION", "event": event, "conversation": key}
