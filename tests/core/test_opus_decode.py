"""Decoder: durations, channels, concealment, and what a bad packet leaves behind."""

import numpy as np
import pytest

from vanling.core.opus import FRAME_MS, RATES, Decoder, Encoder
from vanling.errors import AudioTypeError, AudioValueError, OpusError


@pytest.fixture
def packets(voice):
    return Encoder(16000).encode(voice(16000))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("frame_ms", FRAME_MS)
def test_returns_what_the_packet_says_of_itself(voice, rate, frame_ms):
    decoder = Decoder(rate)
    for packet in Encoder(48000, frame_ms=frame_ms).encode(voice(48000, 0.25)):
        pcm = decoder.decode(packet)
        assert pcm.dtype == np.int16
        assert pcm.shape == (int(rate * frame_ms / 1000),)
        assert decoder.last_duration_ms == frame_ms


def test_several_frames_in_one_packet(voice):
    # A code 1 packet: a TOC with count code 1 and two frames of one size, as browsers and other encoders send them.
    single = Encoder(16000, frame_ms=20, bitrate=16000).encode(voice(16000, 0.02))[0]
    double = bytes([single[0] | 1]) + single[1:] * 2
    assert Decoder(16000).decode(double).shape == (640,)


def test_stereo_packets_in_a_mono_decoder(voice, likeness):
    stereo = voice(16000, channels=2)
    packets = Encoder(16000, channels=2, bitrate=48000).encode(stereo)
    decoder = Decoder(16000)
    heard = np.concatenate([decoder.decode(packet) for packet in packets])
    assert heard.ndim == 1
    assert likeness(stereo[:, 0], heard) > 0.9


def test_mono_packets_in_a_stereo_decoder(packets):
    pcm = Decoder(16000, 2).decode(packets[3])
    assert pcm.shape == (960, 2)
    np.testing.assert_array_equal(pcm[:, 0], pcm[:, 1])


@pytest.mark.parametrize("loss", [None, b""])
@pytest.mark.parametrize("frame_ms", FRAME_MS)
def test_a_loss_is_concealed_with_the_last_duration(voice, loss, frame_ms):
    decoder = Decoder(16000)
    for packet in Encoder(16000, frame_ms=frame_ms).encode(voice(16000, 0.4)):
        decoder.decode(packet)
    concealed = decoder.decode(loss)
    assert concealed.shape == (int(16 * frame_ms),)
    assert concealed.any(), "the voice goes on for a moment"


def test_a_loss_before_anything_is_60_ms_of_silence():
    pcm = Decoder(16000).decode(None)
    assert pcm.shape == (960,)
    assert not pcm.any()


def test_reset_forgets_the_stream(packets):
    decoder, fresh = Decoder(16000), Decoder(16000)
    for packet in packets[:7]:
        decoder.decode(packet)
    decoder.reset()
    assert decoder.last_duration_ms == 60
    for packet in packets[7:]:
        np.testing.assert_array_equal(decoder.decode(packet), fresh.decode(packet))


@pytest.mark.parametrize("as_type", [bytearray, memoryview])
def test_any_bytes_will_do(packets, as_type):
    np.testing.assert_array_equal(Decoder(16000).decode(as_type(packets[0])), Decoder(16000).decode(packets[0]))


def test_results_do_not_share_memory(packets):
    decoder = Decoder(16000)
    first = decoder.decode(packets[0])
    copy = first.copy()
    decoder.decode(packets[1])
    np.testing.assert_array_equal(first, copy)


@pytest.mark.parametrize("wrong", ["text", 7, 1.5, [1, 2], object()])
def test_anything_but_bytes_is_a_type_error(wrong):
    with pytest.raises(AudioTypeError, match="wanted bytes or None"):
        Decoder(16000).decode(wrong)


@pytest.mark.parametrize("rate", [0, -1, 11025, 44100, 10**30])
def test_only_opus_rates(rate):
    with pytest.raises(AudioValueError, match="rate"):
        Decoder(rate)


@pytest.mark.parametrize("rate", ["16000", 16000.0, None, True])
def test_a_rate_is_an_int(rate):
    with pytest.raises(AudioTypeError, match="wanted an int"):
        Decoder(rate)


@pytest.mark.parametrize("channels", [0, 3, -1])
def test_one_or_two_channels(channels):
    with pytest.raises(AudioValueError, match="channels"):
        Decoder(16000, channels)


def test_a_refused_packet_changes_nothing(packets):
    disturbed, undisturbed = Decoder(16000), Decoder(16000)
    for packet in packets:
        with pytest.raises(OpusError) as refusal:
            disturbed.decode(b"\xff")
        assert refusal.value.code == -4
        np.testing.assert_array_equal(disturbed.decode(packet), undisturbed.decode(packet))
