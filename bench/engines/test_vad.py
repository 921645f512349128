"""What a window of voice detection costs in a batch, beside asking for one stream after another."""

from __future__ import annotations

import numpy as np
import pytest

from bench.ratio import interleaved, report
from vanling.engines.build import BuildContext
from vanling.engines.models import SILERO

STREAMS = 32
BAR = 0.8


def test_a_batch_is_cheaper_than_one_by_one(benchmark, context: BuildContext) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("onnxruntime")
    from vanling.engines.options import SileroOptions
    from vanling.engines.silero import SileroVad, build

    batched, plain = build(SileroOptions(), context), SileroVad(SILERO.require(context)[0], batched=False)
    windows = np.random.default_rng(0).normal(0, 0.1, (STREAMS, 512)).astype(np.float32)
    together, alone = [batched.new() for _ in range(STREAMS)], [plain.new() for _ in range(STREAMS)]

    def ours() -> None:
        batched.push(together, windows)

    def one_by_one() -> None:
        plain.push(alone, windows)

    benchmark(ours)
    measured = interleaved(ours, one_by_one, round_ns=10_000_000)
    us = 1 / STREAMS / 1000
    report(
        benchmark, "vad_batch", measured.value, BAR, batched_us=measured.ours_ns * us, single_us=measured.peer_ns * us
    )
