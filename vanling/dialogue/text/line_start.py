"""What markdown writes before the words of a line: headings, quotes, bullets, rules, table borders."""

from __future__ import annotations

from vanling.dialogue.text.chars import is_cjk

PREFIX_CHARS = frozenset("#>-*+_=|: ~•·‣⁃")
_DOTS = frozenset("•·‣⁃")
_BULLETS = frozenset("-*+")


def after_prefix(prefix: str, following: str) -> str:
    """What of a line's prefix (only characters of :data:`PREFIX_CHARS`) is text, by the character that follows it.

    A line of nothing else (a rule, the line below a heading or a table's head) is dropped.
    """
    if following == "\n":
        return ""
    at, end = 0, len(prefix)
    while at < end:
        char = prefix[at]
        if char == "#":
            level = 1
            while prefix[at + level : at + level + 1] == "#":
                level += 1
            if at + level == end and level == 1 and not is_cjk(following):
                break  # "#1" is a number
            at += level
        elif char in " >|" or char in _DOTS:
            at += 1
        elif char in _BULLETS and prefix[at + 1 : at + 2] == " ":
            at += 2
        else:
            break
    return prefix[at:]
