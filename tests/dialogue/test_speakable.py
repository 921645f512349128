"""What a model writes becomes what one says: the same however the stream is cut, and never markup."""

from __future__ import annotations

import sys
import unicodedata
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.dialogue.told import chunkings, told, whole, words_of

FAMILY = "👨\u200d👩\u200d👧"
RICH = st.lists(
    st.one_of(
        st.sampled_from(list("*_~`#>|-+[](){}<>!\\/.:,\"'=& \n\n1aB你。！？…")),
        st.sampled_from(
            [
                "<think>",
                "</think>",
                "<|",
                "|>",
                "<|FunctionCallBegin|>",
                "<|FunctionCallEnd|>",
                "<tool_call>",
                "</tool_call>",
                "<b>",
                "<br/>",
                "</p>",
                "```",
                "~~~",
                "---",
                "[happy]",
                "[emotion:sad]",
                "](http://a.b/)",
                "![",
                '{"name":',
                '"arguments":',
                "{}",
                '"}',
                "[TOOL_CALLS]",
                "[THINK]",
                "[/THINK]",
                "<|channel|>",
                "<|message|>",
                "<|end|>",
                "Mr.",
                "U.S.",
                "1.5",
                "e.g.",
            ]
        ),
        st.sampled_from(
            [FAMILY, "🇩🇪", "1️⃣", "❤️", "⭐", "👍🏽", "\u200d", "\ufe0f", "\u202e", "\ud83d", "\ude00", "\x00", "e\u0301"]
        ),
        st.text(max_size=3),
    ),
    max_size=40,
).map("".join)


@settings(max_examples=1_500, deadline=None)
@given(chunkings(RICH))
def test_any_chunking_gives_the_same_sentences(cut: tuple[str, list[str]]) -> None:
    text, pieces = cut
    assert told(*pieces) == told(text) == told(*text)


@settings(max_examples=500, deadline=None)
@given(RICH)
def test_what_is_shown_is_clean(text: str) -> None:
    for sentence, _ in told(text):
        assert any(char.isalnum() for char in sentence)
        assert sentence == sentence.strip()
        assert "\n" not in sentence
        for char in sentence:
            assert unicodedata.category(char) not in {"Cc", "Cs", "Co", "Cn"}
            assert char not in "\ufe0f\u20e3\u202a\u202e\u2066⭐❤😀👍🏽🇩"


PLAIN = st.text(alphabet="abcXYZ 0123,;:.!?'\"()你好。，！？\n-", max_size=150)


@settings(max_examples=300, deadline=None)
@given(PLAIN)
def test_every_letter_and_figure_of_plain_text_survives_in_order(text: str) -> None:
    assert _spoken_part(whole(text)) == _spoken_part(text)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["one", "two", "你好", "3"]), min_size=1), st.sampled_from(["**", "*", "__", "~~", "`"])
)
def test_emphasis_keeps_its_contents(words: list[str], mark: str) -> None:
    text = " ".join(f"{mark}{word}{mark}" for word in words)
    assert _spoken_part(whole(text)) == "".join(words)


