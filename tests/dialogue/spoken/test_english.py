"""English read aloud (pains P36): what a voice is given for figures, signs and addresses."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vanling.dialogue.spoken.form import spoken_form

READ = [
    ("It is -1.2 °C.", "It is minus 1.2 degrees Celsius."),
    ("-5 degrees, (-3)", "minus 5 degrees, (minus 3)"),
    ("From -5 to -3 °C, or 10-15°C.", "From minus 5 to minus 3 degrees Celsius, or 10 to 15 degrees Celsius."),
    ("98.6°F, 1 °C, 20℃", "98.6 degrees Fahrenheit, 1 degree Celsius, 20 degrees Celsius"),
    # money
    ("It costs $500.", "It costs 500 dollars."),
    ("$3.50, $1, $0.99, $1.01", "3 dollars and 50 cents, 1 dollar, 99 cents, 1 dollar and 1 cent"),
    ("$1.5 million and $5M and £2bn", "1.5 million dollars and 5 million dollars and 2 billion pounds"),
    ("-$5, €5, £5.20, ¥100", "minus 5 dollars, 5 euros, 5 pounds and 20 pence, 100 yen"),
    ("1,000.00元 or 5 € or 100 USD", "1,000 yuan or 5 euros or 100 dollars"),
    # units
    ("25% of 5 kg", "25 percent of 5 kilograms"),
    ("100 km/h, 1 km, 3 m/s, 10 mph", "100 kilometers per hour, 1 kilometer, 3 meters per second, 10 miles per hour"),
    ("6 ft and 1 ft, 5'10\"", "6 feet and 1 foot, 5 foot 10"),
    ("20 m² and 10 GB", "20 square meters and 10 gigabytes"),
    # dates and times
    ("On 2025/01/01.", "On January 1st, 2025."),
    ("On 2025-12-22.", "On December 22nd, 2025."),
    ("On 5/12/2024 or 25/12/2024", "On May 12th, 2024 or December 25th, 2024"),
    ("Jan 1, 1980", "January 1st, 1980"),
    ("2025/99/99", "2025 99 99"),
    ("at 10:30am.", "at 10 30 a.m."),
    ("at 10:30 PM today", "at 10 30 p.m. today"),
    ("at 5pm, 14:30, 10:05, 12:00", "at 5 p.m., 14 30, 10 oh 5, 12 o'clock"),
    ("the 1980s and '90s", "the 19 eighties and nineties"),
    ("1939–1945 and 2020-2025", "1939 to 1945 and 2020 to 2025"),
    # fractions are no dates
    (
        "1/3 cup, 2/3, 1/2, 3/4, ½, 2½ cups",
        "one third cup, 2 thirds, one half, 3 quarters, one half, 2 and a half cups",
    ),
    ("8/10 and 24/7", "8 out of 10 and 24 7"),
    # phones, versions, addresses
    ("Call 555-123-4567.", "Call 5 5 5, 1 2 3, 4 5 6 7."),
    ("+1 (555) 123-4567", "plus 1, 5 5 5, 1 2 3, 4 5 6 7"),
    ("+4930123456", "plus 4 9 3 0 1 2 3 4 5 6"),
    ("Room 007", "Room 0 0 7"),
    ("v1.2.3 or version 1.2.3", "version 1 point 2 point 3 or version 1 point 2 point 3"),
    ("192.168.1.1", "192 dot 168 dot 1 dot 1"),
    ("See https://example.com/a-b?x=1.", "See example dot com slash a dash b."),
    ("www.a.io, example.org", "a dot io, example dot org"),
    ("Mail a.b@c-d.com.", "Mail a dot b at c dash d dot com."),
    # names
    ("Mr. Smith vs. Dr. Who, etc.", "Mister Smith versus Doctor Who, et cetera."),
    ("World War II, Chapter IV, Queen Elizabeth II", "World War 2, Chapter 4, Queen Elizabeth the 2nd"),
    ("No. 5, #1, e.g. this", "number 5, number 1, for example this"),
    # sums and signs
    ("5 - 3 = 2", "5 minus 3 equals 2"),
    ("2 + 2 = 4, 5×3=15, 5 * 3", "2 plus 2 equals 4, 5 times 3 equals 15, 5 times 3"),
    ("A & B, he/she, and/or, TCP/IP", "A and B, he or she, and or, TCP IP"),
    ("16:9 and ~5 and 3x", "16 to 9 and about 5 and 3 times"),
    ("As shown [1].", "As shown."),
    # as it is
    ("I have 3.14, 1,000 and 1st in 2025.", "I have 3.14, 1,000 and 1st in 2025."),
    ("COVID-19, GPT-4, NASA, U.S. law", "COVID-19, GPT-4, NASA, U.S. law"),
]


@pytest.mark.parametrize(("text", "spoken"), READ)
def test_reading(text: str, spoken: str) -> None:
    assert spoken_form(text, "en") == spoken_form(text, "en-US") == spoken


def test_other_languages_are_left_to_their_voices() -> None:
    assert spoken_form("Es sind -1.2 °C.", "de") == "Es sind -1.2 °C."


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789.,:/-+$€%° @#kmhCapbTv(){}~½\n你", max_size=60), st.sampled_from(["en", "zh"]))
def test_anything_can_be_read(text: str, language: str) -> None:
    spoken = spoken_form(text, language)
    assert spoken == spoken.strip()
    assert any(char.isalnum() for char in spoken) or not any(char.isalnum() for char in text)


@given(st.text(alphabet="abcdefg XYZ,.!?'", max_size=80))
def test_words_are_left_alone(text: str) -> None:
    plain = " ".join(re.sub(r"[.'!?,]", " ", text).split())
    assert spoken_form(plain, "en") == plain


@pytest.mark.parametrize("text", ["It is -1.2 °C.", "1/3 of v1.2.3", "Call 555-123-4567 at 10:05", "100 km/h"])
def test_the_offline_voice_has_a_sound_for_every_word(text: str) -> None:
    gruut = pytest.importorskip("gruut")
    for sentence in gruut.sentences(spoken_form(text, "en"), lang="en-us"):
        for word in sentence.words:
            assert not word.is_spoken or word.phonemes, word.text
            assert word.text not in {"km/h", "°C", "v1.2.3", "1/3"}
