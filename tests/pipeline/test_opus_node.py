"""opus: what is no packet becomes time all the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pipeline.bench import Bench, Mark
from vanling.core.opus import Encoder
from vanling.pipeline.events import AudioFrame, PcmFrame
from vanling.pipeline.nodes.opus import OpusNode, OpusTemplate


def node(bench: Bench) -> OpusNode:
    return OpusTemplate().new_instance(bench.context)


def packet(rate: int = 16_000, frame_ms: float = 60, channels: int = 1) -> bytes:
    encoder = Encoder(rate, channels, frame_ms)
    tone = (8_000 * np.sin(np.arange(rate) / 10)).astype(np.int16)
    return encoder.encode(tone if channels == 1 else np.repeat(tone[:, None], 2, axis=1))[2]


def feed(opus: OpusNode, bench: Bench, *packets: bytes) -> list[int]:
    for n, data in enumerate(packets):
        opus.push(AudioFrame(data, n), bench.out.append)
    return [len(frame.pcm) for frame in bench.of(PcmFrame)]


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 48_000])
@pytest.mark.parametrize("frame_ms", [20, 60, 120])
@pytest.mark.parametrize("channels", [1, 2])
def test_the_packet_is_trusted_whatever_was_announced(rate: int, frame_ms: float, channels: int) -> None:
    bench = Bench()
    assert feed(node(bench), bench, packet(rate, frame_ms, channels)) == [16 * frame_ms]
    [frame] = bench.of(PcmFrame)
    assert frame.pcm.dtype == np.int16
    assert frame.pcm.ndim == 1


def test_arrival_times_travel_with_the_audio() -> None:
    bench = Bench()
    feed(node(bench), bench, packet(), packet())
    assert [frame.arrived_ns for frame in bench.of(PcmFrame)] == [0, 1]


def test_a_bad_packet_is_concealed_and_counted() -> None:
    bench = Bench()
    opus = node(bench)
    good = packet()
    assert feed(opus, bench, good, b"\xff" * 3, good) == [960, 960, 960]
    assert opus.bad_packets == 1


def test_an_empty_packet_is_a_lost_one() -> None:
    bench = Bench()
    assert feed(node(bench), bench, packet(frame_ms=20), b"", packet(frame_ms=20)) == [320, 320, 320]


def test_bad_packets_are_logged_ever_more_rarely(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    opus = node(bench)
    feed(opus, bench, *[packet(), b"\xff\xff"] * 100)
    assert opus.bad_packets == 100
    records = [record for record in caplog.records if getattr(record, "event", "") == "opus_decode_error"]
    assert [record.bad_packets for record in records] == [1, 2, 4, 8, 16, 32, 64]  # type: ignore[attr-defined]
    assert {record.session_id for record in records} == {"s1"}  # type: ignore[attr-defined]


def test_other_events_pass_in_order() -> None:
    bench = Bench()
    opus = node(bench)
    opus.push(Mark("a"), bench.out.append)
    feed(opus, bench, packet())
    opus.push(Mark("b"), bench.out.append)
    assert bench.names() == ["Mark", "PcmFrame", "Mark"]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.binary(max_size=200), max_size=10))
def test_any_bytes_become_some_audio_and_raise_nothing(packets: list[bytes]) -> None:
    bench = Bench()
    lengths = feed(node(bench), bench, *packets)
    assert len(lengths) == len(packets)
    assert all(0 < length <= 16 * 120 for length in lengths)