def _spoken_part(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


CLEANED = [
    # P29: tool calls
    ('<|FunctionCallBegin|>[{"name": "x", "parameters": {}}]<|FunctionCallEnd|>', ""),
    ('Sure. <|FunctionCallBegin|>[{"name": "x"}]', "Sure."),
    ('<tool_call>{"name": "x", "arguments": {}}</tool_call>Done.', "Done."),
    ('Wait. <tool_call>\n{"name": "x"', "Wait."),
    ("Ok. <function=get><parameter=city>Rome</parameter></function> Done.", "Ok. Done."),
    ("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>x<｜tool▁call▁end｜><｜tool▁calls▁end｜>Hi.", "Hi."),
    ('[TOOL_CALLS][{"name": "x"}]', ""),
    ('{"name": "get_weather", "arguments": {"city": "Rome"}}', ""),
    ('Sure! {"name": "x", "arguments": {"a": "}"}} Done.', "Sure! Done."),
    ('[{"name": "x", "parameters": {}}]', ""),
    ('{"name": "x", "arguments": {"a"', ""),
    ('{"name": "stop"}', ""),
    ('```json\n{"name": "x"}\n```\nDone.', "Done."),
    ('{"answer": 42} is it', '{"answer": 42} is it'),
    ("{not json} and [this]", "{not json} and [this]"),
    # thinking
    ("<think>secret\n\nmore</think>\n\nHi.", "Hi."),
    ("<think></think>\n\nHi.", "Hi."),
    ("<think>never ends", ""),
    ("Some thought</think>Hi.", "Hi."),
    ("<thinking>a</thinking><reasoning>b</reasoning>Hi.", "Hi."),
    ("[THINK]secret[/THINK]Hi.", "Hi."),
    ("<|begin_of_thought|>x<|end_of_thought|>Hi.<|im_end|>", "Hi."),
    ("<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>", "Hi."),
    ("Hi. <think", "Hi."),
    ("Hi. </thi", "Hi."),
    ("Hi. <|Func", "Hi."),
    # P32: markdown
    ("**bold** and *it* and __b__ and _i_ and ***both***.", "bold and it and b and i and both."),
    ("Some ~~gone~~ `code` text.", "Some gone code text."),
    ("A [link](http://a.b/c_(d)) and [ref][1] here.", "A link and ref here."),
    ("An ![image](x.png) here.", "An here."),
    ("Wow!", "Wow!"),
    ("# Title\n\n## Other ##\ntext", "Title Other ## text"),
    ("- one\n* two\n+ three\n• four\n1. five", "one two three four 1. five"),
    ("- [ ] open\n- [x] done", "open done"),
    ("> quoted\n>> twice", "quoted twice"),
    ("| Name | Age |\n|---|:-:|\n| Bob | 5 |", "Name, Age Bob, 5"),
    ("| 名字 | 年龄 |\n|---|---|\n| 小明 | 五 |", "名字，年龄 小明，五"),
    ("Name | Age\n--- | ---\nBob | 5", "Name, Age Bob, 5"),
    ("Code:\n```python\nprint('**')\n```\nDone.", "Code: Done."),
    ("Code:\n```\nnever ends", "Code:"),
    ("one\n\n---\n\ntwo\n***\nthree", "one two three"),
    ("A <b>bold</b> word<br>and <a href='x>y'>link</a>.", "A bold word and link."),
    ("<ul><li>one</li><li>two</li></ul>", "one two"),
    ("Mail <me@a.org> now.", "Mail me@a.org now."),
    ("5 * 3 and 2*3 and my_var and 5 < 6 > 4 and x<y", "5 * 3 and 2*3 and my_var and 5 < 6 > 4 and x<y"),
    (r"\*no\* emphasis", "*no* emphasis"),
    ("#1 is -5 and +1", "#1 is -5 and +1"),
    ("好的~ 很好", "好的~ 很好"),
    # P59: characters
    (f"A {FAMILY} family, 1️⃣ ❤️ ⭐ 🇩🇪 👍🏽 here.", "A family, here."),
    ("Hi😀there 你😀好 ok 😀!", "Hi there 你好 ok!"),
    ("a\x00b\u202ec\u200bd\ufeffe\ud800f", "abcdef"),
    ("\ud83d\ude00 Hi", "Hi"),
    ("café \u0915\u094d\u200d\u0937", "café \u0915\u094d\u200d\u0937"),
    ("H" + "e" + "\u0301" * 1_000 + "y", "H" + "e" + "\u0301" * 8 + "y"),
    ("你好！！！好吗？？。。。", "你好！ 好吗？。"),
    ("Hi" + "!" * 10_000, "Hi!!!"),
    # P55: nothing to say
    ("", ""),
    (" \n\t ", ""),
    (f"😀{FAMILY} ❤️", ""),
    ("...", ""),
    ("**", ""),
    ("---", ""),
]


@pytest.mark.parametrize(("text", "shown"), CLEANED)
def test_what_is_shown(text: str, shown: str) -> None:
    assert whole(text) == shown
    assert whole(*text) == shown
    assert whole(*words_of(text)) == shown


@pytest.mark.parametrize("text", [text for text, _ in CLEANED if len(text) < 120])
def test_a_cut_at_any_place_changes_nothing(text: str) -> None:
    expected = told(text)
    for at in range(len(text)):
        assert told(text[:at], text[at:]) == expected


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "x",
            "word ",
            "你",
            "，",
            "*",
            "_a",
            "~",
            "`",
            "[",
            "[a",
            "![",
            "<",
            "<a ",
            "<think>",
            "</think>",
            "{",
            '{"',
            '{\n"a":\n',
        ),
        *(
            "[{",
            "[ ",
            "|",
            "| ",
            "#",
            "> ",
            "- ",
            "\\",
            "1.",
            "1. ",
            "U.S. Army ",
            "A. ",
            "! ",
            "...",
            "😀",
            "\u0301",
            "\u200d",
        ),
        *('<a href="', "](", "[a](", "a\n", "```", "```\n", "Mr. ", ". ", ".)", "\n", "{'"),
    ],
)
def test_work_grows_with_the_text_and_not_faster(unit: str) -> None:
    """P55: one token of 50 kB; P34: no mark at all. Counted in calls of functions."""
    short, long = (_calls(unit * (size // len(unit))) for size in (4_000, 16_000))
    assert long <= 4.6 * short + 2_000


@example("x" * 10_000)
@given(st.just("word " * 2_000))
@settings(max_examples=1)
def test_a_long_text_is_given_in_pieces_that_a_voice_can_speak(text: str) -> None:
    sentences = [sentence for sentence, _ in told(text)]
    assert max(map(len, sentences)) <= 400
    assert "".join(sentences).replace(" ", "") == text.replace(" ", "")


def _calls(text: str) -> int:
    count = 0

    def tick(_frame: FrameType, _event: str, _arg: Any) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        told(text)
    finally:
        sys.setprofile(before)
    return count
