"""Our own words, come back through the microphone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

OWN_SHARE = 0.7
"""Share of what was heard that must be ours, in order; the recogniser garbles what comes back through a room."""

MIN_WORDS = 2
"""A single word may well be an answer ("yes") though we have said it too."""

_WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]|[^\W_]+(?:'[^\W_]+)?")


def is_echo(heard: str, spoken: Sequence[str]) -> bool:
    """Whether ``heard`` is a piece of ``spoken``: :data:`OWN_SHARE` of its words stand there together, in order.

    Words are compared without case and marks; a Chinese character is a word.
    """
    words = _words(heard)
    if len(words) < MIN_WORDS:
        return False
    own = [word for sentence in spoken for word in _words(sentence)]
    matcher = SequenceMatcher(None, words, own, autojunk=False)
    matched = sum(block.size for block in matcher.get_matching_blocks())
    return matched >= OWN_SHARE * len(words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
