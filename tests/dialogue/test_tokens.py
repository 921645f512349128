"""The estimate of tokens: what it is given for, and that it can only grow with the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.contracts.engines import Message, Role, ToolCall
from vanling.dialogue.tokens import MESSAGE_TOKENS, cost, estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("现在几点了", 5),
        ("现在几点了？", 6),
        ("打开 lights", 2 + 2),
        ("こんにちは", 5),
        ("안녕", 2),
        ("🙂🙂", 2),
        ("über", 1),
        ("привет мир", 3),
    ],
)
def test_cjk_counts_by_the_character_the_rest_by_fours(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_joining_neither_hides_nor_adds_more_than_a_token(a: str, b: str) -> None:
    assert estimate_tokens(a) + estimate_tokens(b) - 1 <= estimate_tokens(a + b)
    assert estimate_tokens(a + b) <= estimate_tokens(a) + estimate_tokens(b)


def test_a_message_costs_its_text_its_calls_and_its_frame() -> None:
    call = ToolCall("1", "name", '{"a":1}')
    assert cost([Message(Role.USER, "abcd")]) == MESSAGE_TOKENS + 1
    assert cost([Message(Role.ASSISTANT, "", (call,))], len) == MESSAGE_TOKENS + len("name") + len('{"a":1}')
    assert cost([]) == 0
