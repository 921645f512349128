"""Resampling a 20 ms frame beside soxr's streaming resampler, the Python call included."""

from functools import partial

import numpy as np
import pytest

from bench.ratio import interleaved, report
from vanling.core.resample import Resampler

soxr = pytest.importorskip("soxr")

BAR = 0.8


@pytest.mark.parametrize("dtype", ["int16", "float32"])
@pytest.mark.parametrize("rate_in", [22050, 24000, 48000])
def test_into_16_khz(benchmark, rate_in, dtype):
    noise = np.random.default_rng(0).normal(size=rate_in // 50)
    pcm = (noise * 6000).astype(np.int16) if dtype == "int16" else (noise * 0.2).astype(np.float32)
    ours = Resampler(rate_in, 16000)
    peer = soxr.ResampleStream(rate_in, 16000, 1, dtype=dtype, quality="HQ")
    ratio = interleaved(partial(ours.process, pcm), partial(peer.resample_chunk, pcm))
    benchmark(ours.process, pcm)
    # The bar is set for int16, which is what comes from devices and voices.
    name = f"resample_{rate_in}_to_16000_{dtype}_to_soxr_hq"
    bar = BAR if dtype == "int16" else None
    report(benchmark, name, ratio.value, bar, ours_ns=ratio.ours_ns, peer_ns=ratio.peer_ns, delay_ms=ours.delay_ms)
