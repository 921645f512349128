"""Text before it reaches the phonemiser."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.engines.piper.text import LONGEST, clean, pieces, speakable


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("left—right…", "left, right..."),
        ("naïve café", "naive cafe"),
        ("ＡＢＣ　１２", "ABC 12"),
        ("a\0b\u202ec", "a b c"),
        ("x \ud800 y", "x y"),
        ("👍 ok", "ok"),
        ("“quoted” ‘it’s’", "\"quoted\" 'it's'"),
    ],
)
def test_text_becomes_plain(text: str, cleaned: str) -> None:
    assert clean(text, "en") == cleaned


def test_other_languages_keep_their_letters() -> None:
    assert clean("schöne Grüße", "de") == "schöne Grüße"


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=300))
def test_no_text_is_too_strange(text: str) -> None:
    for language in ("en", "de"):
        cleaned = clean(text, language)
        assert not {unicodedata.category(c) for c in cleaned} & {"Cc", "Cs", "Cf", "Co"}
        speakable(text, language)


@given(st.text(alphabet="ab ,.;", max_size=2000))
def test_pieces_are_short_and_lose_nothing(text: str) -> None:
    text = clean(text, "en")
    parts = list(pieces(text))
    assert all(0 < len(part) <= LONGEST for part in parts)
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")


def test_long_text_is_cut_at_its_best_border() -> None:
    text = "a" * 150 + ". " + "b" * 100 + ", " + "c" * 100
    assert [part[-1] for part in pieces(text)] == [".", "c"]


@pytest.mark.parametrize(
    ("text", "language", "can"),
    [("привет", "ru", True), ("hello", "ru", False), ("你好", "zh", True), ("12", "zh", True), ("ß", "de", True)],
)
def test_scripts_go_with_languages(text: str, language: str, can: bool) -> None:
    assert speakable(text, language) is can


def test_a_long_number_is_read_digit_by_digit():
    assert clean("call 1234567890123456789 now", "en") == "call " + " ".join("1234567890123456789") + " now"
    assert clean("it is 123456", "en") == "it is 123456"
