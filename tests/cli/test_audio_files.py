"""WAV files of every sane kind, and the end of speech in them."""

from __future__ import annotations

import struct
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vanling.cli.microphone import Clip
from vanling.cli.speech_end import last_voiced_sample
from vanling.cli.wav import WavError, check_writable, read_speech, read_wav, write_wav

Tone = Callable[..., Any]


def write(path: Path, data: bytes, width: int, channels: int, rate: int) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(data)
    return path


def encoded(samples: Any, width: int) -> bytes:
    match width:
        case 1:
            return ((samples >> 8) + 128).astype(np.uint8).tobytes()
        case 2:
            return samples.astype("<i2").tobytes()
        case 3:
            return b"".join(struct.pack("<i", int(sample) << 8)[:3] for sample in samples)
        case _:
            return (samples.astype("<i4") << 16).tobytes()


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("channels", [1, 2, 6])
def test_every_width_and_number_of_channels(width: int, channels: int, tmp_path: Path, tone: Tone) -> None:
    samples = tone(50).astype(np.int64)
    path = write(tmp_path / "a.wav", encoded(np.repeat(samples, channels), width), width, channels, 16_000)
    read = read_wav(path, 16_000)
    assert read.dtype == np.int16
    assert np.abs(read - samples).max() <= (256 if width == 1 else 1)


@pytest.mark.parametrize("rate", [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000])
def test_every_usual_rate_becomes_16_khz(rate: int, tmp_path: Path, tone: Tone) -> None:
    path = write(tmp_path / "a.wav", tone(500, rate=rate).tobytes(), 2, 1, rate)
    assert abs(len(read_wav(path, 16_000)) - 8000) <= 1


def test_what_is_written_reads_back(tmp_path: Path, tone: Tone) -> None:
    write_wav(tmp_path / "a.wav", tone(100), 16_000)
    assert np.array_equal(read_wav(tmp_path / "a.wav", 16_000), tone(100))


def test_files_that_are_no_recordings_are_one_sentence(tmp_path: Path, tone: Tone) -> None:
    text = tmp_path / "text.wav"
    text.write_text("hello")
    empty = tmp_path / "nothing.wav"
    empty.write_bytes(b"")
    cut = write(tmp_path / "cut.wav", tone(100).tobytes(), 2, 1, 16_000)
    cut.write_bytes(cut.read_bytes()[:30])
    floating = tmp_path / "float.wav"
    floating.write_bytes(
        b"RIFF" + struct.pack("<I", 52) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 3, 1, 16000, 64000, 4, 32)
        + b"data" + struct.pack("<I", 16) + bytes(16)
    )  # fmt: skip
    for path in (text, empty, cut, floating):
        with pytest.raises(WavError, match="is no PCM WAV file"):
            read_wav(path, 16_000)
    with pytest.raises(WavError, match="holds no audio"):
        read_wav(write(tmp_path / "silent.wav", b"", 2, 1, 16_000), 16_000)
    with pytest.raises(WavError, match="cannot be read"):
        read_wav(tmp_path / "missing.wav", 16_000)
    with pytest.raises(WavError, match="cannot be converted"):
        read_wav(write(tmp_path / "odd.wav", bytes(2000), 2, 1, 12_345), 16_000)
    with pytest.raises(WavError, match="cannot be written"):
        write_wav(tmp_path / "no" / "a.wav", tone(10), 16_000)


def test_a_file_that_cannot_be_written_is_known_before_there_is_anything_to_write(tmp_path: Path) -> None:
    check_writable(None)
    check_writable(tmp_path / "new.wav")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old.wav").write_bytes(b"x")
    check_writable(tmp_path / "old.wav")
    for path, why in (
        (tmp_path, "a folder"),
        (tmp_path / "no" / "a.wav", "no folder"),
        (tmp_path / "old.wav" / "a", "no"),
    ):
        with pytest.raises(WavError, match=f"cannot be written: .*{why}"):
            check_writable(path)


def test_a_file_without_permission_is_known_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)  # who runs this may be allowed everything
    with pytest.raises(WavError, match="permission denied"):
        check_writable(tmp_path / "a.wav")


def test_a_recording_in_which_nobody_speaks_is_refused(tmp_path: Path, tone: Tone) -> None:
    write_wav(tmp_path / "speech.wav", tone(300), 16_000)
    assert len(read_speech(tmp_path / "speech.wav", 16_000)) == 4800
    for name, pcm in (("silence", np.zeros(16_000, np.int16)), ("hum", tone(500, 10)), ("scrap", tone(5))):
        write_wav(tmp_path / f"{name}.wav", pcm, 16_000)
        with pytest.raises(WavError, match="nothing that sounds like speech"):
            read_speech(tmp_path / f"{name}.wav", 16_000)


@pytest.mark.parametrize("noise", [0, 20])
@pytest.mark.parametrize("level", [500, 3000, 20000])
def test_speech_ends_where_the_sound_does(noise: int, level: int, tone: Tone) -> None:
    rng = np.random.default_rng(0)
    pcm = np.concatenate([np.zeros(3200), tone(600, level), np.zeros(8000)]) + rng.normal(0, noise, 20_800)
    end = last_voiced_sample(pcm.astype(np.int16), 16_000)
    assert abs(end - (3200 + 9600)) <= 160


def test_a_pause_within_speech_does_not_end_it(tone: Tone) -> None:
    pcm = np.concatenate([tone(300), np.zeros(4800, np.int16), tone(300), np.zeros(4800, np.int16)])
    assert last_voiced_sample(pcm, 16_000) == 4800 * 3


def test_speech_to_the_very_end(tone: Tone) -> None:
    assert last_voiced_sample(tone(500), 16_000) == 8000


def test_silence_and_scraps_hold_no_speech() -> None:
    assert last_voiced_sample(np.zeros(16_000, np.int16), 16_000) == 0
    assert last_voiced_sample(np.zeros(10, np.int16), 16_000) == 0
    assert last_voiced_sample(np.zeros(0, np.int16), 16_000) == 0


def test_a_click_is_no_speech(tone: Tone) -> None:
    pcm = np.concatenate([tone(300), np.zeros(4800, np.int16), tone(10), np.zeros(160, np.int16)])
    assert last_voiced_sample(pcm, 16_000) == 4800


async def test_a_turn_ends_before_the_pause_though_the_speaker_has_begun_again(tone: Tone) -> None:
    clip = Clip(np.concatenate([tone(60), np.zeros(6400, np.int16), tone(300)]), lead_ms=0)
    assert clip.speech_end_ns() is None
    for _ in range(9):  # 540 ms: 60 of tone, 400 of pause, 80 of tone
        await clip.frame()
    latest, before = clip.speech_end_ns(), clip.speech_end_ns(300)
    assert latest is not None
    assert before is not None
    assert latest - before == 480_000_000
    assert clip.speech_end_ns(500) == latest
