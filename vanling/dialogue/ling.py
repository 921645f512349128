"""Ling, the decision core: a user's words (or the lack of them) in, sentences with an emotion out.

Its stream always ends with one :class:`EndOfReply`, whatever happened to the model.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from enum import Enum

from vanling.contracts.engines import Delta, Llm, Message, Role
from vanling.dialogue.conversation import Conversation
from vanling.dialogue.emotion import NEUTRAL
from vanling.dialogue.empty_input import EmptyKind
from vanling.dialogue.phrases import Phrase, empty_prompt, phrase
from vanling.dialogue.speakable import Sentence, Speakable
from vanling.dialogue.spoken.form import spoken_form
from vanling.errors import EngineTimeoutError, VanlingError

log = logging.getLogger(__name__)

_AT_ONCE = 200
"""Characters of one delta that are worked on without a pause for others: some 1 ms."""


@dataclass(frozen=True, slots=True)
class UserSaid:
    """Words of the user, spoken or typed."""

    text: str


@dataclass(frozen=True, slots=True)
class EmptyTurn:
    """Nothing was said; ``grade`` counts from 1."""

    kind: EmptyKind
    grade: int


@dataclass(frozen=True, slots=True)
class Say:
    """A sentence of our own: a greeting, a failure."""

    phrase: Phrase


@dataclass(frozen=True, slots=True)
class Announcement:
    """Words of somebody else, a timer or another program, said as they are."""

    text: str


Act = UserSaid | EmptyTurn | Say | Announcement


@dataclass(frozen=True, slots=True)
class Utterance:
    """One sentence of a reply, as it is shown."""

    text: str
    emotion: str = NEUTRAL
    spoken: str = ""
    """What a voice is given instead, where figures and signs are to be read in words; empty: the text itself."""


@dataclass(frozen=True, slots=True)
class FirstToken:
    """The model has begun to answer."""


class EndStatus(Enum):
    DONE = "done"
    FAILED = "failed"


class Failure(Enum):
    LLM_FAILED = "llm_failed"
    LLM_EMPTY = "llm_empty"


@dataclass(frozen=True, slots=True)
class EndOfReply:
    status: EndStatus
    failure: Failure | None = None
    detail: str = ""


LingItem = FirstToken | Utterance | EndOfReply


@dataclass(frozen=True, slots=True)
class LingLimits:
    """Waits for the model in milliseconds (CONVERSATION rule 7.2)."""

    first_event_ms: float = 30_000
    next_event_ms: float = 10_000


class Ling:
    """One per session; ``conversation`` may outlive it.

    Ling only reads it: when a turn is confirmed and what was heard of a reply is known to the session, which writes it.
    """

    def __init__(
        self,
        llm: Llm,
        conversation: Conversation,
        *,
        system_prompt: str,
        language: str,
        limits: LingLimits = LingLimits(),
    ) -> None:
        self.conversation = conversation
        self._llm = llm
        self._system_prompt = system_prompt
        self._language = language
        self._limits = limits

    @property
    def language(self) -> str:
        """Language of our own sentences."""
        return self._language

    async def reply(self, act: Act) -> AsyncGenerator[LingItem, None]:
        """Answer an act. Failures of the model are said, then reported in the final :class:`EndOfReply`."""
        match act:
            case EmptyTurn(kind, grade):
                sentence = empty_prompt(kind, grade, self._language)
                if sentence:
                    yield Utterance(sentence)
                yield EndOfReply(EndStatus.DONE)
            case Say(which):
                yield Utterance(phrase(which, self._language))
                yield EndOfReply(EndStatus.DONE)
            case Announcement(text):
                speakable = Speakable()
                for piece in [*speakable.feed(text), *speakable.finish()]:
                    yield self._utterance(piece)
                yield EndOfReply(EndStatus.DONE)
            case UserSaid(text):
                async with aclosing(self._answer(text)) as answer:
                    async for item in answer:
                        yield item

    async def _answer(self, text: str) -> AsyncGenerator[LingItem, None]:
        failure, detail, said, begun = None, "", False, False
        speakable = Speakable()
        try:
            async with aclosing(self._deltas(self._prompt(text))) as deltas:
                async for delta in deltas:
                    if not begun:
                        begun = True
                        yield FirstToken()
                    for start in range(0, len(delta.text), _AT_ONCE):
                        for sentence in speakable.feed(delta.text[start : start + _AT_ONCE]):
                            said = True
                            yield self._utterance(sentence)
                        if start:
                            await asyncio.sleep(0)  # other sessions share this loop
        except Exception as error:  # an engine may raise anything; the turn must end with a word all the same
            if not isinstance(error, VanlingError):
                log.exception("language model failed", extra={"component": "LING", "event": "llm_error"})
            failure, detail = Failure.LLM_FAILED, str(error) or type(error).__name__
        for sentence in speakable.finish():
            said = True
            yield self._utterance(sentence)
        if failure is None and not said:
            failure, detail = Failure.LLM_EMPTY, "the language model gave nothing that can be said"
        if failure is None:
            yield EndOfReply(EndStatus.DONE)
            return
        yield Utterance(phrase(Phrase.FAILURE, self._language), "sad")
        yield EndOfReply(EndStatus.FAILED, failure, detail)

    def _prompt(self, question: str) -> Sequence[Message]:
        history = self.conversation.prompt(question)
        return [Message(Role.SYSTEM, self._system_prompt), *history] if self._system_prompt else history

    def _utterance(self, sentence: Sentence) -> Utterance:
        spoken = spoken_form(sentence.text, self._language)
        return Utterance(sentence.text, sentence.emotion, "" if spoken == sentence.text else spoken)

    async def _deltas(self, messages: Sequence[Message]) -> AsyncGenerator[Delta, None]:
        """The model's stream with its two limits: to the first event, and between later ones."""
        stream = self._llm.stream(messages)
        limit_ms, which = self._limits.first_event_ms, "first"
        try:
            while True:
                try:
                    async with asyncio.timeout(limit_ms / 1000):
                        delta = await anext(stream)
                except StopAsyncIteration:
                    return
                except TimeoutError as error:
                    raise EngineTimeoutError(
                        f"the language model gave no {which} event within {limit_ms / 1000:g} s"
                    ) from error
                limit_ms, which = self._limits.next_event_ms, "further"
                yield delta
        finally:
            await _close(stream)


async def _close(stream: AsyncIterator[Delta]) -> None:
    """Stop the model's work at once; plain iterators have nothing to close."""
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()
