"""Whether a mark ends a sentence, by what stands around it."""

from __future__ import annotations

from enum import Enum

from vanling.dialogue.text.abbreviations import BEFORE_NUMBERS, MAY_BE_LAST, NEVER_LAST, STARTERS
from vanling.dialogue.text.chars import CJK_ENDERS, CLOSERS, ENDERS, is_cjk
from vanling.dialogue.text.signs import is_tag


class Border(Enum):
    YES = "yes"
    NO = "no"
    BY_NEXT_WORD = "by next word"


LONGEST_WORD = 40
"""So far back is looked for what stands before a full stop."""


def after_mark(text: str, char: str, *, gap: bool, closed: bool) -> Border:
    """Judge ``text``, which ends with end marks, by the character behind it.

    ``gap``: there were blanks (or pictures) between; ``closed``: there were closing quotes or brackets.
    """
    mark = text[-1]
    if is_tag(char):
        return Border.YES
    run = len(text) - len(text.rstrip("".join(ENDERS)))
    if mark in CJK_ENDERS:
        return Border.YES
    if not gap:
        return _unspaced(text, char, closed)
    if char in CLOSERS and char not in "\"'":
        return Border.NO
    lower = char.islower()
    if mark == "…" or (run > 1 and text[-run:].strip(".") == ""):
        return Border.NO if lower else Border.YES
    if mark in "!?！？":
        return Border.NO if lower and closed else Border.YES
    if closed:
        return Border.NO if lower else Border.YES
    return _full_stop(text, char)


def after_word(word: str) -> Border:
    """Judge an abbreviation that may be a sentence's last word by the word that follows."""
    return Border.YES if word.lower().replace("’", "'") in STARTERS else Border.NO


def _unspaced(text: str, char: str, closed: bool) -> Border:
    """No blank behind the mark: within numbers, names and addresses, or a text that has no blanks."""
    mark = text[-1]
    before = text.rstrip("".join(ENDERS))[-1:]
    if mark == "…":
        return Border.NO
    if mark in "！？":
        return Border.YES
    if is_cjk(char):
        return Border.YES if closed or not before.isdigit() else Border.NO
    if mark in "!?" and char.isupper() and before.isalpha():
        return Border.NO if _in_address(text) else Border.YES
    return Border.NO


def _in_address(text: str) -> bool:
    word = text[-200:].rsplit(" ", 1)[-1]
    return "://" in word or word.startswith("www.") or "@" in word


def _full_stop(text: str, char: str) -> Border:
    word = _word_before(text)
    plain = word.lower()
    if not word:
        return Border.NO if char.islower() else Border.YES
    if word.isdigit() and len(word) <= 2 and text[:-1].strip("\"'“(") == word:
        return Border.NO  # "1. Milk": the number of a list item
    if plain in NEVER_LAST:
        return Border.NO
    if plain in BEFORE_NUMBERS and char.isdigit():
        return Border.NO
    degrees = text[: -len(word) - 1][-1:] in {"°", "º"}
    initial = len(word) == 1 and word.isupper() and word != "I" and not degrees
    dotted = "." in word and all(len(part) == 1 or part == "Ph" for part in word.split("."))
    if initial or dotted or plain in MAY_BE_LAST or word == "Ph.D":
        if char.islower():
            return Border.NO
        if char.isupper():
            return Border.YES if plain in {"a.m", "p.m"} else Border.BY_NEXT_WORD
        return Border.NO if char.isdigit() or char in "(" else Border.YES
    return Border.YES


def _word_before(text: str) -> str:
    """The word that a full stop belongs to, with the full stops inside it."""
    end = len(text) - 1
    start = end
    while start > 0 and end - start < LONGEST_WORD and (text[start - 1].isalnum() or text[start - 1] in ".-'’"):
        if is_cjk(text[start - 1]):
            break
        start -= 1
    return text[start:end].lstrip(".-'’")
