"""What both languages have to recognise."""

from __future__ import annotations

import re

NUMBER = r"(?<!\d)(?:\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
"""With or without thousands marks; never a sign."""

MAIL = re.compile(r"(?<![A-Za-z0-9_.+-])([A-Za-z0-9._%+-]{1,64})@([A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+)")
URL = re.compile(
    r"(?:https?://|www\.)([^\s/?#，。！？；：、）》」<>\"']+)([^\s?#，。！？；：、）》」<>\"']*)([^\s，。！？；：、）》」<>\"']*)"
)
DOMAIN = re.compile(
    r"(?<![A-Za-z0-9_@./-])((?:[A-Za-z0-9-]{1,63}\.){1,5}(?:com|org|net|io|dev|edu|gov|info|cn|ai|app|uk|de|local))(?![\w-]|\.\w)",
    re.IGNORECASE,
)
YEAR_FIRST = re.compile(r"(?<![\d/.-])(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:T(?=\d))?(?![\d/]|-\d|\.\d)")
TIME = re.compile(
    r"(?<![\d:.])(\d{1,2}):(\d{2})(?::(\d{2}))?(?![\d:])(?:Z\b)?(?:\s?([AaPp])\.?[Mm]\b(?:\.(?=\s+[a-z]))?)?", re.ASCII
)
PHONE = re.compile(
    r"(?<![A-Za-z0-9_.,/-])"
    r"(\+?\d{1,3}[ .-])?(\(\d{2,4}\)[ .-]?|\d{2,4}[ .-])?(\d{3,4}[ -]\d{4})(?![A-Za-z0-9_/-]|[.,]\d)"
)
LONG_DIGITS = re.compile(r"(?<![\d.,:/-])(\+\d{8,15}|1[3-9]\d{9}|0\d{1,14})(?![\d/:-]|[.,]\d)")
"""A phone number without blanks, or any number that begins with a zero: each digit counts."""
VERSION = re.compile(r"(?<![\d.])(?:\b[vV](?=\d))?(\d+(?:\.\d+){2,})(?!\.?\d)")
CITATION = re.compile(r" ?(?:\[\d{1,3}(?:[,-] ?\d{1,3})*\]|【[^】]{0,40}†[^】]{0,40}】)")
MINUS = r"[-−–]"
SIGNED = re.compile(rf"(?<![A-Za-z0-9_)\]°%.,/{MINUS[1:-1]}])(?<!\d )(?<!\d  ){MINUS}(?=(?:[$€£¥￥]\s?)?\d)")
"""A minus in front of a number, with no number before it."""
FRACTIONS = {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅛": (1, 8)}


def trailing(text: str) -> tuple[str, str]:
    """An address without the marks of the sentence that it stands in, and those marks."""
    bare = text.rstrip(".,;:!?)")
    return bare, text[len(bare) :]


def is_date(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= 31


def is_phone(match: re.Match[str]) -> bool:
    """At least seven digits, in groups as they are written; ``2024-2025`` are years."""
    digits = sum(char.isdigit() for char in match[0])
    found = groups(match[0])
    if digits < 7 or (len(found) == 2 and len(found[0]) == 4):
        return False
    return len(found) > 2 or "-" in match[0]


def groups(text: str) -> list[str]:
    return [group for group in re.split(r"\D+", text) if group]
