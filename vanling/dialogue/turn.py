"""One turn of a conversation: the user's words and all that followed from them.

Its messages are valid at any moment, whatever was interrupted: results are not kept as messages of their own but in
their call's place, and a place that has no result yet reads as a placeholder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from vanling.contracts.engines import Message, Role, ToolCall


class NoResult(Enum):
    """Why a call has no result; the value is what the model reads in its place."""

    RUNNING = "pending: the tool is still running"
    CLIENT = "pending: the client runs this tool and has not answered yet"
    CANCELLED = "cancelled: the conversation went on before there was a result"


@dataclass(slots=True)
class _Called:
    call: ToolCall
    result: str | NoResult = NoResult.RUNNING


@dataclass(slots=True)
class _Step:
    """What the model wrote in one go: words, and the calls behind them."""

    text: str
    calls: list[_Called] = field(default_factory=list)
    interrupted: bool = False


class Turn:
    """Opened with the user's words (None: a reply without any), closed by what was heard of the reply."""

    def __init__(self, words: str | None) -> None:
        self.words = words
        self.open = True
        self._steps: list[_Step] = []
        self._reply_from = 0

    @property
    def bare(self) -> bool:
        """Whether nothing followed from the user's words."""
        return not self._steps

    @property
    def empty(self) -> bool:
        return self.words is None and self.bare

    def messages(self) -> Iterator[Message]:
        if self.words is not None:
            yield Message(Role.USER, self.words)
        for step in self._steps:
            calls = tuple(called.call for called in step.calls)
            yield Message(Role.ASSISTANT, step.text, calls, interrupted=step.interrupted)
            for called in step.calls:
                result = called.result
                text = result.value if isinstance(result, NoResult) else result
                yield Message(Role.TOOL, text, tool_call_id=called.call.id)

    def reopen(self) -> None:
        """A further reply begins, without words of the user."""
        self.open = True

    def called(self, calls: Sequence[ToolCall], text: str) -> None:
        """The model wrote ``text`` and calls tools.

        Raises:
            ValueError: no call, or two with the same id: no model would take that back.
        """
        if not calls or len({call.id for call in calls}) < len(calls):
            raise ValueError(f"the ids of tool calls must differ: {[call.id for call in calls]}")
        self._steps.append(_Step(text.strip(), [_Called(call) for call in calls]))

    def returned(self, call_id: str, result: str) -> bool:
        """Put a result into its place; False where no running call has this id."""
        return self._fill(call_id, NoResult.RUNNING, result)

    def left_to_client(self, call_id: str) -> bool:
        """The client runs this tool; its output may come long after the reply. False where no running call has it."""
        return self._fill(call_id, NoResult.RUNNING, NoResult.CLIENT)

    def output(self, call_id: str, result: str) -> bool:
        """The client's output takes the place of its "pending" result; False where none is awaited."""
        return self._fill(call_id, NoResult.CLIENT, result)

    def close(self, heard: str, *, interrupted: bool) -> None:
        """The reply is over: cut to ``heard``, what still runs is cancelled."""
        reply = self._steps[self._reply_from :]
        rest = heard.strip()
        for step in reply:
            rest = _cut(step, rest)
        if rest:
            self._steps.append(_Step(rest))
            reply.append(self._steps[-1])
        if interrupted:
            for step in reversed(reply):
                if step.text:
                    step.interrupted = True
                    break
        self._replace(NoResult.RUNNING, NoResult.CANCELLED)
        self._reply_from = len(self._steps)
        self.open = False

    def cancel_all(self) -> None:
        """Nobody will answer the open calls any more, the client's neither."""
        self._replace(NoResult.RUNNING, NoResult.CANCELLED)
        self._replace(NoResult.CLIENT, NoResult.CANCELLED)

    def _fill(self, call_id: str, now: NoResult, result: str | NoResult) -> bool:
        for step in reversed(self._steps):  # models may use an id again in a later step
            for called in step.calls:
                if called.call.id == call_id and called.result is now:
                    called.result = result
                    return True
        return False

    def _replace(self, now: NoResult, then: NoResult) -> None:
        for step in self._steps:
            for called in step.calls:
                if called.result is now:
                    called.result = then


def _cut(step: _Step, heard: str) -> str:
    """Leave in ``step`` what was heard of it; the rest of ``heard`` belongs to the steps behind it."""
    if heard.startswith(step.text):
        return heard[len(step.text) :].strip()
    if step.text.startswith(heard):
        step.text, heard = heard, ""
    else:  # spoken otherwise than written: all of it stands behind the calls
        step.text = ""
    return heard
