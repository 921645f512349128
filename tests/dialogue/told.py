"""Run texts through the stages, cut as the caller likes."""

from __future__ import annotations

from hypothesis import strategies as st

from vanling.dialogue.speakable import Speakable


def told(*pieces: str) -> list[tuple[str, str]]:
    """Sentences with their emotions."""
    speakable = Speakable()
    sentences = [*(sentence for piece in pieces for sentence in speakable.feed(piece)), *speakable.finish()]
    return [(sentence.text, sentence.emotion) for sentence in sentences]


def whole(*pieces: str) -> str:
    """All that is shown, sentences one space apart."""
    return " ".join(text for text, _ in told(*pieces))


def words_of(text: str) -> list[str]:
    """Pieces as a model gives them: words with the blank before."""
    words = text.split(" ")
    return [words[0], *(" " + word for word in words[1:])]


@st.composite
def chunkings(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[str, list[str]]:
    """A text and a way to cut it."""
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=20)))
    return text, [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
