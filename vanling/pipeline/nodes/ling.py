"""ling: an act to the sentences of its reply."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from vanling.clock import Clock
from vanling.dialogue.ling import EndOfReply, FirstToken, Ling, Utterance
from vanling.pipeline.events import Event, Milestone, Progress, ReplyEnd, TextChunk, TurnComplete
from vanling.pipeline.node import AsyncNode, AsyncTemplate, NodeContext


class LingNode(AsyncNode):
    def __init__(self, ling: Ling, clock: Clock) -> None:
        self._ling = ling
        self._clock = clock

    async def stream(self, upstream: AsyncIterator[Event]) -> AsyncGenerator[Event, None]:
        async for event in upstream:
            if isinstance(event, TurnComplete):
                async with aclosing(self._answer(event)) as answer:
                    async for item in answer:
                        yield item
            else:
                yield event

    async def _answer(self, head: TurnComplete) -> AsyncGenerator[Event, None]:
        asked_ns = self._clock.now_ns()
        first_sentence = True
        async with aclosing(self._ling.reply(head.act)) as reply:
            async for item in reply:
                match item:
                    case FirstToken():
                        yield self._progress(Milestone.LLM_FIRST, asked_ns)
                    case Utterance(text, emotion, spoken):
                        if first_sentence:
                            first_sentence = False
                            yield self._progress(Milestone.SENTENCE_FIRST, asked_ns)
                        yield TextChunk(text, emotion, spoken)
                    case EndOfReply():
                        yield ReplyEnd(item)

    def _progress(self, what: Milestone, asked_ns: int) -> Progress:
        now_ns = self._clock.now_ns()
        return Progress(what, now_ns, (now_ns - asked_ns) / 1e6)


class LingTemplate(AsyncTemplate):
    """One Ling per session: the template carries it, and every reply's node asks it."""

    def __init__(self, ling: Ling) -> None:
        self._ling = ling

    def new_instance(self, context: NodeContext) -> LingNode:
        return LingNode(self._ling, context.clock)
