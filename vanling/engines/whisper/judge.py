"""What to believe of a transcript: loops, and the words that Whisper makes up when nobody spoke."""

from __future__ import annotations

import re
from collections.abc import Sequence

LOOP_REPEATS = 4
"""An n-gram this often in a row is a loop ("no, no, no" is not)."""
LOOP_TOKENS = 8
"""… if it also covers at least as many tokens."""
LOOP_NGRAM = 12

NO_SPEECH = 0.6
"""Silence, noise and hum gave 0.64…0.96 on our models, speech up to 0.45."""
NO_SPEECH_SURE = 0.9
UNLIKELY_LOGPROB = -1.0

_MADE_UP = frozenset(
    (
        *("you", "thank you", "thanks", "thanks for watching", "thank you for watching", "bye", "bye bye", "the end"),
        *("so", "oh", "uh", "um", "hmm", "mm", "okay", "i", "yeah"),
        *("谢谢观看", "謝謝觀看", "请不吝点赞 订阅", "ご視聴ありがとうございました"),
    )
)
_ASIDE = re.compile(r"[\[(*♪][^\])*♪]*[\])*♪]")


def loop_at(tokens: Sequence[int]) -> tuple[int, int] | None:
    """``(start, n)`` of the first n-gram that repeats itself at once too often, or None."""
    for n in range(1, LOOP_NGRAM + 1):
        needed = max(LOOP_REPEATS, -(-LOOP_TOKENS // n))
        run = 0
        for i in range(n, len(tokens)):
            run = run + 1 if tokens[i] == tokens[i - n] else 0
            if run >= n * (needed - 1):
                return i - run + 1 - n, n
    return None


def without_loop(tokens: Sequence[int]) -> list[int]:
    """Keep one turn of a loop and drop what follows: after a loop the model does not find back."""
    found = loop_at(tokens)
    if found is None:
        return list(tokens)
    start, n = found
    return list(tokens[: start + n])


def without_asides(text: str) -> str:
    """Drop sound captions such as "[BLANK_AUDIO]", "(wind blowing)" and notes."""
    return " ".join(_ASIDE.sub(" ", text).split())


def nobody_spoke(text: str, no_speech: float, avg_logprob: float) -> bool:
    """Whether a transcript is no words at all, or words that the model is known to make up over silence and noise."""
    if not any(character.isalnum() for character in text):
        return True
    if no_speech < NO_SPEECH:
        return False
    plain = " ".join(re.sub(r"[^\w\s.]", " ", text.lower()).strip(" .").split())
    return (
        plain in _MADE_UP or avg_logprob < UNLIKELY_LOGPROB or (no_speech > NO_SPEECH_SURE and len(plain.split()) < 3)
    )
