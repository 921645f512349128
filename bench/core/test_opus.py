"""Decoding and encoding 60 ms frames beside a C loop on the same libopus, and beside opuslib."""

import ctypes
import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import vanling.core.opus
from bench.ratio import interleaved_ns, report
from vanling.core.opus import Decoder, Encoder

RATE = 16000
FRAME = 960
BITRATE = 24000
COMPLEXITY = 5
BAR = 1.10

try:
    import opuslib
except Exception:  # a bare Exception where there is no system libopus
    opuslib = None


@pytest.fixture(scope="session")
def loop(tmp_path_factory):
    """The C loop, compiled here and linked to the libopus that vanling carries."""
    compiler = os.environ.get("CC", "cc").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip("needs a C compiler")
    package = Path(vanling.core.opus.__file__).parent
    library = tmp_path_factory.mktemp("loop") / "opus_loop.so"
    source = Path(__file__).with_name("opus_loop.c")
    opus = next(package.glob("libopus*"))
    command = [compiler, "-O3", "-fPIC", "-shared", str(source), str(opus), f"-Wl,-rpath,{package}", "-o", str(library)]
    subprocess.run(command, check=True)
    c = ctypes.CDLL(str(library))
    c.loop_decoder.restype = c.loop_encoder.restype = ctypes.c_void_p
    c.loop_decode.restype = c.loop_encode.restype = ctypes.c_double
    return c


@pytest.fixture(scope="session")
def packets(speech):
    return Encoder(RATE, bitrate=BITRATE, complexity=COMPLEXITY).encode(speech)


@pytest.fixture(scope="session")
def frames(speech):
    return [speech[i : i + FRAME] for i in range(0, len(speech), FRAME)]


def each(call, items):
    """A timer of one call for each item: ns per item."""

    def run() -> float:
        start = time.perf_counter_ns()
        for item in items:
            call(item)
        return (time.perf_counter_ns() - start) / len(items)

    return run


def test_decode(benchmark, loop, packets):
    ours = Decoder(RATE)
    peer = ctypes.c_void_p(loop.loop_decoder(RATE))
    wire = b"".join(packets)
    sizes = np.array([len(packet) for packet in packets], np.int32)
    size_list = sizes.ctypes.data_as(ctypes.c_void_p)

    ratio = interleaved_ns(
        each(ours.decode, packets), lambda: loop.loop_decode(peer, wire, size_list, len(packets)), rounds=101
    )
    benchmark(ours.decode, packets[7])
    report(benchmark, "decode_60ms_to_c_loop", ratio.value, BAR, ours_ns=ratio.ours_ns, peer_ns=ratio.peer_ns)


def test_encode(benchmark, loop, speech, frames):
    ours = Encoder(RATE, bitrate=BITRATE, complexity=COMPLEXITY)
    peer = ctypes.c_void_p(loop.loop_encoder(RATE, BITRATE, COMPLEXITY))
    pcm = speech.ctypes.data_as(ctypes.c_void_p)

    ratio = interleaved_ns(
        each(ours.encode, frames), lambda: loop.loop_encode(peer, pcm, FRAME, len(frames)), rounds=41
    )
    benchmark(ours.encode, frames[7])
    report(benchmark, "encode_60ms_to_c_loop", ratio.value, BAR, ours_ns=ratio.ours_ns, peer_ns=ratio.peer_ns)


@pytest.mark.skipif(opuslib is None, reason="opuslib has no libopus to bind")
def test_decode_beside_opuslib(benchmark, packets):
    ours, peer = Decoder(RATE), opuslib.Decoder(RATE, 1)
    ratio = interleaved_ns(each(ours.decode, packets), each(lambda packet: peer.decode(packet, FRAME), packets))
    benchmark(ours.decode, packets[7])
    report(benchmark, "decode_60ms_to_opuslib", ratio.value, ours_ns=ratio.ours_ns, peer_ns=ratio.peer_ns)


@pytest.mark.skipif(opuslib is None, reason="opuslib has no libopus to bind")
def test_encode_beside_opuslib(benchmark, frames):
    ours = Encoder(RATE, bitrate=BITRATE, complexity=COMPLEXITY)
    peer = opuslib.Encoder(RATE, 1, opuslib.APPLICATION_VOIP)
    peer.bitrate, peer.complexity = BITRATE, COMPLEXITY
    raw = [frame.tobytes() for frame in frames]
    ratio = interleaved_ns(each(ours.encode, frames), each(lambda frame: peer.encode(frame, FRAME), raw), rounds=21)
    benchmark(ours.encode, frames[7])
    report(benchmark, "encode_60ms_to_opuslib", ratio.value, ours_ns=ratio.ours_ns, peer_ns=ratio.peer_ns)
