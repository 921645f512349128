"""Emotions: the 21 names that the firmware has faces for, and the tags by which a model asks for them."""

from __future__ import annotations

import re

NEUTRAL = "neutral"

EMOTIONS = frozenset(
    (
        *("neutral", "happy", "laughing", "funny", "sad", "angry", "crying"),
        *("loving", "embarrassed", "surprised", "shocked", "thinking", "winking", "cool"),
        *("relaxed", "delicious", "kissy", "confident", "sleepy", "silly", "confused"),
    )
)
"""Names of the XiaoZhi firmware's emoji table; anything else leaves a device's face as it is."""

_TAG = re.compile(r"\[(?:emotion:)?([a-z_]{1,20})\]")


def take_emotion(text: str) -> tuple[str, str]:
    """Split a sentence into (text without emotion tags, the first known emotion or ``neutral``).

    ``[emotion:happy]`` and ``[happy]`` are tags; other bracketed words stay in the text unless they are written with
    the ``emotion:`` prefix.
    """
    found = NEUTRAL

    def strip(match: re.Match[str]) -> str:
        nonlocal found
        name = match[1]
        if name in EMOTIONS:
            if found == NEUTRAL:
                found = name
            return ""
        return "" if match[0].startswith("[emotion:") else match[0]

    stripped = _TAG.sub(strip, text)
    if stripped != text:
        stripped = " ".join(stripped.split())
    return stripped, found
