"""What makes a list of messages one that every model takes back."""

from __future__ import annotations

from collections.abc import Sequence

from vanling.contracts.engines import Message, Role


def assert_valid(messages: Sequence[Message]) -> None:
    """Each call has exactly one result, right behind it and in the order of the calls; no result without a call."""
    at = 0
    while at < len(messages):
        message = messages[at]
        assert message.role is not Role.TOOL, f"a result without its call at {at}"
        assert message.text or message.tool_calls, f"an empty message at {at}"
        assert not message.tool_calls or message.role is Role.ASSISTANT
        assert not message.interrupted or (message.role is Role.ASSISTANT and message.text)
        results = messages[at + 1 : at + 1 + len(message.tool_calls)]
        assert [result.role for result in results] == [Role.TOOL] * len(message.tool_calls)
        assert [result.tool_call_id for result in results] == [call.id for call in message.tool_calls]
        assert all(result.text for result in results)
        at += 1 + len(results)
