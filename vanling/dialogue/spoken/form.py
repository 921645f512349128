"""How a sentence is read aloud: figures, signs, dates and addresses as words, in the language of the voice."""

from __future__ import annotations

import re

from vanling.dialogue.spoken.chinese import chinese
from vanling.dialogue.spoken.english import english
from vanling.dialogue.text.chars import is_cjk

_WORDS = re.compile(r"[A-Za-z]{2,}")


def spoken_form(text: str, language: str) -> str:
    """What to give to a voice of ``language`` (a code as ``en`` or ``zh-CN``).

    A Chinese voice reads a sentence without any Chinese character in English. For other languages the text stays as it
    is: their voices know their own figures better.
    """
    name = language.lower().replace("_", "-").split("-")[0]
    if name in {"zh", "cmn"}:
        return english(text) if _english(text) else chinese(text)
    return english(text) if name == "en" else text


def _english(text: str) -> bool:
    """Three words or more, and no Chinese; ``5 kg`` and ``Windows 11`` are said in Chinese."""
    return not any(is_cjk(char) for char in text) and len(_WORDS.findall(text)) >= 3
