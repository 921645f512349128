"""The splitter: the same sentences however the text was cut, and all of the text."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vanling.dialogue.splitter import MAX_SENTENCE_CHARS, SentenceSplitter, cut_long

TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from(list(" \n.!?…。！？，,;:'\")”』0123456789aAbB你好Éß•-")), st.characters(exclude_characters="*")
    ),
    max_size=120,
)


def split(*pieces: str) -> list[str]:
    splitter = SentenceSplitter()
    return [*(sentence for piece in pieces for sentence in splitter.feed(piece)), *splitter.finish()]


def letters(text: str) -> str:
    return "".join(text.split())


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.data())
def test_any_chunking_gives_the_same_sentences(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=20)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = split(text)
    assert split(*pieces) == whole
    assert split(*text) == whole


@settings(max_examples=150, deadline=None)
@given(TEXTS)
@example("")
@example("   \n ")
@example("x" * 5_000)
@example("word " * 1_000)
@example("，" * 1_000)
@example(" " * 1_000 + "x")
@example("Mr. " * 500)
@example("A. " * 500)
def test_every_character_survives_and_no_sentence_is_blank(text: str) -> None:
    sentences = split(text)
    assert letters("".join(sentences)) == letters(text)
    assert all(sentence.strip() for sentence in sentences)


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="ab ,.，A。\n", min_size=380, max_size=1_500))
def test_no_sentence_is_longer_than_the_cap(text: str) -> None:
    assert all(len(sentence) <= MAX_SENTENCE_CHARS for sentence in split(text))
    assert letters("".join(split(text))) == letters(text)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        # P33: a mark inside a number ends nothing
        ("It is 98.6°F today. Fine by me.", ["It is 98.6°F today.", "Fine by me."]),
        ("It costs $3.5 now. Buy it.", ["It costs $3.5 now.", "Buy it."]),
        ("身高1.23米。很高。", ["身高1.23米。", "很高。"]),
        ("The router is 192.168.1.1 here. Open it.", ["The router is 192.168.1.1 here.", "Open it."]),
        ("Version 1.2.3 is out. Install it.", ["Version 1.2.3 is out.", "Install it."]),
        # P34: and a sentence does end
        ("She was born on Jan 1, 1980. He came later.", ["She was born on Jan 1, 1980.", "He came later."]),
        ("She was born on Jan 1, 1980.", ["She was born on Jan 1, 1980."]),
        ("价格1,000.00元，今天40.0度。好的！", ["价格1,000.00元，今天40.0度。", "好的！"]),
        (
            "On 2025/01/01 a third, 1/3, came at 10:30am. Done.",
            ["On 2025/01/01 a third, 1/3, came at 10:30am.", "Done."],
        ),
        # marks of both scripts, closers, abbreviations, blank lines
        ("你好！今天天气怎么样？很好。", ["你好！", "今天天气怎么样？", "很好。"]),
        ("“你好。”他说。", ["“你好。”", "他说。"]),
        ('He said "Stop!" Then he left.', ['He said "Stop!"', "Then he left."]),
        ("Dr. Smith is here. Come in.", ["Dr. Smith is here.", "Come in."]),
        ("Really?! Wait… What", ["Really?!", "Wait…", "What"]),
        ("A title\n\nAnd a text", ["A title", "And a text"]),
        ("no mark at all", ["no mark at all"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences
    assert split(*text) == sentences
    assert split(*[word + " " for word in text.split(" ")][:-1], text.rsplit(" ", maxsplit=1)[-1]) == sentences


def test_a_sentence_comes_as_soon_as_the_next_one_begins() -> None:
    splitter = SentenceSplitter()
    assert list(splitter.feed("This is the first. ")) == []
    assert list(splitter.feed("T")) == ["This is the first."]


def test_ten_thousand_characters_without_a_mark_begin_early() -> None:
    splitter = SentenceSplitter()
    got: list[str] = []
    for n in range(10_000):
        got += splitter.feed("x")
        if n + 1 == MAX_SENTENCE_CHARS:
            assert len(got) == 1, "the voice can begin"
    got += splitter.finish()
    assert "".join(got) == "x" * 10_000


def test_words_are_not_cut_where_there_is_a_space() -> None:
    text = "somewhat " * 200
    assert {word for sentence in split(text) for word in sentence.split()} == {"somewhat"}


def test_long_sentences_are_cut_at_a_mark() -> None:
    clause = "y" * 150
    first, *_ = cut_long(f"{clause}, {clause}; {clause} {clause}")
    assert first == f"{clause}, {clause};"


def test_finish_twice_gives_the_rest_once() -> None:
    splitter = SentenceSplitter()
    list(splitter.feed("some words"))
    assert list(splitter.finish()) == ["some words"]
    assert list(splitter.finish()) == []
