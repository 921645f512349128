"""Silero: hears speech, and hears the same in a batch as alone."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.engines.conftest import need
from tests.engines.speech import Recording
from vanling.contracts.engines import Samples, Vad
from vanling.engines.build import BuildContext
from vanling.engines.models import SILERO


def windows(audio: Samples) -> Samples:
    return audio[: len(audio) // 512 * 512].reshape(-1, 512)


def test_speech_is_heard_and_silence_is_not(silero: Vad, speech: list[Recording]) -> None:
    stream = silero.new()
    spoken = [float(silero.push([stream], each[None])[0]) for each in windows(speech[0].audio)]
    assert np.mean(np.array(spoken) > 0.5) > 0.6
    stream.reset()
    silent = [float(silero.push([stream], np.zeros((1, 512), np.float32))[0]) for _ in range(30)]
    assert max(silent[5:]) < 0.35


def test_a_batch_equals_one_by_one(silero: Vad, speech: list[Recording]) -> None:
    from vanling.engines.silero import SileroVad

    folder = SILERO.folder()
    assert folder is not None
    plain = SileroVad(folder / SILERO.files[0].path, batched=False)
    assert silero.batched  # type: ignore[attr-defined]
    audio = [windows(each.audio)[:80] for each in speech]
    together, alone = [silero.new() for _ in audio], [plain.new() for _ in audio]
    for step in range(80):
        if step == 40:
            together[1].reset()
            alone[1].reset()
        batch = np.stack([each[step] for each in audio])
        expected = [plain.push([stream], batch[n : n + 1])[0] for n, stream in enumerate(alone)]
        np.testing.assert_allclose(silero.push(together, batch), expected, atol=1e-5)


def test_the_published_graph_serves_where_onnx_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    need("onnxruntime", "faster_whisper")
    from vanling.engines.options import SileroOptions
    from vanling.engines.silero import build

    monkeypatch.setitem(sys.modules, "onnx", None)
    with caplog.at_level(logging.WARNING):
        vad = build(SileroOptions(), BuildContext(tmp_path))
    assert not vad.batched
    assert "onnx is not installed" in caplog.text
    assert vad.push([vad.new(), vad.new()], np.zeros((2, 512), np.float32)).shape == (2,)
