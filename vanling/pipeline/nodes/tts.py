"""tts: sentences to speech, piece by piece."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from vanling.clock import Clock
from vanling.contracts.engines import Pcm, Priority, Tts
from vanling.dialogue.ling import EndOfReply, EndStatus
from vanling.errors import EngineTimeoutError, VanlingError
from vanling.pipeline.events import (
    Event,
    Milestone,
    Progress,
    ReplyEnd,
    SentenceBegin,
    SentenceDone,
    SpeechPiece,
    TextChunk,
)
from vanling.pipeline.node import AsyncNode, AsyncTemplate, NodeContext

log = logging.getLogger(__name__)

STARVING_BELOW_MS = 1000.0
"""Less audio left than this makes the next sentence urgent (CONVERSATION rule 7.3)."""

FAILURES_END_REPLY = 2
"""That many failed sentences in a row end a reply with the failure sentence (rule 5.1)."""


@dataclass(frozen=True, slots=True)
class TtsSettings:
    """Waits in ms; ``apology`` is the cached audio of the failure sentence, with its text."""

    voice: str | None = None
    first_chunk_ms: float = 8_000
    next_chunk_ms: float = 35_000
    apology: tuple[str, tuple[Pcm, ...]] | None = None


class TtsNode(AsyncNode):
    def __init__(self, tts: Tts, settings: TtsSettings, context: NodeContext) -> None:
        self._tts = tts
        self._settings = settings
        self._clock: Clock = context.clock
        self._session_id = context.session_id
        self._backlog_ms: Callable[[], float] = context.backlog_ms
        self._thought_only: Callable[[], bool] = context.thought_only
        self._spoken = False
        self._failures = 0

    async def stream(self, upstream: AsyncIterator[Event]) -> AsyncGenerator[Event, None]:
        async for event in upstream:
            if not isinstance(event, TextChunk):
                yield event
                continue
            async with aclosing(self._speak(event)) as sentence:
                async for item in sentence:
                    yield item
            if self._failures >= FAILURES_END_REPLY:
                async with aclosing(self._apologise()) as sentence:
                    async for item in sentence:
                        yield item
                yield ReplyEnd(EndOfReply(EndStatus.FAILED, None, "the voice failed twice in a row"))
                return

    async def _speak(self, chunk: TextChunk) -> AsyncGenerator[Event, None]:
        yield SentenceBegin(chunk.text, chunk.emotion)
        spoken = chunk.spoken or chunk.text
        if not self._tts.can_speak(spoken):
            yield SentenceDone(chunk.text)
            return
        failure = ""
        try:
            async with aclosing(self._pieces(spoken)) as pieces:
                async for piece in pieces:
                    yield piece
        except Exception as error:  # a voice may raise anything; the sentence is shown, the reply goes on
            failure = str(error) or type(error).__name__
            self._note(error)
        self._failures = self._failures + 1 if failure else 0
        yield SentenceDone(chunk.text, failure)

    async def _pieces(self, text: str) -> AsyncGenerator[Event, None]:
        stream = self._tts.synthesize(text, voice=self._settings.voice, priority=self._priority)
        asked_ns = self._clock.now_ns()
        limit_ms, which = self._settings.first_chunk_ms, "first"
        empty = True
        try:
            while True:
                try:
                    async with asyncio.timeout(limit_ms / 1000):
                        pcm = await anext(stream)
                except StopAsyncIteration:
                    break
                except TimeoutError as error:
                    raise EngineTimeoutError(f"no {which} audio from the voice within {limit_ms / 1000:g} s") from error
                limit_ms, which = self._settings.next_chunk_ms, "further"
                if not self._spoken:
                    self._spoken = True
                    now_ns = self._clock.now_ns()
                    yield Progress(Milestone.TTS_FIRST, now_ns, (now_ns - asked_ns) / 1e6)
                empty = empty and len(pcm.samples) == 0
                yield SpeechPiece(pcm)
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()
        if empty:
            raise EngineTimeoutError("the voice gave no audio for a sentence that it can speak")

    def _priority(self) -> Priority:
        if self._thought_only():
            return Priority.SPECULATION
        if not self._spoken:
            return Priority.FIRST_CHUNK
        return Priority.STARVING if self._backlog_ms() < STARVING_BELOW_MS else Priority.REST

    async def _apologise(self) -> AsyncGenerator[Event, None]:
        """The failure sentence from the cache: the voice itself cannot be relied on any more."""
        if self._settings.apology is None:
            return
        text, pieces = self._settings.apology
        yield SentenceBegin(text, "sad")
        for pcm in pieces:
            yield SpeechPiece(pcm)
        yield SentenceDone(text)

    def _note(self, error: Exception) -> None:
        extra = {"component": "TTS", "event": "tts_error", "session_id": self._session_id, "reason": str(error)}
        if isinstance(error, VanlingError):
            log.error("sentence failed", extra=extra)
        else:
            log.exception("sentence failed", extra=extra)


class TtsTemplate(AsyncTemplate):
    def __init__(self, tts: Tts, settings: TtsSettings) -> None:
        self._tts = tts
        self._settings = settings

    def new_instance(self, context: NodeContext) -> TtsNode:
        return TtsNode(self._tts, self._settings, context)
