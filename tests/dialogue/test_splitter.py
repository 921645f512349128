"""The splitter: the same sentences however the text was cut, and all of the text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.dialogue.told import chunkings, words_of
from vanling.dialogue.splitter import CJK_WIDTH, HARD_WIDTH, MAX_WIDTH, SentenceSplitter
from vanling.dialogue.text.chars import is_cjk

TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from(list(" \n.!?…。！？，,;:'\")”』0123456789aAbB你好Éß•-USDr\u0301")),
        st.characters(min_codepoint=32, exclude_categories=["Co", "Cs", "Cc"]),
    ),
    max_size=120,
)


def split(*pieces: str, eager: bool = False) -> list[str]:
    splitter = SentenceSplitter(first_clause=eager)
    fed = [piece.text for text in pieces for piece in splitter.feed(text)]
    return [*fed, *(piece.text for piece in splitter.finish())]


def letters(text: str) -> str:
    return "".join(text.split())


@settings(max_examples=300, deadline=None)
@given(chunkings(TEXTS), st.booleans())
def test_any_chunking_gives_the_same_sentences(cut: tuple[str, list[str]], eager: bool) -> None:
    text, pieces = cut
    assert split(*pieces, eager=eager) == split(text, eager=eager) == split(*text, eager=eager)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.booleans())
@example("", True)
@example("   \n ", True)
@example("x" * 5_000, True)
@example("word " * 1_000, True)
@example("，" * 1_000, True)
@example(" " * 1_000 + "x", False)
@example("Mr. " * 500, True)
@example("A. " * 500, True)
@example("U.S. Army " * 300, True)
@example("1.1" * 1_000, True)
@example("你" * 3_000, True)
def test_every_character_survives_in_order_and_no_sentence_is_blank(text: str, eager: bool) -> None:
    sentences = split(text, eager=eager)
    assert letters("".join(sentences)) == letters(text)
    assert all(sentence.strip() for sentence in sentences)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab ,，A你好\n", min_size=280, max_size=1_500))
def test_no_sentence_is_longer_than_the_cap(text: str) -> None:
    for sentence in split(text):
        assert sum(CJK_WIDTH if is_cjk(char) else 1 for char in sentence) <= HARD_WIDTH + CJK_WIDTH


EAGER_OR_NOT = [
    # P33: a mark inside a number ends nothing
    ("It is 98.6°F today. Fine by me.", ["It is 98.6°F today.", "Fine by me."]),
    ("It is -1.2 °C. Good.", ["It is -1.2 °C.", "Good."]),
    ("It costs $3.5 now. Buy it.", ["It costs $3.5 now.", "Buy it."]),
    ("身高1.23米。很高。", ["身高1.23米。", "很高。"]),
    ("The router is 192.168.1.1 here. Open it.", ["The router is 192.168.1.1 here.", "Open it."]),
    ("Version 1.2.3 is out. Install it.", ["Version 1.2.3 is out.", "Install it."]),
    ("Come at 10.30 or 14:30. Please.", ["Come at 10.30 or 14:30.", "Please."]),
    # P34: and a sentence does end
    ("She was born on Jan 1, 1980. He came later.", ["She was born on Jan 1, 1980.", "He came later."]),
    ("She was born on Jan 1, 1980.", ["She was born on Jan 1, 1980."]),
    ("价格1,000.00元。好的！", ["价格1,000.00元。", "好的！"]),
    ("It was 5. He left.", ["It was 5.", "He left."]),
    ("It was in 1980.\nThen", ["It was in 1980.", "Then"]),
    ("Yes. One. It is. No. I won't.", ["Yes.", "One.", "It is.", "No.", "I won't."]),
    ("hey! what's up? i'm good. ok", ["hey!", "what's up?", "i'm good.", "ok"]),
    # abbreviations
    ("Dr. Smith is here. Come in.", ["Dr. Smith is here.", "Come in."]),
    ("Mr. and Mrs. Smith came. Go.", ["Mr. and Mrs. Smith came.", "Go."]),
    ("Fruit, e.g. apples, is good. Yes.", ["Fruit, e.g. apples, is good.", "Yes."]),
    ("The U.S. Army came. Go.", ["The U.S. Army came.", "Go."]),
    ("He is in the U.S. He works.", ["He is in the U.S.", "He works."]),
    ("Number No. 5 is it. No. 6 too.", ["Number No. 5 is it.", "No. 6 too."]),
    ("J. R. R. Tolkien wrote it. Read.", ["J. R. R. Tolkien wrote it.", "Read."]),
    ("George W. Bush spoke. So did I. Then all.", ["George W. Bush spoke.", "So did I.", "Then all."]),
    ("See you at 5 p.m. Then we go.", ["See you at 5 p.m.", "Then we go."]),
    ("At 5 p.m. we go. Yes.", ["At 5 p.m. we go.", "Yes."]),
    ("Acme Inc. makes it. Acme Inc. The rest", ["Acme Inc. makes it.", "Acme Inc.", "The rest"]),
    # addresses
    ("Go to https://a.org/x?y=1.2. Now.", ["Go to https://a.org/x?y=1.2.", "Now."]),
    ("Write to me.x@a-b.co.uk! Now.", ["Write to me.x@a-b.co.uk!", "Now."]),
    # marks of both scripts, closers, ellipses, lines
    ("你好！今天天气怎么样？很好。", ["你好！", "今天天气怎么样？", "很好。"]),
    ("“你好。”他说。", ["“你好。”", "他说。"]),
    ('He said "Stop!" Then he left.', ['He said "Stop!"', "Then he left."]),
    ('"Stop!" he said. (Really.) Yes.', ['"Stop!" he said.', "(Really.)", "Yes."]),
    ("Really?! Wait… What", ["Really?!", "Wait…", "What"]),
    ("Well... maybe. Well... Maybe.", ["Well... maybe.", "Well...", "Maybe."]),
    ("我……我不知道。好", ["我……我不知道。", "好"]),
    ("OK.好的.再见", ["OK.", "好的.", "再见"]),
    ("1. Milk\n2. Bread. Fresh.", ["1. Milk", "2. Bread.", "Fresh."]),
    ("A title\n\nAnd a text", ["A title", "And a text"]),
    ("no mark at all", ["no mark at all"]),
    ("", []),
    (" \n ", []),
]


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize(("text", "sentences"), EAGER_OR_NOT)
def test_sentences(text: str, sentences: list[str], eager: bool) -> None:
    assert split(text, eager=eager) == sentences
    assert split(*text, eager=eager) == sentences
    assert split(*words_of(text), eager=eager) == sentences


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("On 2025/01/01 a third, 1/3, came. Done.", ["On 2025/01/01 a third,", "1/3, came.", "Done."]),
        (
            "Hello, my friend, today we go. And now, my dear friend, too.",
            [
                "Hello, my friend, today we go.",
                "And now, my dear friend, too.",
            ],
        ),
        ("今天天气很好，我们去公园吧，好吗？", ["今天天气很好，我们去公园吧，", "好吗？"]),
        ("今天的天气非常好，我们去吧。", ["今天的天气非常好，", "我们去吧。"]),
        ("Here is the whole list: one, two.", ["Here is the whole list:", "one, two."]),
        ("It costs 1,000,000 at 10:30, I think.", ["It costs 1,000,000 at 10:30,", "I think."]),
    ],
)
def test_the_first_clause_is_given_early(text: str, pieces: list[str]) -> None:
    assert split(text, eager=True) == split(*text, eager=True) == pieces


def test_only_the_last_part_ends_the_sentence() -> None:
    splitter = SentenceSplitter()
    pieces = [*splitter.feed("This is the beginning, and this the end. "), *splitter.finish()]
    assert [piece.ends for piece in pieces] == [False, True]


def test_a_sentence_comes_as_soon_as_the_next_one_begins() -> None:
    splitter = SentenceSplitter()
    assert list(splitter.feed("This is the first. ")) == []
    assert [piece.text for piece in splitter.feed("T")] == ["This is the first."]


def test_sixty_words_without_a_mark_begin_within_two_seconds_of_a_slow_model() -> None:
    """P37: at 10 words a second."""
    splitter = SentenceSplitter()
    for n in range(60):
        if list(splitter.feed("about ")):
            assert n <= 20
            return
    pytest.fail("nothing was given")


def test_ten_thousand_characters_without_a_mark_begin_early() -> None:
    splitter = SentenceSplitter()
    got: list[str] = []
    for n in range(10_000):
        got += [piece.text for piece in splitter.feed("x")]
        assert got or n <= HARD_WIDTH
    got += [piece.text for piece in splitter.finish()]
    assert "".join(got) == "x" * 10_000


@pytest.mark.parametrize("word", ["somewhat", "e\u0301te\u0301s", "a-b", "don't"])
@pytest.mark.parametrize("eager", [False, True])
def test_words_are_not_cut_where_there_is_a_space(word: str, eager: bool) -> None:
    text = f"{word} " * 400
    assert {part for sentence in split(text, eager=eager) for part in sentence.split()} == {word}


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.sampled_from(["x", "e\u0301", "o\u0302\u0323", "न्", "한", "你", "\U00020000"]), min_size=200, max_size=900
    )
)
def test_no_letter_is_cut_off_its_marks(letters: list[str]) -> None:
    for sentence in split("".join(letters)):
        assert not unicodedata.combining(sentence[0])


def test_long_sentences_are_cut_at_a_mark() -> None:
    clause = "y" * 140
    first, *_ = split(f"{clause}, {clause}; {clause} {clause}")
    assert first == f"{clause}, {clause};"
    assert len(first) <= MAX_WIDTH


def test_finish_twice_gives_the_rest_once() -> None:
    splitter = SentenceSplitter()
    list(splitter.feed("some words"))
    assert [piece.text for piece in splitter.finish()] == ["some words"]
    assert list(splitter.finish()) == []
