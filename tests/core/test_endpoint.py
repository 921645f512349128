"""Endpointer: the state table of CONVERSATION rule 1.1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.core.endpoint import Endpointer, State
from vanling.errors import AudioTypeError, AudioValueError

IDLE, SPEECH, FALLING, CONFIRMED = State
VOICE, MIDDLE, QUIET = 0.9, 0.4, 0.1
MS = 16


def make(**changes):
    options = {
        "rate": 16000,
        "threshold": 0.5,
        "deactivation": 0.35,
        "min_speech_ms": 120,
        "min_silence_ms": 300,
        "confirm_ms": 200,
    }
    return Endpointer(**{**options, **changes})


# Each row: (probability, ms, state after it, voiced ms, silence ms).
TABLES = {
    "a whole turn": [
        (QUIET, 1000, IDLE, 0, 0),
        (VOICE, 100, IDLE, 100, 0),
        (VOICE, 20, SPEECH, 120, 0),
        (QUIET, 299, SPEECH, 120, 299),
        (QUIET, 1, FALLING, 120, 300),
        (QUIET, 199, FALLING, 120, 499),
        (QUIET, 1, CONFIRMED, 120, 500),
        (QUIET, 100, IDLE, 0, 0),
    ],
    "voice takes the silence back to zero": [
        (VOICE, 200, SPEECH, 200, 0),
        (QUIET, 290, SPEECH, 200, 290),
        (VOICE, 10, SPEECH, 210, 0),
        (QUIET, 290, SPEECH, 210, 290),
        (QUIET, 10, FALLING, 210, 300),
        (VOICE, 1, SPEECH, 211, 0),
        (QUIET, 499, FALLING, 211, 499),
        (VOICE, 1, SPEECH, 212, 0),
        (QUIET, 500, CONFIRMED, 212, 500),
    ],
    "between the two levels a silence goes on": [
        (VOICE, 200, SPEECH, 200, 0),
        (QUIET, 100, SPEECH, 200, 100),
        (MIDDLE, 200, FALLING, 200, 300),
        (MIDDLE, 200, CONFIRMED, 200, 500),
    ],
    "between the two levels none begins": [
        (MIDDLE, 1000, IDLE, 0, 0),
        (VOICE, 200, SPEECH, 200, 0),
        (MIDDLE, 2000, SPEECH, 200, 0),
        (QUIET, 1, SPEECH, 200, 1),
        (MIDDLE, 299, FALLING, 200, 300),
    ],
    "a run too short to be speech lapses": [
        (VOICE, 64, IDLE, 64, 0),
        (QUIET, 299, IDLE, 64, 299),
        (QUIET, 1, IDLE, 0, 0),
        (VOICE, 64, IDLE, 64, 0),
    ],
    "short runs close together are one": [
        (VOICE, 64, IDLE, 64, 0),
        (QUIET, 200, IDLE, 64, 200),
        (MIDDLE, 50, IDLE, 64, 250),
        (VOICE, 56, SPEECH, 120, 0),
    ],
    "a long window passes two states": [
        (VOICE, 5000, SPEECH, 5000, 0),
        (QUIET, 5000, CONFIRMED, 5000, 5000),
    ],
    "confirmed is reported once and the next window begins anew": [
        (VOICE, 120, SPEECH, 120, 0),
        (QUIET, 500, CONFIRMED, 120, 500),
        (VOICE, 32, IDLE, 32, 0),
        (VOICE, 88, SPEECH, 120, 0),
    ],
    "nothing counts as nothing": [
        (VOICE, 0, IDLE, 0, 0),
        (VOICE, 120, SPEECH, 120, 0),
        (QUIET, 0, SPEECH, 120, 0),
        (QUIET, 300, FALLING, 120, 300),
        (VOICE, 0, FALLING, 120, 300),
        (QUIET, 200, CONFIRMED, 120, 500),
        (QUIET, 0, IDLE, 0, 0),
    ],
}


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES.keys())
def test_table(rows):
    endpointer = make()
    for i, (probability, ms, state, voiced, silence) in enumerate(rows):
        got = endpointer.push(ms * MS, probability)
        assert (i, got, endpointer.voiced_ms, endpointer.silence_ms) == (i, state, voiced, silence)
        assert got is endpointer.state
        assert isinstance(got, State)


@pytest.mark.parametrize(
    ("probability", "counts"),
    [(0.5, "voiced"), (0.49999, "neither"), (0.35, "neither"), (0.34999, "silent"), (0, "silent"), (1, "voiced")],
)
def test_the_levels_themselves(probability, counts):
    endpointer = make()
    endpointer.push(3200, 1.0)
    endpointer.push(320, probability)
    assert endpointer.voiced_ms == (220 if counts == "voiced" else 200)
    assert endpointer.silence_ms == (20 if counts == "silent" else 0)


def test_without_waits_every_window_decides():
    endpointer = make(min_speech_ms=0, min_silence_ms=0, confirm_ms=0)
    assert endpointer.push(1, VOICE) is SPEECH
    assert endpointer.push(1, QUIET) is CONFIRMED
    assert endpointer.push(1, QUIET) is IDLE


def test_equal_levels_leave_no_middle():
    endpointer = make(deactivation=0.5)
    endpointer.push(3200, 0.5)
    assert endpointer.push(8000, 0.499) is CONFIRMED


def test_reset():
    endpointer = make()
    endpointer.push(3200, VOICE)
    endpointer.push(5000, QUIET)
    endpointer.reset()
    assert (endpointer.state, endpointer.voiced_ms, endpointer.silence_ms) == (IDLE, 0, 0)
    assert endpointer.push(8000, QUIET) is IDLE


@given(st.lists(st.tuples(st.sampled_from([VOICE, MIDDLE, QUIET]), st.integers(1, 9000)), max_size=40), st.data())
def test_cutting_windows_changes_nothing_but_the_moment(windows, data):
    """As long as none ends a turn half way, many small windows leave the same counts as one large one."""
    whole, cut = make(), make()
    for probability, n in windows:
        expected = whole.push(n, probability)
        at = data.draw(st.integers(0, n))
        first = cut.push(at, probability)
        if first is CONFIRMED:
            assert expected is CONFIRMED
            return
        assert cut.push(n - at, probability) is expected
        if probability == QUIET and whole.voiced_ms == 0:
            continue
        assert (cut.voiced_ms, cut.silence_ms) == (whole.voiced_ms, whole.silence_ms)
        if expected is CONFIRMED:
            return


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 5000)), max_size=60))
def test_invariants(windows):
    endpointer = make()
    before = IDLE
    for probability, n in windows:
        state = endpointer.push(n, probability)
        if state in (FALLING, CONFIRMED):
            assert endpointer.silence_ms >= (500 if state is CONFIRMED else 300)
            assert before is not IDLE
            assert before is not CONFIRMED
        if state is SPEECH:
            assert endpointer.voiced_ms >= 120
            assert endpointer.silence_ms < 300
        if state is IDLE:
            assert endpointer.voiced_ms < 120
        before = state


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"rate": 0}, "rate"),
        ({"rate": -16000}, "rate"),
        ({"threshold": 1.1}, "threshold"),
        ({"threshold": float("nan")}, "threshold"),
        ({"deactivation": -0.1}, "deactivation"),
        ({"deactivation": 0.6}, "below deactivation"),
        ({"min_speech_ms": -1}, "min_speech_ms"),
        ({"min_silence_ms": float("inf")}, "min_silence_ms"),
        ({"confirm_ms": float("nan")}, "confirm_ms"),
    ],
)
def test_settings_out_of_range_are_named(change, named):
    with pytest.raises(AudioValueError, match=named):
        make(**change)


@pytest.mark.parametrize(
    "change", [{"rate": 16000.0}, {"threshold": "0.5"}, {"min_speech_ms": None}, {"confirm_ms": []}]
)
def test_settings_of_other_types(change):
    with pytest.raises(AudioTypeError, match=next(iter(change))):
        make(**change)


@pytest.mark.parametrize(
    ("n", "probability", "error"),
    [
        (-1, 0.5, AudioValueError),
        (2**31, 0.5, AudioValueError),
        (10**30, 0.5, AudioValueError),
        (512, float("nan"), AudioValueError),
        (512, -0.01, AudioValueError),
        (512, 1.01, AudioValueError),
        (512.0, 0.5, AudioTypeError),
        ("512", 0.5, AudioTypeError),
        (True, 0.5, AudioTypeError),
        (512, None, AudioTypeError),
        (512, "0.5", AudioTypeError),
    ],
)
def test_a_window_that_is_none_counts_nothing(n, probability, error):
    endpointer = make()
    endpointer.push(3200, VOICE)
    with pytest.raises(error, match=r"n_samples|probability"):
        endpointer.push(n, probability)
    assert (endpointer.state, endpointer.voiced_ms, endpointer.silence_ms) == (SPEECH, 200, 0)


def test_numbers_of_numpy_are_numbers():
    endpointer = make()
    assert endpointer.push(np.int64(3200), np.float32(0.9)) is SPEECH
