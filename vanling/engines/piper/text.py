"""Make any text fit for a phonemiser, and long text short enough for one synthesis."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

LONGEST = 280
"""Characters of one synthesis: some 20 s of speech; the encoder's cost grows with the square."""

_LONG_NUMBER = re.compile(r"\d{13,}")
"""Read digit by digit: nobody follows such a number, and spelling it out takes hundreds of words."""
_PAUSES = str.maketrans({"–": ", ", "—": ", ", "―": ", ", "“": '"', "”": '"', "‘": "'", "’": "'", "`": "'"})
_SPOKEN_SYMBOLS = frozenset("+=%&@#*/<>^~|$€£¥°")


def clean(text: str, language: str) -> str:
    """Text of letters, digits and punctuation only.

    Compatibility forms become plain ones, emoji and controls (NUL, direction marks, lone surrogates) become spaces; an
    English voice gets letters without diacritics, which its lexicon lacks.
    """
    plain = unicodedata.normalize("NFKC", text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    if language == "en":
        plain = "".join(c for c in unicodedata.normalize("NFD", plain) if not unicodedata.combining(c))
    kept = "".join(c if _is_text(c) else " " for c in plain.translate(_PAUSES))
    return " ".join(_LONG_NUMBER.sub(lambda number: " ".join(number[0]), kept).split())


def _is_text(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMNP" or character in _SPOKEN_SYMBOLS


def pieces(text: str, longest: int = LONGEST) -> Iterator[str]:
    """Cut cleaned text into parts of at most ``longest`` characters, at the best border that the second half offers."""
    while len(text) > longest:
        cut = _border(text, longest)
        yield text[:cut].strip()
        text = text[cut:].strip()
    if text:
        yield text


def _border(text: str, longest: int) -> int:
    for marks in (".!?。！？", ";:；：", ",，、", " "):
        for i in range(longest - 1, longest // 2, -1):
            if text[i] in marks and (marks == " " or not text[i + 1 : i + 2].isalnum()):
                return i + 1
    return longest


_SCRIPTS = {
    "zh": ("CJK",),
    "ja": ("CJK", "HIRAGANA", "KATAKANA"),
    "ko": ("HANGUL",),
    "ru": ("CYRILLIC",),
    "uk": ("CYRILLIC",),
    "bg": ("CYRILLIC",),
    "sr": ("CYRILLIC", "LATIN"),
    "el": ("GREEK",),
    "ar": ("ARABIC",),
    "fa": ("ARABIC",),
    "he": ("HEBREW",),
    "hi": ("DEVANAGARI",),
    "ka": ("GEORGIAN",),
}


def speakable(text: str, language: str) -> bool:
    """Whether there is any digit, or any letter of the language's script."""
    scripts = _SCRIPTS.get(language, ("LATIN",))
    return any(
        character.isdigit() or (character.isalpha() and unicodedata.name(character, "").startswith(scripts))
        for character in clean(text, language)
    )
