"""The two ways through the FIR kernel, with and without AVX2, give the same sound."""

import ctypes
import os
import platform
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(__file__).parents[2] / "csrc/resample_kernel.c"
COMPILER = os.environ.get("CC", "cc").split()[0]

pytestmark = [
    pytest.mark.skipif(not SOURCE.exists(), reason="needs the source tree"),
    pytest.mark.skipif(shutil.which(COMPILER) is None, reason="needs a C compiler"),
]


class Filter(ctypes.Structure):
    _fields_ = [("bank", ctypes.c_void_p), *((name, ctypes.c_size_t) for name in ("phases", "taps", "whole", "part"))]


class Cursor(ctypes.Structure):
    _fields_ = [("sample", ctypes.c_size_t), ("phase", ctypes.c_size_t)]


def run(library: Path, taps: int) -> tuple[np.ndarray, int]:
    kernel = ctypes.CDLL(str(library))
    bank = np.zeros(3 * taps, np.float32)
    fir = Filter(bank.ctypes.data, 3, taps, 1, 2)
    kernel.vanling_design(ctypes.byref(fir), ctypes.c_double(0.3), ctypes.c_double(9.0))
    np.testing.assert_allclose(bank.reshape(3, taps).sum(axis=1), 1.0, atol=1e-6)
    pcm = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    out = np.zeros(300, np.float32)
    at = Cursor(0, 1)
    kernel.vanling_fir(pcm.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(300),
                       ctypes.byref(fir), ctypes.byref(at))  # fmt: skip
    for k in range(0, 300, 37):
        sample, phase = divmod(1 + k * 5, 3)
        row = bank[phase * taps : (phase + 1) * taps].astype(float)
        assert out[k] == pytest.approx(pcm[sample : sample + taps] @ row, abs=1e-5)
    return out, at.sample * 3 + at.phase


@pytest.mark.parametrize("taps", [8, 16, 40, 96])
def test_wide_and_narrow_agree(tmp_path, taps):
    results = []
    for name, flags in (("wide", []), ("narrow", ["-DVANLING_NARROW"])):
        library = tmp_path / f"{name}.so"
        subprocess.run(
            [COMPILER, "-O3", "-fPIC", "-shared", *flags, str(SOURCE), "-o", str(library), "-lm"], check=True
        )
        results.append(run(library, taps))
    (wide, end), (narrow, same_end) = results
    np.testing.assert_allclose(wide, narrow, atol=1e-5)
    assert end == same_end == 1 + 300 * 5


@pytest.mark.skipif(platform.machine() != "x86_64", reason="AVX2 is x86")
def test_both_ways_are_in_the_library(tmp_path):
    library = tmp_path / "kernel.o"
    subprocess.run([COMPILER, "-O3", "-c", str(SOURCE), "-o", str(library)], check=True)
    assert b"fir_avx2" in library.read_bytes()
