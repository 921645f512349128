"""Encoder: whole packets out of any chunks, and a clean end."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.core.opus import FRAME_MS, RATES, Decoder, Encoder
from vanling.errors import AudioTypeError, AudioValueError


@pytest.mark.parametrize(
    ("rate", "frame_ms"), [form for form in itertools.product(RATES, FRAME_MS) if form != (12000, 2.5)]
)
def test_every_rate_and_duration(voice, likeness, rate, frame_ms):
    pcm = voice(rate, 0.7)
    encoder = Encoder(rate, frame_ms=frame_ms, bitrate=32000)
    packets = encoder.encode(pcm) + encoder.flush()
    assert len(packets) == -(-len(pcm) // encoder.frame_samples)
    decoder = Decoder(16000)
    heard = np.concatenate([decoder.decode(packet) for packet in packets])
    assert len(heard) == len(packets) * int(16 * frame_ms)
    assert likeness(voice(16000, 0.7), heard) > 0.75


@given(cuts=st.lists(st.integers(0, 2500), max_size=12), channels=st.sampled_from([1, 2]))
def test_chunk_borders_do_not_change_the_packets(cuts, channels):
    rng = np.random.default_rng(5)
    shape = (4000,) if channels == 1 else (4000, 2)
    pcm = (np.cumsum(rng.normal(size=shape), axis=0) * 300).astype(np.int16)
    whole = Encoder(16000, channels, frame_ms=20, complexity=0)
    expected = whole.encode(pcm) + whole.flush()
    chunked = Encoder(16000, channels, frame_ms=20, complexity=0)
    edges = [0, *np.minimum(np.cumsum(cuts, dtype=int), len(pcm)).tolist(), len(pcm)]
    packets = [p for a, b in itertools.pairwise(edges) for p in chunked.encode(pcm[a:b])]
    assert packets + chunked.flush() == expected


def test_samples_wait_until_a_packet_is_whole():
    encoder = Encoder(16000)
    assert encoder.encode(np.zeros(959, np.int16)) == []
    assert len(encoder.encode(np.zeros(1, np.int16))) == 1
    assert encoder.encode(np.zeros(0, np.int16)) == []
    assert encoder.flush() == []


def test_flush_fades_out_and_goes_on():
    encoder, decoder = Encoder(16000, frame_ms=20, bitrate=64000), Decoder(16000)
    tone = (20000 * np.sin(2 * np.pi * 300 * np.arange(160 * 5) / 16000)).astype(np.int16)
    heard = np.concatenate([decoder.decode(p) for p in encoder.encode(tone) + encoder.flush()])
    assert len(heard) == 960
    end = len(tone) + encoder.lookahead
    assert np.abs(heard[end - 240 : end - 120]).max() > 8000, "the tone sounds almost to its end"
    assert np.abs(heard[end + 32 :]).max() < 1500, "then there is silence"
    assert np.abs(np.diff(heard[end - 120 :].astype(int))).max() < 4000, "with no click between"
    assert len(encoder.encode(tone)) == 2


def test_flush_ends_before_the_decoder_stops_hearing():
    # 150 samples short of nothing: the decoder lags by the lookahead, so the last 104 samples would be cut in mid-tone.
    encoder, decoder = Encoder(16000, frame_ms=20, bitrate=64000), Decoder(16000)
    tone = (20000 * np.sin(2 * np.pi * 300 * np.arange(318) / 16000)).astype(np.int16)
    heard = np.concatenate([decoder.decode(p) for p in encoder.encode(tone) + encoder.flush()])
    assert len(heard) == 320
    assert np.abs(heard[-8:]).max() < 2500


def test_reset_drops_what_waits(voice):
    pcm = voice(16000, 0.5)
    encoder = Encoder(16000)
    encoder.encode(pcm[:3000])
    encoder.reset()
    assert encoder.flush() == []
    assert encoder.encode(pcm) == Encoder(16000).encode(pcm)


def test_bitrate_and_complexity_are_obeyed(voice):
    pcm = voice(16000, 3)
    low, high = (sum(map(len, Encoder(16000, bitrate=rate).encode(pcm))) for rate in (8000, 40000))
    assert low * 2.5 < high
    assert 0.5 < low * 8 / 3 / 8000 < 1.5
    assert Encoder(16000, complexity=0).encode(pcm) != Encoder(16000, complexity=10).encode(pcm)


def test_settings_are_readable():
    encoder = Encoder(24000, 2, 20, 32000, 7)
    seen = (
        encoder.rate,
        encoder.channels,
        encoder.frame_ms,
        encoder.bitrate,
        encoder.complexity,
        encoder.frame_samples,
    )
    assert seen == (24000, 2, 20, 32000, 7, 480)
    assert 0 < encoder.lookahead <= 240


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"rate": 44100}, "rate"),
        ({"channels": 0}, "channels"),
        ({"frame_ms": 30}, "frame_ms"),
        ({"rate": 12000, "frame_ms": 2.5}, "wrong pitch"),
        ({"frame_ms": 0}, "frame_ms"),
        ({"frame_ms": float("nan")}, "frame_ms"),
        ({"bitrate": 100}, "bitrate"),
        ({"bitrate": 10**9}, "bitrate"),
        ({"complexity": 11}, "complexity"),
        ({"complexity": -1}, "complexity"),
    ],
)
def test_settings_out_of_range_are_named(options, named):
    with pytest.raises(AudioValueError, match=named):
        Encoder(**{"rate": 16000, **options})


@pytest.mark.parametrize(
    ("pcm", "error"),
    [
        (np.zeros(960, np.float32), AudioTypeError),
        (np.zeros(960, np.int32), AudioTypeError),
        (np.zeros(960, ">i2"), AudioTypeError),
        (b"\0" * 1920, AudioTypeError),
        ([0] * 960, AudioTypeError),
        (None, AudioTypeError),
        (np.zeros((960, 1), np.int16), AudioValueError),
        (np.zeros((960, 2), np.int16), AudioValueError),
        (np.zeros(1920, np.int16)[::2], AudioValueError),
        (np.int16(3), AudioTypeError),
        (np.zeros((), np.int16), AudioValueError),
    ],
)
def test_other_audio_is_refused_and_counts_nothing(pcm, error):
    encoder = Encoder(16000)
    with pytest.raises(error, match=r"wanted|contiguous"):
        encoder.encode(pcm)
    assert encoder.flush() == []


def test_read_only_audio_is_audio(voice):
    pcm = voice(16000, 0.1)
    pcm.flags.writeable = False
    assert Encoder(16000).encode(pcm)
