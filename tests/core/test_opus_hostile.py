"""Packets that no encoder made: the list of what devices, browsers and attackers have sent."""

import contextlib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.core.opus import Decoder, Encoder
from vanling.errors import OpusError

INVALID = -4


@pytest.fixture
def good(voice):
    return Encoder(16000).encode(voice(16000, 0.3))


@pytest.mark.parametrize(
    ("packet", "samples"),
    [(b"\x00", 160), (b"\x58", 960), (b"\xf8", 320), (b"\xe0", 40)],
    ids=["silk-10ms", "silk-60ms", "celt-20ms", "celt-2.5ms"],
)
def test_one_byte_is_a_packet_without_data(packet, samples):
    assert Decoder(16000).decode(packet).shape == (samples,)


@pytest.mark.parametrize(
    "packet",
    [
        b"\xff",
        b'{"type":"hello"}',
        b"\x03",  # code 3 without its count
        b"\x03\x00",  # no frames
        b"\x1b\x3f" + bytes(60),  # 63 frames of 60 ms
        b"\xfb\x31" + bytes(60),  # 49 frames of 20 ms: 980 ms
        b"\x01\x00",  # two frames of unequal size
        b"\x02\xff",  # a frame length that is cut off
        b"\x02\xfb\xff\x00",  # a first frame longer than the packet
        b"\xfb\x41\xff\xff",  # padding longer than the packet
        b"\x00" + bytes(1276),  # one frame over 1275 bytes
        random.Random(4).randbytes(4000),
    ],
    ids=lambda packet: packet[:4].hex(),
)
def test_malformed_packets_are_refused(packet, good):
    decoder = Decoder(16000)
    with pytest.raises(OpusError, match=f"{len(packet)} bytes") as refusal:
        decoder.decode(packet)
    assert refusal.value.code == INVALID
    assert isinstance(refusal.value, ValueError)
    assert decoder.decode(good[0]).shape == (960,)


@pytest.mark.parametrize("size", [65537, 1 << 20])
def test_a_packet_longer_than_any_is_refused_before_libopus_sees_it(size):
    with pytest.raises(OpusError, match=f"{size} bytes; none is longer") as refusal:
        Decoder(16000).decode(bytes(size))
    assert refusal.value.code == INVALID


def test_large_packets_are_taken(voice):
    # A browser whose bitrate setting takes no effect sends 60 ms in about 2 KB; the ceiling of libopus is near 4 KB.
    encoder = Encoder(48000, 2, 60, bitrate=510000)
    packets = encoder.encode(np.random.default_rng(0).integers(-20000, 20000, (2880 * 4, 2)).astype(np.int16))
    assert max(map(len, packets)) > 3500
    decoder = Decoder(16000)
    assert {decoder.decode(packet).shape for packet in packets} == {(960,)}


def test_twenty_thousand_random_packets():
    rng = random.Random(48)
    decoder = Decoder(16000)
    decoded = 0
    for _ in range(20000):
        packet = rng.randbytes(rng.randrange(1, 200))
        try:
            pcm = decoder.decode(packet)
        except OpusError as refusal:
            assert refusal.code < 0  # noqa: PT017 - most do not raise
        else:
            decoded += 1
            assert 40 <= len(pcm) <= 1920
    assert 0.3 < decoded / 20000 < 0.7, "an Opus decoder is no filter: about half of all noise is audio to it"


@given(st.binary(max_size=2000), st.sampled_from([(8000, 1), (16000, 1), (24000, 2), (48000, 2)]))
def test_any_bytes_decode_or_raise_opus_error(packet, form):
    decoder = Decoder(*form)
    try:
        pcm = decoder.decode(packet)
    except OpusError:
        pcm = decoder.decode(None)
    assert pcm.dtype == np.int16
    assert len(pcm) <= form[0] * 120 // 1000


@given(st.data())
def test_damaged_packets_leave_a_working_decoder(data):
    rng = random.Random(data.draw(st.integers(0, 2**32)))
    encoder = Encoder(16000, complexity=0)
    pcm = (8000 * np.sin(np.arange(960 * 6) * 0.1)).astype(np.int16)
    decoder = Decoder(16000)
    for packet in encoder.encode(pcm):
        broken = bytearray(packet)
        broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
        with contextlib.suppress(OpusError):
            decoder.decode(bytes(broken[: rng.randrange(1, len(broken) + 1)]))
        assert decoder.decode(packet).shape == (960,)
