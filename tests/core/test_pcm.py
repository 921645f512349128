"""PCM conversions and levels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vanling.core.pcm import SILENCE_DBFS, fade_out, float32_to_int16, int16_to_float32, level_dbfs, rms
from vanling.errors import AudioTypeError, AudioValueError


def test_every_int16_survives_the_way_there_and_back():
    every = np.arange(-32768, 32768).astype(np.int16)
    floats = int16_to_float32(every)
    assert floats.dtype == np.float32
    assert floats.min() == -1.0
    assert floats.max() == np.float32(32767 / 32768)
    np.testing.assert_array_equal(float32_to_int16(floats), every)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, 0),
        (1.0, 32767),
        (-1.0, -32768),
        (5.0, 32767),
        (-5.0, -32768),
        (math.inf, 32767),
        (-math.inf, -32768),
        (math.nan, 0),
        (3e38, 32767),
        (0.5 / 32768, 1),
        (0.49 / 32768, 0),
        (-0.49 / 32768, 0),
        (1e-45, 0),
    ],
)
def test_rounds_and_saturates(value, expected):
    # Among others, as the vectorised part and the rest of the loop must agree.
    for n in (1, 7, 64):
        assert set(float32_to_int16(np.full(n, value, np.float32))) == {expected}


@given(hnp.arrays(np.float32, st.integers(0, 100), elements=st.floats(width=32)))
def test_any_float_becomes_an_int16(pcm):
    made = float32_to_int16(pcm)
    wanted = np.clip(np.nan_to_num(pcm.astype(np.float64) * 32768, nan=0.0), -32768, 32767)
    assert np.abs(made - wanted).max(initial=0) <= 0.51


@pytest.mark.parametrize("shape", [(0,), (5,), (3, 2), (2, 3, 4)])
def test_shapes_are_kept(shape):
    assert int16_to_float32(np.zeros(shape, np.int16)).shape == shape
    assert float32_to_int16(np.zeros(shape, np.float32)).shape == shape


@given(hnp.arrays(np.int16, st.integers(1, 300)))
def test_rms_is_the_root_of_the_mean_square(pcm):
    assert rms(pcm) == pytest.approx(math.sqrt(np.mean((pcm / 32768.0) ** 2)), abs=1e-9)
    assert rms(int16_to_float32(pcm)) == pytest.approx(rms(pcm), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("pcm", "dbfs"),
    [
        (np.zeros(100, np.int16), SILENCE_DBFS),
        (np.zeros(0, np.int16), SILENCE_DBFS),
        (np.full(100, -32768, np.int16), 0.0),
        (np.ones(100, np.int16), -90.31),
        (np.full(100, 0.1, np.float32), -20.0),
        (np.sin(np.arange(48000) * 0.1).astype(np.float32), -3.01),
        (np.full(100, 1e-30, np.float32), SILENCE_DBFS),
    ],
)
def test_level(pcm, dbfs):
    assert level_dbfs(pcm) == pytest.approx(dbfs, abs=0.01)


def test_nan_is_no_level():
    poisoned = np.array([np.nan], np.float32)
    assert math.isnan(rms(poisoned))
    assert level_dbfs(poisoned) == SILENCE_DBFS


@pytest.mark.parametrize("dtype", [np.int16, np.float32])
def test_fade_out_is_a_ramp_on_a_copy(dtype):
    pcm = np.full(100, 1000, dtype)
    faded = fade_out(pcm, 10)
    np.testing.assert_array_equal(faded[:90], pcm[:90])
    np.testing.assert_allclose(faded[90:], np.arange(900, -1, -100), atol=1)
    assert faded[-1] == 0
    assert (pcm == 1000).all()
    assert faded.dtype == dtype


def test_fade_out_of_stereo_and_of_more_than_there_is():
    faded = fade_out(np.full((4, 2), 1000, np.int16), 99)
    np.testing.assert_array_equal(faded, [[750, 750], [500, 500], [250, 250], [0, 0]])
    assert len(fade_out(np.zeros(0, np.int16), 5)) == 0
    np.testing.assert_array_equal(fade_out(np.full(3, 7, np.int16), 0), [7, 7, 7])


def test_other_audio_is_refused():
    for call in (int16_to_float32, float32_to_int16, rms, level_dbfs, lambda pcm: fade_out(pcm, 3)):
        for wrong in (b"\0\0", [1, 2], np.zeros(4), np.zeros(4, np.int32), None):
            with pytest.raises(AudioTypeError, match="wanted"):
                call(wrong)
    with pytest.raises(AudioTypeError, match="int16"):
        int16_to_float32(np.zeros(4, np.float32))
    with pytest.raises(AudioTypeError, match="float32"):
        float32_to_int16(np.zeros(4, np.int16))
    with pytest.raises(AudioValueError, match="contiguous"):
        rms(np.zeros(8, np.int16)[::2])
    with pytest.raises(AudioValueError, match="n_samples"):
        fade_out(np.zeros(8, np.int16), -1)
