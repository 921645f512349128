"""Kinds of characters that the stages tell apart."""

from __future__ import annotations

import unicodedata

ENDERS = frozenset(".!?。！？…．｡")
"""Marks that may end a sentence."""

CJK_ENDERS = frozenset("。！？｡")
"""Of these, the ones that end it without a space after them."""

CLOSERS = frozenset("\"'”’»›)]}）】〕］｝》〉」』〗〙")
"""What may follow an end mark and still belongs to its sentence."""

LATIN_CLAUSE = frozenset(",;:")
"""Marks that end a clause where a space follows (``1,000`` and ``10:30`` are no clauses)."""

CJK_CLAUSE = frozenset("，；：、")

_WIDE = (
    (0x1100, 0x11FF),  # Hangul jamo
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),
    (0x3040, 0x31FF),  # kana, bopomofo
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7AF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9D),
    (0x20000, 0x3FFFF),
)


def is_cjk(char: str) -> bool:
    """A character that is a syllable or a word by itself."""
    if char < "\u1100":
        return False
    code = ord(char)
    return any(first <= code <= last for first, last in _WIDE)


def is_mark(char: str) -> bool:
    """A combining character: it belongs to the one before."""
    return char > "\u02ff" and (unicodedata.category(char)[0] == "M" or char in "\u200c\u200d")
