"""What the resampler does to frequencies: the response of the whole filter, and tones through it."""

import itertools
import math

import numpy as np
import pytest

from vanling.core.resample import RATES, Resampler


def response(rate_in: int, rate_out: int) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies in Hz and gains in dB of the filter, put together from the answers to an impulse at each phase."""
    common = math.gcd(rate_in, rate_out)
    up, down = rate_out // common, rate_in // common
    fine_rate = rate_in * up
    lead = 256
    reach = int(0.003 * fine_rate)
    taps = np.zeros(2 * reach + 1)
    for shift in range(down):
        pcm = np.zeros(2 * lead + down, np.float32)
        pcm[lead + shift] = 1.0
        resampler = Resampler(rate_in, rate_out)
        made = np.concatenate([resampler.process(pcm), resampler.flush()])
        (where,) = np.nonzero(made)
        taps[where * down - (lead + shift) * up + reach] = made[where]
    n = 1 << math.ceil(math.log2(max(8 * len(taps), fine_rate / 10)))
    gain = np.abs(np.fft.rfft(taps, n)) / up
    return np.arange(len(gain)) * fine_rate / n, 20 * np.log10(np.maximum(gain, 1e-9))


@pytest.mark.parametrize("rate_in", [22050, 24000, 32000, 44100, 48000])
def test_into_16_khz(rate_in):
    frequency, gain = response(rate_in, 16000)
    passed = gain[frequency <= 6500]
    assert passed.min() >= -0.15
    assert passed.max() <= 0.15
    assert gain[frequency >= 9000].max() <= -80


@pytest.mark.parametrize(("rate_in", "rate_out"), list(itertools.permutations(RATES, 2)))
def test_every_pair_in_proportion(rate_in, rate_out):
    frequency, gain = response(rate_in, rate_out)
    lower = min(rate_in, rate_out)
    passed = gain[frequency <= lower * 6500 / 16000]
    assert passed.min() >= -0.4
    assert passed.max() <= 0.15
    assert gain[frequency >= lower * 9000 / 16000].max() <= -80


@pytest.mark.parametrize("rate_in", [22050, 24000, 48000])
@pytest.mark.parametrize("tone", [100, 1000, 3000, 6500])
def test_int16_tones_come_through_clean(rate_in, tone):
    t = np.arange(rate_in) / rate_in
    resampler = Resampler(rate_in, 16000)
    made = resampler.process((16000 * np.sin(2 * np.pi * tone * t)).astype(np.int16)).astype(float)[200:15800]
    basis = 2 * np.pi * tone * np.arange(200, 15800) / 16000
    shape = np.stack([np.sin(basis), np.cos(basis)], axis=1)
    weights, *_ = np.linalg.lstsq(shape, made, rcond=None)
    amplitude = np.hypot(*weights)
    assert abs(20 * np.log10(amplitude / 16000)) <= 0.15
    assert abs(np.angle(weights[0] + 1j * weights[1])) < 0.01, "no delay is left"
    residue = made - shape @ weights
    assert 20 * np.log10(np.sqrt(np.mean(residue**2)) / (amplitude / np.sqrt(2))) < -75


@pytest.mark.parametrize(
    ("rate_in", "tone"), [(24000, 9000), (24000, 11500), (48000, 9000), (48000, 15000), (22050, 10000)]
)
def test_tones_beyond_the_new_band_vanish(rate_in, tone):
    t = np.arange(rate_in) / rate_in
    resampler = Resampler(rate_in, 16000)
    made = resampler.process(np.sin(2 * np.pi * tone * t).astype(np.float32))[200:15800]
    assert 20 * np.log10(np.sqrt(2 * np.mean(made.astype(float) ** 2))) <= -80


def test_a_constant_stays_exactly_that():
    for rate_in in RATES:
        made = Resampler(rate_in, 16000).process(np.full(8000, 12345, np.int16))
        assert set(made[200:]) == {12345}
