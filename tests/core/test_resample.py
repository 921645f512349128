"""Resampler: how many samples, where in time, and that chunks leave no trace."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.core.resample import RATES, Resampler
from vanling.errors import AudioTypeError, AudioValueError

PAIRS = list(itertools.product(RATES, RATES))


def convert(pcm, rate_in, rate_out):
    resampler = Resampler(rate_in, rate_out)
    return np.concatenate([resampler.process(pcm), resampler.flush()])


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 160, 999, 48000])
def test_total_length(rate_in, rate_out, n):
    assert abs(len(convert(np.ones(n, np.int16), rate_in, rate_out)) - round(n * rate_out / rate_in)) <= 1


@given(
    pair=st.sampled_from(PAIRS),
    chunks=st.lists(st.integers(0, 3000), max_size=12),
    dtype=st.sampled_from([np.int16, np.float32]),
    seed=st.integers(0, 1000),
)
def test_chunk_borders_never_change_the_result(pair, chunks, dtype, seed):
    rng = np.random.default_rng(seed)
    pcm = rng.integers(-32768, 32768, sum(chunks)).astype(np.int16)
    if dtype is np.float32:
        pcm = (pcm / np.float32(32768)).astype(np.float32)
    resampler = Resampler(*pair)
    edges = np.cumsum([0, *chunks])
    parts = [resampler.process(pcm[a:b]) for a, b in itertools.pairwise(edges)]
    parts.append(resampler.flush())
    assert {part.dtype for part in parts if len(part)} <= {np.dtype(dtype)}
    np.testing.assert_array_equal(np.concatenate(parts), convert(pcm, *pair))


def test_one_long_chunk_and_single_samples_agree():
    pcm = np.random.default_rng(1).integers(-9000, 9000, 40000).astype(np.int16)
    resampler = Resampler(22050, 16000)
    parts = [resampler.process(pcm[i : i + 1]) for i in range(len(pcm))]
    np.testing.assert_array_equal(np.concatenate([*parts, resampler.flush()]), convert(pcm, 22050, 16000))


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_output_lies_where_the_input_lay(rate_in, rate_out):
    seconds = 0.1
    width = 0.002
    t_in, t_out = (np.arange(int(rate * seconds)) / rate for rate in (rate_in, rate_out))
    pulse_in, pulse_out = (np.exp(-(((t - 0.0437) / width) ** 2)).astype(np.float32) for t in (t_in, t_out))
    made = convert(pulse_in, rate_in, rate_out)[: len(pulse_out)]
    np.testing.assert_allclose(made, pulse_out[: len(made)], atol=1e-3)


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_delay_is_at_most_two_ms(rate_in, rate_out):
    resampler = Resampler(rate_in, rate_out)
    assert resampler.delay_ms <= 2.0
    n = rate_in // 10
    waiting_ms = n / rate_in * 1000 - len(resampler.process(np.zeros(n, np.int16))) / rate_out * 1000
    assert waiting_ms <= 2.0 + 1000 / rate_out
    assert waiting_ms <= resampler.delay_ms + 1000 / rate_out


@pytest.mark.parametrize("dtype", [np.int16, np.float32])
def test_one_rate_passes_through_a_copy(dtype):
    pcm = np.arange(-50, 50).astype(dtype)
    resampler = Resampler(16000, 16000)
    made = resampler.process(pcm)
    np.testing.assert_array_equal(made, pcm)
    assert made.dtype == dtype
    assert not np.shares_memory(made, pcm)
    assert len(resampler.flush()) == 0
    assert resampler.delay_ms == 0


def test_int16_saturates_instead_of_wrapping():
    square = np.where(np.arange(4800) // 48 % 2, 32767, -32768).astype(np.int16)
    made = convert(square, 48000, 16000).astype(int)
    assert made.max() == 32767
    assert made.min() == -32768
    assert np.abs(made[8::16]).min() > 25000, "the middle of each half wave has its sign and height"
    reference = convert((square / np.float32(32768)).astype(np.float32), 48000, 16000)
    assert np.abs(made - np.clip(np.rint(reference * 32768), -32768, 32767)).max() <= 1


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf, 3e38])
def test_a_value_that_is_no_sound_spoils_its_surroundings_only(poison):
    pcm = np.zeros(4800, np.float32)
    pcm[2400] = poison
    resampler = Resampler(48000, 16000)
    made = np.concatenate([resampler.process(pcm), resampler.flush()])
    reach = int(resampler.delay_ms * 16) + 1
    clean = np.r_[made[: 800 - reach], made[800 + reach :]]
    assert not clean.any()
    assert not resampler.process(np.zeros(480, np.float32)).any()


def test_flush_and_reset_begin_a_new_stream():
    rng = np.random.default_rng(2)
    pcm = rng.integers(-9000, 9000, 2000).astype(np.int16)
    resampler = Resampler(24000, 16000)
    first = np.concatenate([resampler.process(pcm), resampler.flush()])
    np.testing.assert_array_equal(np.concatenate([resampler.process(pcm), resampler.flush()]), first)
    resampler.process(pcm[:777])
    resampler.reset()
    floats = (pcm / np.float32(32768)).astype(np.float32)
    assert resampler.process(floats).dtype == np.float32
    resampler.reset()
    np.testing.assert_array_equal(np.concatenate([resampler.process(pcm), resampler.flush()]), first)


@pytest.mark.parametrize(
    ("rate_in", "rate_out"), [(0, 16000), (16000, 0), (16000, 16001), (-8000, 8000), (96000, 16000)]
)
def test_only_known_rates(rate_in, rate_out):
    with pytest.raises(AudioValueError, match=r"rate_.* wanted one of"):
        Resampler(rate_in, rate_out)


@pytest.mark.parametrize("rate", ["16000", 16000.0, None])
def test_a_rate_is_an_int(rate):
    with pytest.raises(AudioTypeError, match="rate_in"):
        Resampler(rate, 8000)


@pytest.mark.parametrize("rate_in", [16000, 48000])
@pytest.mark.parametrize(
    ("pcm", "error"),
    [
        (np.zeros(9, np.float64), AudioTypeError),
        (np.zeros(9, np.uint16), AudioTypeError),
        (np.zeros(9, ">f4"), AudioTypeError),
        (bytes(18), AudioTypeError),
        (np.zeros((9, 1), np.int16), AudioValueError),
        (np.zeros(18, np.int16)[::2], AudioValueError),
        (np.frombuffer(bytes(19), np.int16, 9, 1), AudioValueError),
    ],
)
def test_other_audio_is_refused(rate_in, pcm, error):
    resampler = Resampler(rate_in, 16000)
    with pytest.raises(error, match=r"wanted|contiguous"):
        resampler.process(pcm)
    assert len(resampler.flush()) == 0


def test_a_stream_keeps_its_dtype():
    resampler = Resampler(24000, 16000)
    resampler.process(np.zeros(100, np.int16))
    with pytest.raises(AudioTypeError, match="dtype"):
        resampler.process(np.zeros(100, np.float32))
    assert len(resampler.flush()) > 0
