"""The sentences that vanling says of its own accord, in English and Chinese."""

from __future__ import annotations

from enum import Enum

from vanling.dialogue.empty_input import EmptyKind


class Phrase(Enum):
    GREETING = "greeting"
    FAILURE = "failure"


_PHRASES: dict[Phrase, dict[str, str]] = {
    Phrase.GREETING: {"en": "Hi, I'm here.", "zh": "你好，我在。"},
    Phrase.FAILURE: {"en": "Sorry, something went wrong. Please try again.", "zh": "抱歉，出了点问题，请再试一次。"},
}

_EMPTY: dict[EmptyKind, dict[str, tuple[str, ...]]] = {
    EmptyKind.MANUAL: {
        "en": ("I didn't catch that. Please say it once more.",),
        "zh": ("我没有听清，请再说一遍。",),
    },
    EmptyKind.WAKE: {
        "en": ("What can I do for you?", "Tell me what you need. For example: what time is it?"),
        "zh": ("请问需要我做什么？", "请告诉我您的需要，比如：现在几点了？"),
    },
    EmptyKind.AUTO_SPOKE: {
        "en": (
            "Sorry, I didn't hear you well. Could you repeat that?",
            "I still couldn't make it out. Try other words, or speak a little slower.",
            "I can't hear you well right now. Let's try again later.",
        ),
        "zh": (
            "抱歉，没有听清，您能再说一遍吗？",
            "还是没有听清，请换个说法，或者说慢一点。",
            "现在听不太清楚，我们稍后再聊吧。",
        ),
    },
    EmptyKind.SILENCE: {
        "en": ("I'm listening. Go ahead.", "Please tell me what you would like to do."),
        "zh": ("我在听，请说。", "请告诉我您想做什么。"),
    },
    EmptyKind.CONTINUING: {"en": (), "zh": ()},
}


def language_of(voice_language: str) -> str:
    """``zh`` for a Chinese voice, else ``en``: the two languages that these sentences exist in."""
    return "zh" if voice_language.lower().startswith("zh") else "en"


def phrase(which: Phrase, language: str) -> str:
    return _PHRASES[which][language_of(language)]


def empty_prompt(kind: EmptyKind, grade: int, language: str) -> str:
    """The sentence for an empty turn; ``grade`` counts from 1, the last one is used for higher grades."""
    sentences = _EMPTY[kind][language_of(language)]
    return sentences[min(grade, len(sentences)) - 1] if sentences else ""
