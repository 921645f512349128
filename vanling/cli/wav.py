"""WAV files in and out: whatever a recorder writes becomes mono int16 at the rate that is needed."""

from __future__ import annotations

import os
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vanling.cli.speech_end import voiced_windows
from vanling.core.resample import Resampler
from vanling.errors import VanlingError

LONGEST_S = 600


class WavError(VanlingError, ValueError):
    """A file that cannot be read as, or written as, a WAV file."""


def read_wav(path: Path, rate: int) -> NDArray[np.int16]:
    """The recording as int16 mono at ``rate`` Hz; 8 to 32 bit PCM, any number of channels (they are averaged).

    Raises:
        WavError: no such file, no PCM WAV file, empty, too long, or at a rate that cannot be converted.
    """
    try:
        with wave.open(str(path), "rb") as file:
            channels, width, own_rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
            if file.getnframes() > LONGEST_S * own_rate:
                raise WavError(f"{path} is longer than {LONGEST_S // 60} minutes")
            data = file.readframes(file.getnframes())
    except OSError as error:
        raise WavError(f"{path} cannot be read: {error.strerror or error}") from None
    except (wave.Error, EOFError) as error:
        raise WavError(f"{path} is no PCM WAV file of 8, 16, 24 or 32 bit ({error or 'it is cut off'})") from None
    samples = _int16(data[: len(data) - len(data) % (width * channels)], width)
    if len(samples) == 0:
        raise WavError(f"{path} holds no audio")
    mono = samples.reshape(-1, channels).mean(axis=1).round().astype(np.int16) if channels > 1 else samples
    return _resampled(path, mono, own_rate, rate)


def write_wav(path: Path, pcm: NDArray[np.int16], rate: int) -> None:
    """``pcm`` (mono) as a 16 bit WAV file.

    Raises:
        WavError: the file cannot be written.
    """
    try:
        # Not by its name: a Wave_write whose file could not be opened complains once more when it is collected.
        with path.open("wb") as raw, wave.open(raw, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(pcm.astype("<i2").tobytes())
    except OSError as error:
        raise WavError(f"{path} cannot be written: {error.strerror or error}") from None


def read_speech(path: Path, rate: int) -> NDArray[np.int16]:
    """Like :func:`read_wav`; raises WavError also for a recording in which nobody speaks."""
    pcm = read_wav(path, rate)
    if not voiced_windows(pcm, rate).any():
        raise WavError(f"{path} holds nothing that sounds like speech")
    return pcm


def check_writable(path: Path | None) -> None:
    """Raise the WavError of :func:`write_wav` before there is anything to write."""
    if path is None:
        return
    folder = path.parent
    if path.is_dir():
        why = "it is a folder"
    elif not folder.is_dir():
        why = f"there is no folder {folder}"
    elif not os.access(path if path.exists() else folder, os.W_OK):
        why = "permission denied"
    else:
        return
    raise WavError(f"{path} cannot be written: {why}")


def resample(pcm: NDArray[np.int16], rate_in: int, rate_out: int) -> NDArray[np.int16]:
    """A whole recording at another rate. Raises AudioValueError for rates that the resampler does not take."""
    if rate_in == rate_out:
        return pcm
    resampler = Resampler(rate_in, rate_out)
    return np.concatenate([resampler.process(pcm), resampler.flush()])


def _resampled(path: Path, pcm: NDArray[np.int16], rate_in: int, rate_out: int) -> NDArray[np.int16]:
    try:
        return resample(pcm, rate_in, rate_out)
    except ValueError as error:
        raise WavError(f"{path} is at {rate_in} Hz, which cannot be converted: {error}") from None


def _int16(data: bytes, width: int) -> NDArray[np.int16]:
    """The upper 16 bits of samples of ``width`` bytes."""
    match width:
        case 1:  # the only unsigned width of the format
            return (np.frombuffer(data, np.uint8).astype(np.int16) - 128) * np.int16(256)
        case 2:
            return np.frombuffer(data, "<i2").astype(np.int16)
        case 3:
            return np.frombuffer(data, np.uint8).reshape(-1, 3)[:, 1:].copy().view("<i2").reshape(-1).astype(np.int16)
        case _:
            return (np.frombuffer(data, "<i4") >> 16).astype(np.int16)
