"""Whisper's parts without a model: spectrogram, judgement, pauses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.conftest import need
from vanling.engines.whisper.judge import loop_at, nobody_spoke, without_asides, without_loop
from vanling.engines.whisper.mel import log_mel, pad_frames
from vanling.engines.whisper.pauses import cut_point


@pytest.mark.parametrize("n_samples", [160, 1000, 16_000, 37_777])
def test_spectrogram_equals_the_published_front_end(n_samples: int) -> None:
    need("faster_whisper")
    from faster_whisper.feature_extractor import FeatureExtractor

    audio = np.random.default_rng(n_samples).normal(0, 0.1, n_samples).astype(np.float32)
    ours, theirs = log_mel(audio), FeatureExtractor()(audio)
    assert ours.shape == theirs.shape
    assert np.max(np.abs(ours - theirs)) < 1e-4


def test_large_models_get_their_128_bands() -> None:
    assert log_mel(np.zeros(16_000, np.float32), 128).shape == (128, 101)


def test_padding_cuts_and_fills() -> None:
    features = np.ones((80, 10), np.float32)
    assert pad_frames(features, 4).shape == (80, 4)
    assert pad_frames(features, 12)[:, 10:].sum() == 0


@pytest.mark.parametrize(
    ("tokens", "loop"),
    [
        ([1, 2, 3, 4], None),
        ([5, 5, 5], None),
        ([5] * 8, (0, 1)),
        ([9, 1, 2, 1, 2, 1, 2, 1, 2], (1, 2)),
        ([1, 2, 3] * 3, None),
        ([7, *[1, 2, 3] * 4], (1, 3)),
        ([], None),
    ],
)
def test_loops_are_found(tokens: list[int], loop: tuple[int, int] | None) -> None:
    assert loop_at(tokens) == loop


def test_a_loop_is_said_once() -> None:
    assert without_loop([7, *[1, 2, 3] * 5, 8]) == [7, 1, 2, 3]


@given(st.lists(st.integers(0, 3), max_size=60))
def test_cutting_loops_ends_loops(tokens: list[int]) -> None:
    assert loop_at(without_loop(tokens)) is None


@pytest.mark.parametrize(
    ("text", "no_speech", "logprob", "nobody"),
    [
        (".", 0.1, -0.1, True),
        ("", 0.0, 0.0, True),
        ("you", 0.95, -0.5, True),
        ("You.", 0.7, -0.5, True),
        ("Thank you.", 0.9, -0.5, True),
        ("Thank you.", 0.1, -0.2, False),
        ("Yes.", 0.4, -0.3, False),
        ("turn on the light", 0.7, -0.3, False),
        ("turn on the light", 0.7, -1.5, True),
        ("好", 0.2, -0.4, False),
    ],
)
def test_made_up_words_are_not_believed(text: str, no_speech: float, logprob: float, nobody: bool) -> None:
    assert nobody_spoke(text, no_speech, logprob) is nobody


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("[BLANK_AUDIO]", ""),
        ("(wind blowing) Hello *coughs* there.", "Hello there."),
        ("♪ la la ♪ stop", "stop"),
        ("four queen (", "four queen ("),
    ],
)
def test_sound_captions_are_dropped(text: str, plain: str) -> None:
    assert without_asides(text) == plain


def test_the_cut_lies_in_the_longest_pause() -> None:
    audio = np.random.default_rng(0).normal(0, 0.1, 16_000 * 28).astype(np.float32)
    audio[16_000 * 12 : 16_000 * 12 + 4_000] *= 0.01
    audio[16_000 * 20 : 16_000 * 20 + 9_000] *= 0.01
    audio[16_000 * 2 : 16_000 * 6] = 0
    cut = cut_point(audio, 16_000 * 9, 16_000 * 27)
    assert 16_000 * 20 + 3_000 < cut < 16_000 * 20 + 6_000


@pytest.mark.parametrize("audio", [np.zeros(160_000), np.ones(160_000), np.linspace(0, 1, 160_000)])
def test_there_is_always_a_cut(audio: np.ndarray) -> None:
    assert 32_000 <= cut_point(audio.astype(np.float32), 32_000, 160_000) <= 160_000
