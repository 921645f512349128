"""The three binary framings: bytes in, bytes out, and headers that do not fit."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.core.framing import JSON, OPUS, Kind, pack, unpack
from vanling.errors import AudioTypeError, AudioValueError, FramingError


@pytest.mark.parametrize(
    ("version", "kind", "wire"),
    [
        (1, OPUS, b"abc"),
        (2, OPUS, bytes.fromhex("0002 0000 00000000 01020304 00000003") + b"abc"),
        (2, JSON, bytes.fromhex("0002 0001 00000000 01020304 00000003") + b"abc"),
        (3, OPUS, bytes.fromhex("00 00 0003") + b"abc"),
        (3, JSON, bytes.fromhex("01 00 0003") + b"abc"),
    ],
)
def test_the_bytes_on_the_wire(version, kind, wire):
    assert pack(version, b"abc", 0x01020304, kind) == wire
    assert unpack(version, wire) == (kind, 0x01020304 if version == 2 else 0, b"abc")
    assert isinstance(unpack(version, wire)[0], Kind)


@given(
    version=st.sampled_from([1, 2, 3]),
    payload=st.binary(max_size=3000),
    timestamp=st.integers(0, 2**32 - 1),
    as_type=st.sampled_from([bytes, bytearray, memoryview]),
)
def test_what_is_packed_unpacks(version, payload, timestamp, as_type):
    wire = as_type(pack(version, as_type(payload), timestamp))
    assert unpack(version, wire) == (OPUS, timestamp if version == 2 else 0, payload)
    assert type(unpack(version, wire)[2]) is bytes


@given(version=st.sampled_from([2, 3]), data=st.binary(max_size=64))
def test_any_bytes_unpack_or_raise_framing_error(version, data):
    try:
        kind, timestamp, payload = unpack(version, data)
    except FramingError:
        return
    assert kind in (OPUS, JSON)
    assert 0 <= timestamp < 2**32
    assert data.endswith(payload)
    assert len(data) == len(payload) + (16 if version == 2 else 4)


@pytest.mark.parametrize(
    ("version", "data", "says"),
    [
        (2, b"", "header alone has 16"),
        (2, bytes(15), "header alone has 16"),
        (3, bytes(3), "header alone has 4"),
        (2, struct.pack(">HHIII", 1, 0, 0, 0, 0), "says that it is version 1"),
        (2, struct.pack(">HHIII", 2, 2, 0, 0, 0), "of kind 2"),
        (3, struct.pack(">BBH", 7, 0, 0), "of kind 7"),
        (2, struct.pack(">HHIII", 2, 0, 0, 0, 9) + b"12345678", "says 9 bytes of payload and carries 8"),
        (2, struct.pack(">HHIII", 2, 0, 0, 0, 7) + b"12345678", "says 7 bytes of payload and carries 8"),
        (2, struct.pack(">HHIII", 2, 0, 0, 0, 0xFFFFFFFF), "says 4294967295 bytes"),
        (3, struct.pack(">BBH", 0, 0, 9) + b"12345678", "says 9 bytes of payload and carries 8"),
        (3, struct.pack(">BBH", 0, 0, 7) + b"12345678", "says 7 bytes of payload and carries 8"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(version, data, says):
    with pytest.raises(FramingError, match=says):
        unpack(version, data)


def test_frames_of_another_version_are_told_apart():
    for made, read in [(2, 3), (3, 2)]:
        with pytest.raises(FramingError):
            unpack(read, pack(made, b"x" * 120, 5))


def test_reserved_fields_are_not_looked_at():
    assert unpack(2, struct.pack(">HHIII", 2, 0, 99, 5, 1) + b"x") == (OPUS, 5, b"x")
    assert unpack(3, struct.pack(">BBH", 0, 99, 1) + b"x") == (OPUS, 0, b"x")


def test_empty_payloads_are_frames():
    # A browser's recorder ends with an empty message.
    for version in (1, 2, 3):
        assert unpack(version, pack(version, b"")) == (OPUS, 0, b"")


def test_version_1_passes_the_same_object():
    packet = b"\x58" * 40
    assert unpack(1, packet)[2] is packet


def test_a_payload_over_the_size_field_is_refused():
    assert len(pack(3, bytes(65535))) == 65539
    with pytest.raises(FramingError, match="65536 bytes"):
        pack(3, bytes(65536))


def test_version_1_carries_opus_only():
    with pytest.raises(FramingError, match="Opus only"):
        pack(1, b"{}", kind=JSON)


@pytest.mark.parametrize("version", [0, 4, -1])
def test_unknown_versions(version):
    for call in (pack, unpack):
        with pytest.raises(FramingError, match="known are 1, 2 and 3"):
            call(version, b"abc")


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("wrong", ["text", None, 5, [1]])
def test_anything_but_bytes_is_a_type_error(version, wrong):
    for call in (pack, unpack):
        with pytest.raises(AudioTypeError, match="wanted bytes"):
            call(version, wrong)


@pytest.mark.parametrize("timestamp", [-1, 2**32, 10**40])
def test_timestamps_fit_32_bits(timestamp):
    with pytest.raises(AudioValueError, match="timestamp_ms"):
        pack(2, b"abc", timestamp)


def test_versions_and_timestamps_are_ints():
    for call in (lambda: pack("1", b""), lambda: unpack(None, b""), lambda: pack(2, b"", 1.5)):
        with pytest.raises(AudioTypeError, match="wanted an int"):
            call()
