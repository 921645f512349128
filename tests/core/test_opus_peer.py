"""Packets to and from an independent binding of another libopus."""

import numpy as np
import pytest

from vanling.core.opus import Decoder, Encoder

try:
    import opuslib
except Exception as problem:  # opuslib raises a bare Exception where there is no system libopus
    pytest.skip(f"opuslib has no libopus to bind: {problem}", allow_module_level=True)


@pytest.mark.parametrize("rate", [8000, 16000, 24000, 48000])
@pytest.mark.parametrize("frame_ms", [20, 60])
@pytest.mark.parametrize("channels", [1, 2])
def test_the_peer_hears_us(voice, likeness, rate, frame_ms, channels):
    pcm = voice(rate, channels=channels)
    peer = opuslib.Decoder(rate, channels)
    packets = Encoder(rate, channels, frame_ms=frame_ms).encode(pcm)
    n = rate * frame_ms // 1000
    heard = np.concatenate([np.frombuffer(peer.decode(p, n), np.int16).reshape(-1, channels) for p in packets])
    assert likeness(pcm.reshape(-1, channels)[:, 0], heard[:, 0]) > 0.85


@pytest.mark.parametrize("rate", [8000, 16000, 24000, 48000])
@pytest.mark.parametrize("frame_ms", [20, 60])
def test_we_hear_the_peer(voice, likeness, rate, frame_ms):
    pcm = voice(rate)
    n = rate * frame_ms // 1000
    peer = opuslib.Encoder(rate, 1, opuslib.APPLICATION_VOIP)
    decoder = Decoder(rate)
    frames = [pcm[i : i + n].tobytes() for i in range(0, len(pcm) - n + 1, n)]
    heard = np.concatenate([decoder.decode(peer.encode(frame, n)) for frame in frames])
    assert likeness(pcm, heard) > 0.85


def test_both_decode_alike(voice):
    decoder, peer = Decoder(16000), opuslib.Decoder(16000, 1)
    ours, theirs = [], []
    for packet in Encoder(16000).encode(voice(16000)):
        ours.append(decoder.decode(packet))
        theirs.append(np.frombuffer(peer.decode(packet, 960), np.int16))
    error = np.concatenate(ours).astype(float) - np.concatenate(theirs)
    assert np.sqrt(np.mean(error**2)) < 30, "two releases of libopus differ by rounding only"
