"""Streams in parallel, and two threads in one object."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from vanling.core.opus import Decoder, Encoder
from vanling.core.resample import Resampler
from vanling.errors import AudioValueError


def test_streams_in_many_threads_do_not_disturb_each_other(voice):
    pcm = voice(16000)
    packets = Encoder(16000).encode(pcm)

    def run(_: int) -> tuple[bytes, bytes]:
        decoder, encoder, resampler = Decoder(16000), Encoder(16000), Resampler(16000, 24000)
        heard = np.concatenate([decoder.decode(packet) for packet in packets])
        again = b"".join(encoder.encode(pcm))
        return heard.tobytes() + again, resampler.process(np.tile(heard, 8)).tobytes()

    with ThreadPoolExecutor(16) as pool:
        results = set(pool.map(run, range(48)))
    assert len(results) == 1


def test_a_second_thread_in_one_object_is_refused_not_obeyed(voice):
    encoder = Encoder(48000, frame_ms=120, complexity=10, bitrate=64000)
    pcm = voice(48000, 6)
    refusals: list[AudioValueError] = []
    done = threading.Event()

    def intrude() -> None:
        while not done.is_set():
            try:
                encoder.encode(np.zeros(0, np.int16))
            except AudioValueError as refusal:
                refusals.append(refusal)
                return

    other = threading.Thread(target=intrude)
    other.start()
    packets = encoder.encode(pcm)
    done.set()
    other.join()
    assert packets == Encoder(48000, frame_ms=120, complexity=10, bitrate=64000).encode(pcm)
    for refusal in refusals:  # whether the two meet is up to the scheduler
        assert "another thread" in str(refusal)


def test_objects_can_be_made_and_dropped_anywhere(voice):
    packet = Encoder(16000).encode(voice(16000, 0.06))[0]

    def churn(_: int) -> int:
        return len(Decoder(16000).decode(packet)) + len(Encoder(16000).encode(np.zeros(960, np.int16)))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(churn, range(400))) == {961}


def test_a_failed_construction_leaks_nothing():
    for _ in range(1000):
        with pytest.raises(AudioValueError):
            Encoder(16000, bitrate=1)
