"""Recorded speech, and how far a transcript is from what was said."""

from __future__ import annotations

import importlib.util
import re
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vanling.contracts.engines import MODEL_RATE, Samples

POCKETSPHINX = Path("/usr/share/pocketsphinx/test/data")
"""Debian's pocketsphinx-testdata: LibriVox and playing-card recordings with their transcripts."""


@dataclass(frozen=True, slots=True)
class Recording:
    name: str
    audio: Samples
    text: str


def read_wav(path: Path) -> Samples:
    """Mono float32 at 16 kHz; other rates are resampled linearly, which is enough for speech tests."""
    with wave.open(str(path)) as file:
        audio = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
        audio = audio.reshape(-1, file.getnchannels()).mean(axis=1)
        rate = file.getframerate()
    if rate == MODEL_RATE:
        return audio
    return to_model_rate(audio, rate)


def to_model_rate(audio: Samples, rate: int) -> Samples:
    """Crude resampling: a moving average against aliases, then linear interpolation."""
    if rate > MODEL_RATE:
        audio = np.convolve(audio, np.ones(2) / 2, "same")
    at = np.arange(int(len(audio) * MODEL_RATE / rate)) * (rate / MODEL_RATE)
    return np.interp(at, np.arange(len(audio)), audio).astype(np.float32)


def beckett() -> Recording | None:
    """A recording that comes inside the PyPI package moonshine-voice; found, not imported."""
    spec = importlib.util.find_spec("moonshine_voice")
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(next(iter(spec.submodule_search_locations))) / "assets" / "beckett.wav"
    said = "Ever tried. Ever failed. No matter. Try again. Fail again. Fail better."
    return Recording(path.stem, read_wav(path), said) if path.is_file() else None


def recordings(folder: str) -> list[Recording]:
    """Recordings of one folder of pocketsphinx-testdata, with what is said in them."""
    files = {"librivox": "transcription", "cards": "cards.transcription"}
    transcript = POCKETSPHINX / folder / files[folder]
    if not transcript.is_file():
        return []
    found = []
    for line in transcript.read_text().splitlines():
        text, _, name = line.rpartition("(")
        path = transcript.parent / f"{name.rstrip(') ')}.wav"
        if path.is_file():
            found.append(Recording(path.stem, read_wav(path), text.replace("<s>", "").replace("</s>", "").strip()))
    return found


_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SAME = {"mr": "mister", "mrs": "missis", "dr": "doctor", "okay": "ok"}


def words(text: str) -> list[str]:
    """Words for comparison: no case, no punctuation, numbers under a hundred and titles spelt out."""
    found: list[str] = []
    for word in re.findall(r"[a-z']+|\d+", text.lower().replace("-", " ")):
        if word.isdecimal() and int(word) < 100:
            tens, ones = divmod(int(word), 10)
            found += [_ONES[int(word)]] if tens < 2 else [_TENS[tens], *([_ONES[ones]] if ones else [])]
        else:
            found.append(_SAME.get(word, word))
    return found


def word_errors(said: str, heard: str) -> tuple[int, int]:
    """(insertions, deletions and substitutions, number of words said)."""
    reference, hypothesis = words(said), words(heard)
    return _distance(reference, hypothesis), len(reference)


def _distance(a: Sequence[str], b: Sequence[str]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]
