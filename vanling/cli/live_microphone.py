"""This computer's microphone, by the optional package ``sounddevice``."""

from __future__ import annotations

import asyncio
import importlib
import time
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vanling.cli.common import with_pip
from vanling.cli.connecting import DeviceError
from vanling.cli.microphone import FRAME, RATE
from vanling.cli.speech_end import LEAST_DB

VOICE_DB = LEAST_DB + 15.0
"""Louder than a quiet room (dBFS)."""
SILENCE_NS = 1_000_000_000
PAUSE_NS = 300_000_000


class LiveMicrophone:
    """Implements :class:`vanling.cli.microphone.Microphone`; open for as long as it is a context manager.

    Raises DeviceError on opening where there is no microphone.
    """

    def __init__(self) -> None:
        self._frames: asyncio.Queue[NDArray[np.int16]] = asyncio.Queue()
        self._speech_end_ns: int | None = None
        self._before_pause_ns: int | None = None
        self._stream: Any = None

    def __enter__(self) -> LiveMicrophone:
        loop = asyncio.get_running_loop()

        def arrived(data: NDArray[np.int16], _frames: int, _time: object, _status: object) -> None:
            # On the audio library's own thread; its buffer is only ours until we return.
            loop.call_soon_threadsafe(self._frames.put_nowait, data[:, 0].copy())

        self._stream = _open(arrived)
        self._stream.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    @property
    def finished(self) -> bool:
        """After a second of silence: long enough to let go of the button, where there is one."""
        return self._speech_end_ns is not None and time.monotonic_ns() - self._speech_end_ns > SILENCE_NS

    def speech_end_ns(self, pause_ms: int = 0) -> int | None:
        before = self._before_pause_ns
        since_ms = (time.monotonic_ns() - (self._speech_end_ns or 0)) / 1e6
        return before if before is not None and since_ms < pause_ms else self._speech_end_ns

    async def frame(self) -> NDArray[np.int16]:
        samples = await self._frames.get()
        power = float(np.mean((samples.astype(np.float64) / 32768.0) ** 2))
        if 10.0 * np.log10(max(power, 1e-10)) > VOICE_DB:
            now_ns = time.monotonic_ns()
            if self._speech_end_ns is not None and now_ns - self._speech_end_ns > PAUSE_NS:
                self._before_pause_ns = self._speech_end_ns
            self._speech_end_ns = now_ns
        return samples


def _open(arrived: Any) -> Any:
    try:
        sounddevice = importlib.import_module("sounddevice")
    except ImportError:
        raise DeviceError(with_pip("--mic needs the Python package sounddevice: pip install sounddevice")) from None
    except OSError as error:
        raise DeviceError(f"--mic needs the PortAudio library: {error}") from None
    try:
        return sounddevice.InputStream(RATE, FRAME, channels=1, dtype="int16", callback=arrived)
    except (sounddevice.PortAudioError, ValueError) as error:
        raise DeviceError(f"there is no microphone here that records at 16 kHz: {error}") from None
