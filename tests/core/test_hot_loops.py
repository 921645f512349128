"""Nothing is allocated for each frame but the array that is returned, and no Python runs for each sample."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vanling.core.endpoint import Endpointer
from vanling.core.opus import Decoder, Encoder
from vanling.core.pacer import Pacer
from vanling.core.resample import Resampler

ROOT = Path(__file__).parents[2]


def endpointer_pushes():
    endpointer = Endpointer(16000, 0.5, 0.35, 120, 300, 200)
    return lambda: endpointer.push(512, 0.7)


def pacer_asks():
    pacer = Pacer(60)
    pacer.sent(2, 10**12)
    now = 10**12 + 5
    return lambda: pacer.due(now)


def decoder_decodes():
    decoder = Decoder(16000)
    packet = Encoder(16000).encode(np.zeros(960, np.int16))[0]
    return lambda: decoder.decode(packet)


def encoder_takes():
    encoder = Encoder(16000)
    pcm = np.zeros(960, np.int16)
    return lambda: encoder.encode(pcm)


def resampler_converts():
    resampler = Resampler(48000, 16000)
    pcm = np.zeros(960, np.int16)
    return lambda: resampler.process(pcm)


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="counts CPython's blocks")
@pytest.mark.parametrize("make", [endpointer_pushes, pacer_asks, decoder_decodes, encoder_takes, resampler_converts])
def test_ten_thousand_frames_keep_no_block(make):
    step = make()
    frames = range(2000)
    for _ in range(100):
        step()
    before = sys.getallocatedblocks()
    for _ in frames:
        step()
    assert sys.getallocatedblocks() - before < 50


CHECKS = ("boundscheck", "wraparound", "initializedcheck", "nonecheck")  # off, as in setup.py

# Functions that run for each sample, window or frame: Cython's annotation must show no call of the interpreter in them.
PURE = {
    "resample": ["_run", "_outputs_in_window", "_available", "_step", "_start"],
    "endpoint": ["_advance"],
    "pacer": ["_due"],
    "framing": ["_put16", "_put32", "_get16", "_get32"],
}


@pytest.mark.parametrize("module", PURE)
def test_no_python_in_the_inner_functions(module, tmp_path):
    pytest.importorskip("Cython", reason="annotates with Cython")
    source = ROOT / f"csrc/{module}.pyx"
    if not source.exists():
        pytest.skip("needs the source tree")
    scores = annotated(source, tmp_path)
    lines = source.read_text().splitlines()
    for name in PURE[module]:
        start = next(i for i, line in enumerate(lines) if re.search(rf"cdef .*\b{name}\(", line))
        indent = len(lines[start]) - len(lines[start].lstrip())
        body = range(start + 1, len(lines))
        for i in body:
            line = lines[i]
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                break
            assert scores.get(i + 1, 0) == 0, f"{source.name}:{i + 1}: {line.strip()}"


def annotated(source: Path, folder: Path) -> dict[int, int]:
    """Cython's score of each line: 0 is plain C."""
    output = folder / f"{source.stem}.c"
    directives = [f"-X{name}" for name in (*(f"{check}=False" for check in CHECKS), "cdivision=True")]
    subprocess.run(
        [sys.executable, "-m", "cython", "-3", "-a", "-I", str(ROOT), "-I", np.get_include(), *directives,
         "--module-name", f"vanling.core.{source.stem}", "-o", str(output), str(source)],
        check=True, capture_output=True,
    )  # fmt: skip
    rows = re.findall(
        r'class="cython line score-(\d+)"[^>]*>[^<]*<span class="">0*(\d+)', output.with_suffix(".html").read_text()
    )
    assert rows, "Cython's annotation has another form now"
    return {int(line): int(score) for score, line in rows}
