"""Emotions: the firmware's 21 names, and the nearest of them for what else a model writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dialogue.told import told, whole
from vanling.dialogue.emotion import EMOTIONS, NEUTRAL, PICTURE_EMOTIONS, SYNONYMS, emotion_named

FIRMWARE = """
neutral happy laughing funny sad angry crying loving embarrassed surprised shocked thinking winking cool relaxed
delicious kissy confident sleepy silly confused
""".split()  # noqa: SIM905
FIRMWARE_PICTURES = "😶🙂😆😂😔😠😭😍😳😯😱🤔😉😎😌🤤😘😏😴😜🙄"


def test_the_firmware_s_21_names() -> None:
    assert set(FIRMWARE) == EMOTIONS
    assert len(EMOTIONS) == 21


def test_all_other_names_and_pictures_lead_to_one_of_them() -> None:
    assert set(SYNONYMS.values()) <= EMOTIONS
    assert not set(SYNONYMS) & EMOTIONS
    assert [PICTURE_EMOTIONS[picture] for picture in FIRMWARE_PICTURES] == FIRMWARE


@pytest.mark.parametrize("name", FIRMWARE)
@pytest.mark.parametrize("tag", ["[{}]", "[emotion:{}]"])
@pytest.mark.parametrize("text", ["{} Hello there.", "Hello {} there.", "{}Hello there."])
def test_every_name_in_both_spellings_anywhere(name: str, tag: str, text: str) -> None:
    assert told(text.format(tag.format(name))) == [("Hello there.", name)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello.", [("Hello.", NEUTRAL)]),
        ("[happy][sad] Hi.", [("Hi.", "happy")]),
        ("[happy] Hi [sad] you.", [("Hi you.", "happy")]),
        ("[emotion:blissful] Hi.", [("Hi.", NEUTRAL)]),
        ("[emotion:blissful][sad] Hi.", [("Hi.", "sad")]),
        ("[smug] Ha. [Emotion: Shy] Oh.", [("Ha.", "confident"), ("Oh.", "embarrassed")]),
        ("[happy]\n\nHi.", [("Hi.", "happy")]),
        ("Wow![happy] Yes.", [("Wow!", NEUTRAL), ("Yes.", "happy")]),
        ("See [1] and [note].", [("See [1] and [note].", NEUTRAL)]),
        ("[happy]", []),
        ("a [happy", [("a [happy", NEUTRAL)]),
        ("[happy]你好。[sad]再见。", [("你好。", "happy"), ("再见。", "sad")]),
        # a picture belongs to the sentence that it stands in or behind
        ("That's great! 😊 And now?", [("That's great!", "happy"), ("And now?", NEUTRAL)]),
        ("太好了！😂那么呢？", [("太好了！", "funny"), ("那么呢？", NEUTRAL)]),
        ("[sad] Well 🙂.", [("Well.", "sad")]),
        # the rest of a sentence keeps the face of its first clause
        (
            "[happy] Well then, my dear friend, let us go. Now.",
            [
                ("Well then, my dear friend,", "happy"),
                ("let us go.", "happy"),
                ("Now.", NEUTRAL),
            ],
        ),
    ],
)
def test_sentences_with_their_emotion(text: str, expected: list[tuple[str, str]]) -> None:
    assert told(text) == told(*text) == expected


@given(st.text())
def test_any_text_has_known_faces(text: str) -> None:
    assert {emotion for _, emotion in told(text)} <= EMOTIONS
    assert "[emotion:happy]" not in whole(text)


def test_names_are_found_as_models_write_them() -> None:
    assert emotion_named(" Sad_Tear ") == "crying"
    assert emotion_named("sad tear") == "crying"
    assert emotion_named("note") is None
