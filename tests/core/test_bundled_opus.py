"""The libopus that is used is the one that ships with vanling, whatever else the process has loaded."""

import ctypes
import ctypes.util
import subprocess
import sys
from pathlib import Path

import pytest

import vanling.core.opus as core

PACKAGE = Path(core.__file__).parent
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

PROBE = """
import ctypes, sys
if len(sys.argv) > 1:
    ctypes.CDLL(sys.argv[1])
import numpy as np
import vanling.core.opus as core
core.Decoder(16000).decode(core.Encoder(16000).encode(np.zeros(960, np.int16))[0])
print(core.opus_version())
print(*{line.split()[-1] for line in open("/proc/self/maps") if "libopus" in line}, sep="\\n")
"""


def mapped(*arguments: str) -> tuple[str, set[Path]]:
    run = subprocess.run([sys.executable, "-c", PROBE, *arguments], check=True, capture_output=True, text=True)
    version, *paths = run.stdout.splitlines()
    return version, {Path(path) for path in paths}


@linux_only
def test_our_own_copy_is_loaded():
    _, libraries = mapped()
    assert {library.resolve().parent for library in libraries} == {PACKAGE.resolve()}


@linux_only
def test_our_own_copy_is_used_beside_a_system_one():
    system = ctypes.util.find_library("opus")
    if system is None:
        pytest.skip("this system has no libopus of its own")
    version, libraries = mapped(system)
    assert PACKAGE.resolve() in {library.resolve().parent for library in libraries}
    assert len(libraries) == 2
    ours = ctypes.CDLL(str(next(PACKAGE.glob("libopus*"))))
    ours.opus_get_version_string.restype = ctypes.c_char_p
    assert version == ours.opus_get_version_string().decode()


def test_its_licence_ships_with_it():
    notice = (PACKAGE / "NOTICE.libopus").read_text()
    assert "Xiph.Org" in notice
    assert "Redistributions in binary form" in notice
