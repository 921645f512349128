"""Emotion tags: never spoken, and the first one known is the sentence's face."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.dialogue.emotion import EMOTIONS, NEUTRAL, take_emotion

FIRMWARE = """
neutral happy laughing funny sad angry crying loving embarrassed surprised shocked thinking winking cool relaxed
delicious kissy confident sleepy silly confused
""".split()  # noqa: SIM905


def test_the_firmware_s_21_names() -> None:
    assert set(FIRMWARE) == EMOTIONS
    assert len(EMOTIONS) == 21


@pytest.mark.parametrize("name", FIRMWARE)
@pytest.mark.parametrize("tag", ["[{}]", "[emotion:{}]"])
@pytest.mark.parametrize("text", ["{} Hello there.", "Hello {} there.", "Hello there. {}"])
def test_every_name_in_both_spellings_anywhere(name: str, tag: str, text: str) -> None:
    assert take_emotion(text.format(tag.format(name))) == ("Hello there.", name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello.", ("Hello.", NEUTRAL)),
        ("[happy][sad] Hi.", ("Hi.", "happy")),
        ("[happy] Hi [sad] you.", ("Hi you.", "happy")),
        ("[emotion:blissful] Hi.", ("Hi.", NEUTRAL)),
        ("[emotion:blissful][sad] Hi.", ("Hi.", "sad")),
        ("See [1] and [note].", ("See [1] and [note].", NEUTRAL)),
        ("[happy]", ("", "happy")),
        ("a [happy", ("a [happy", NEUTRAL)),
        ("[happy]你好。", ("你好。", "happy")),
        ("", ("", NEUTRAL)),
    ],
)
def test_tags(text: str, expected: tuple[str, str]) -> None:
    assert take_emotion(text) == expected


@given(st.text())
def test_any_text_has_a_known_face(text: str) -> None:
    rest, emotion = take_emotion(text)
    assert emotion in EMOTIONS
    assert "[emotion:happy]" not in rest
