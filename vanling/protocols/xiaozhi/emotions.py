"""The firmware's 21 faces and the emoji that goes with each (``lcd_display.cc``; the same names in all clients)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

EMOJI: Mapping[str, str] = MappingProxyType(
    {
        "neutral": "😶",
        "happy": "🙂",
        "laughing": "😆",
        "funny": "😂",
        "sad": "😔",
        "angry": "😠",
        "crying": "😭",
        "loving": "😍",
        "embarrassed": "😳",
        "surprised": "😯",
        "shocked": "😱",
        "thinking": "🤔",
        "winking": "😉",
        "cool": "😎",
        "relaxed": "😌",
        "delicious": "🤤",
        "kissy": "😘",
        "confident": "😏",
        "sleepy": "😴",
        "silly": "😜",
        "confused": "🙄",
    }
)

NEUTRAL = "neutral"


def known_face(name: str) -> str:
    """``name`` where a device knows it, else ``neutral``: current firmware leaves the screen unchanged otherwise."""
    return name if name in EMOJI else NEUTRAL
