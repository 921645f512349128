"""Capture from this computer, with an audio library that is a stand-in."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from vanling.cli.connecting import DeviceError
from vanling.cli.live_microphone import LiveMicrophone
from vanling.cli.microphone import FRAME


class PortAudioError(Exception):
    pass


class Stream:
    """Delivers two silent blocks and a loud one from a thread of its own."""

    closed = False

    def __init__(self, rate: int, blocksize: int, *, channels: int, dtype: str, callback: Any) -> None:
        assert (rate, blocksize, channels, dtype) == (16_000, FRAME, 1, "int16")
        self.callback = callback

    def start(self) -> None:
        def deliver() -> None:
            buffer = np.zeros((FRAME, 1), np.int16)
            for level in (0, 0, 9000):
                buffer[:] = level
                self.callback(buffer, FRAME, None, None)

        threading.Thread(target=deliver).start()

    def close(self) -> None:
        Stream.closed = True


async def test_blocks_become_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", SimpleNamespace(InputStream=Stream, PortAudioError=PortAudioError))
    with LiveMicrophone() as microphone:
        first, second = await microphone.frame(), await microphone.frame()
        assert microphone.speech_end_ns() is None
        third = await microphone.frame()
        assert microphone.speech_end_ns() is not None
        assert not microphone.finished
    assert [int(frame.max()) for frame in (first, second, third)] == [0, 0, 9000]
    assert Stream.closed


async def test_no_microphone_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PortAudioError("Error querying device -1")

    monkeypatch.setitem(sys.modules, "sounddevice", SimpleNamespace(InputStream=refuse, PortAudioError=PortAudioError))
    with pytest.raises(DeviceError, match="no microphone here"), LiveMicrophone():
        pass
