"""A round: one turn. As the shadow it hears; once it has its turn it is upgraded and speaks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import Any

from vanling.contracts.audio import AudioSpec
from vanling.dialogue.ling import Act, EndStatus, Failure
from vanling.pipeline.chain import HearingHalf, run_reply
from vanling.pipeline.events import (
    AudioOut,
    Event,
    Milestone,
    Progress,
    ReplyEnd,
    SentenceBegin,
    SentenceDone,
    TextChunk,
    TurnComplete,
    TurnHeard,
)
from vanling.pipeline.node import AsyncTemplate, NodeContext
from vanling.session.frame import ErrorCode, ReplyStatus
from vanling.session.metrics import TurnTimes
from vanling.session.outlet import Outlet

log = logging.getLogger(__name__)


class Round:
    """Exactly one turn and its reply; the hearing half is handed from one shadow to the next."""

    def __init__(self, number: int, session_id: str, hearing: HearingHalf) -> None:
        self.number = number
        self.hearing = hearing
        self.times: TurnTimes | None = None
        self.stopped = False
        self.upgraded = False
        self._begun_ns = 0
        self._session_id = session_id
        self._task: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        return f"{self._session_id}-{self.number}"

    def begin(self, reply: Coroutine[Any, Any, None], now_ns: int) -> asyncio.Task[None]:
        """Begin to answer, be it on a guess."""
        self._begun_ns = now_ns
        self._task = asyncio.create_task(reply, name=f"reply {self.id}")
        return self._task

    def upgrade(self, turn: TurnHeard | None, now_ns: int, start_gap_ms: float) -> float:
        """From here on this is the running round. Returns by how many ms it is ahead of one that begins now."""
        self.upgraded = True
        guessed, self.times = self.times, _times(turn, now_ns, start_gap_ms)
        if guessed is not None:
            # What the engines did before was done while the silence had to be waited for anyway.
            self.times.llm_first_ns, self.times.tts_first_ns = guessed.llm_first_ns, guessed.tts_first_ns
            self.times.thought_ahead = True
        return (now_ns - self._begun_ns) / 1e6

    def stop(self) -> None:
        """Cancel the reply; what it still makes is not offered to the outlet any more."""
        self.stopped = True
        if self._task is not None:
            self._task.cancel()


class ReplyRun:
    """Feeds one round's reply into the outlet, waiting while the outlet is far enough ahead."""

    def __init__(
        self,
        round_: Round,
        outlet: Outlet,
        pump: Callable[[], None],
        error: Callable[[ErrorCode, str], None],
    ) -> None:
        self.round = round_
        self.outlet = outlet
        self._pump = pump
        self._error = error
        self._failure: tuple[ErrorCode, str] | None = None
        self._room: asyncio.Future[None] | None = None

    def adopt(self, turn: TurnHeard | None, now_ns: int, start_gap_ms: float) -> float:
        """What was thought becomes the running round's reply; see :meth:`Round.upgrade`."""
        saved_ms = self.round.upgrade(turn, now_ns, start_gap_ms)
        if self._failure is not None:
            self._error(*self._failure)
        return saved_ms

    def make_room(self) -> None:
        """The outlet has sent something: go on where that is enough."""
        if self._room is not None and not self._room.done() and (self.outlet.has_room or self.round.stopped):
            self._room.set_result(None)

    async def run(self, templates: Sequence[AsyncTemplate], context: NodeContext, act: Act) -> None:
        status = ReplyStatus.FAILED
        try:
            async with aclosing(run_reply(templates, context, TurnComplete(act))) as events:
                async for event in events:
                    if self.round.stopped:
                        return
                    if isinstance(event, ReplyEnd):
                        status = self._ended(event)
                    else:
                        self._offer(event)
                    self._pump()
                    if not self.outlet.has_room:
                        self._room = asyncio.get_running_loop().create_future()
                        await self._room
        except Exception:
            log.exception(
                "reply failed",
                extra={"component": "ROUND", "event": "reply_error", "session_id": context.session_id},
            )
            self._report(ErrorCode.INTERNAL, "the reply could not be completed")
        finally:
            if not self.round.stopped:
                self.outlet.end(status)
                self._pump()

    def _offer(self, event: Event) -> None:
        outlet = self.outlet
        match event:
            case AudioOut(packets, duration_ms):
                for packet in packets:
                    outlet.audio(packet, duration_ms)
            case SentenceBegin(text, emotion):
                outlet.sentence(text, emotion)
            case SentenceDone(_, failure):
                outlet.sentence_end()
                if failure:
                    self._report(ErrorCode.TTS_FAILED, "a sentence could not be spoken")
            case TextChunk(text, emotion):  # a door without a voice: the sentence itself goes out
                outlet.sentence(text, emotion)
                outlet.sentence_end()
            case Progress():
                _note(self.round, event)

    def _ended(self, event: ReplyEnd) -> ReplyStatus:
        if event.end.status is EndStatus.DONE:
            return ReplyStatus.COMPLETED
        if event.end.failure is Failure.LLM_EMPTY:
            self._report(ErrorCode.LLM_EMPTY, "the language model gave no usable answer")
        elif event.end.failure is Failure.LLM_FAILED:
            self._report(ErrorCode.LLM_FAILED, "the language model failed")
        log.warning(
            "reply failed",
            extra={
                "component": "ROUND",
                "event": "reply_failed",
                "round_id": self.round.id,
                "reason": event.end.detail,
            },
        )
        return ReplyStatus.FAILED

    def _report(self, code: ErrorCode, message: str) -> None:
        """One error of a reply is enough for its client; of a reply that is only thought, none gets out."""
        if self._failure is None:
            self._failure = (code, message)
            if self.round.upgraded:
                self._error(code, message)


def _times(turn: TurnHeard | None, now_ns: int, start_gap_ms: float) -> TurnTimes:
    if turn is None:
        return TurnTimes(now_ns, endpoint_ns=now_ns, start_gap_ms=start_gap_ms)
    return TurnTimes(
        turn.over.speech_end_ns,
        endpoint_ns=turn.over.decided_ns,
        asr_ns=turn.outcome.at_ns,
        silence_ms=turn.over.silence_ms,
        start_gap_ms=start_gap_ms,
        asr_busy_ms=turn.outcome.busy_ms,
    )


def _note(round_: Round, progress: Progress) -> None:
    """Write a milestone down; what was reached before the turn was over cost it nothing."""
    if round_.times is None:
        round_.times = TurnTimes(progress.at_ns)
    times = round_.times
    since_ns = progress.at_ns - (times.asr_ns or times.speech_end_ns)
    busy_ms = min(progress.busy_ms, since_ns / 1e6) if times.thought_ahead else progress.busy_ms
    match progress.what:
        case Milestone.LLM_FIRST:
            times.llm_first_ns = progress.at_ns
        case Milestone.SENTENCE_FIRST:
            times.llm_busy_ms = busy_ms
        case Milestone.TTS_FIRST:
            times.tts_first_ns = progress.at_ns
            times.tts_busy_ms = busy_ms


def find_spec(templates: Sequence[object]) -> AudioSpec | None:
    """The first ``AudioSpec`` among the capabilities of the templates, in their order; None: a text-only session."""
    for template in templates:
        if isinstance(template, AsyncTemplate):
            for capability in template.capabilities():
                if isinstance(capability, AudioSpec):
                    return capability
    return None
