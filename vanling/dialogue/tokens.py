"""How much a text costs a language model, without asking one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from vanling.contracts.engines import Message

TokenCounter = Callable[[str], int]
"""Tokens of a text; every model counts its own way."""

CHARS_PER_TOKEN = 4
"""Of alphabetic scripts, as OpenAI's help pages give it for English."""

MESSAGE_TOKENS = 4
"""What role and delimiters of one message cost (ChatML: ``<|im_start|>role\\n … <|im_end|>\\n``)."""

_WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U0001f000-\U0003ffff]")


def estimate_tokens(text: str) -> int:
    """One token for each CJK character, kana, hangul syllable or emoji, one for each four of other characters."""
    if text.isascii():
        return -(-len(text) // CHARS_PER_TOKEN)
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // CHARS_PER_TOKEN)


def cost(messages: Iterable[Message], count: TokenCounter = estimate_tokens) -> int:
    """Tokens of messages with all that is in them."""
    return sum(
        MESSAGE_TOKENS
        + count(message.text)
        + sum(count(call.name) + count(call.arguments) for call in message.tool_calls)
        for message in messages
    )
