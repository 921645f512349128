"""The voice: understood when transcribed back, seamless when streamed, unshaken by any text."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import sys
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest

from tests.engines.conftest import need, need_model
from tests.engines.speech import to_model_rate, word_errors
from vanling.contracts.engines import Asr, Pcm, Priority, Tts
from vanling.engines.build import BuildContext
from vanling.engines.models import PIPER_JOE
from vanling.engines.options import PiperOptions
from vanling.engines.piper.config import read_voice_config
from vanling.engines.piper.phonemes import LONGEST, Phonemizer
from vanling.errors import ConfigError, EngineUnavailableError

SENTENCES = (
    "The lights in the kitchen are now off.",
    "Your timer for the pasta has finished.",
    "Tomorrow morning will be mostly sunny, with a light breeze from the west.",
    "Doctor Smith paid three dollars for a cup of coffee.",
    "I could not find that song, would you like to hear another one?",
)


async def speak(tts: Tts, text: str) -> list[Pcm]:
    return [chunk async for chunk in tts.synthesize(text)]


def joined(chunks: list[Pcm]) -> np.ndarray:
    return np.concatenate([chunk.samples for chunk in chunks])


async def test_what_is_said_is_understood_again(piper: Tts, whisper: Asr) -> None:
    wrong = said = 0
    for sentence in SENTENCES:
        stream = whisper.new()
        stream.feed(to_model_rate(joined(await speak(piper, sentence)), piper.rate))
        errors, total = word_errors(sentence, (await stream.hypothesis()).text)
        wrong, said = wrong + errors, said + total
    assert wrong <= 0.08 * said


async def test_a_sentence_comes_in_growing_chunks(piper: Tts) -> None:
    chunks = await speak(piper, SENTENCES[2])
    assert len(chunks) >= 4
    assert chunks[0].duration_ms == pytest.approx(232, abs=2)
    assert chunks[1].duration_ms == pytest.approx(464, abs=3)
    assert all(chunk.samples.dtype == np.float32 and np.max(np.abs(chunk.samples)) <= 1 for chunk in chunks)
    assert np.max(np.abs(joined(chunks))) > 0.3


def test_chunks_join_as_if_made_in_one_call(piper: Tts) -> None:
    voice = piper._voice  # type: ignore[attr-defined]
    ids = next(piper._phonemizer.sentences(SENTENCES[2]))  # type: ignore[attr-defined]
    z_p, mask = voice.encode(ids, np.array([0.667, 1.0, 0.8], np.float32))
    whole = voice.decode_whole(z_p, mask)
    parts = list(voice.decode(z_p, mask))
    assert len(parts) > 3
    assert np.max(np.abs(np.concatenate(parts) - whole)) <= 1e-4


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "...",
        "?!",
        "\0",
        "a\0b",
        "\u202ehello\u202c",
        "hello \ud800 there \udfff",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea 1\ufe0f\u20e3 \u2b50 \u2764\ufe0f",
        "naïve café, Zürich — “quoted”…",
        "½ cup at 25°C costs $3.50 (or €4) & more; 50% off <b>now</b>",
        "C:\\path\\to\\file https://example.org/a?b=c#d me@example.org",
        "1234567890123456789012345678901234567890",
        "你好，世界",
        "Привет мир",
        "ＦＵＬＬ ｗｉｄｔｈ",
        "a" * 500,
        "<speak><break time='1s'/></speak>",
    ],
)
async def test_no_text_upsets_the_voice(piper: Tts, text: str) -> None:
    chunks = await speak(piper, text)
    assert all(np.isfinite(chunk.samples).all() for chunk in chunks)
    assert len(await speak(piper, "Still here.")) > 0


async def test_ten_thousand_characters_begin_as_soon_as_a_few(piper: Tts) -> None:
    async with aclosing(piper.synthesize("word and another word " * 450)) as chunks:  # type: ignore[type-var]
        first = await anext(chunks)
    assert first.duration_ms == pytest.approx(232, abs=2)


@pytest.mark.parametrize(
    ("text", "can"),
    [
        ("Hello", True),
        ("25", True),
        ("你好", False),
        ("你好 ok", True),
        ("👍", False),
        ("...", False),
        ("", False),
        ("é", True),
    ],
)
def test_an_english_voice_knows_what_it_can_speak(piper: Tts, text: str, can: bool) -> None:
    assert piper.can_speak(text) is can


async def test_closing_the_iterator_stops_before_the_next_chunk(piper: Tts) -> None:
    asked: list[int] = []

    def priority() -> Priority:
        asked.append(1)
        return Priority.FIRST_CHUNK

    chunks = piper.synthesize(SENTENCES[2], priority=priority)
    await anext(chunks)
    await chunks.aclose()  # type: ignore[attr-defined]
    assert len(asked) == 1


async def test_cancelling_a_synthesis_leaves_the_voice_usable(piper: Tts) -> None:
    task = asyncio.ensure_future(speak(piper, SENTENCES[2]))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await speak(piper, "Still here.")


async def test_two_sentences_at_once_share_the_thread(piper: Tts) -> None:
    a, b = await asyncio.gather(speak(piper, SENTENCES[0]), speak(piper, SENTENCES[1]))
    assert joined(a).size > 20_000
    assert joined(b).size > 20_000


def copied_voice(folder: Path) -> Path:
    source = PIPER_JOE.folder()
    assert source is not None
    for file in PIPER_JOE.files:
        shutil.copy(source / file.path, folder)
    return folder / Path(PIPER_JOE.files[0].path).name


def test_parts_are_kept_and_damaged_ones_made_anew(tmp_path: Path) -> None:
    need("onnxruntime", "onnx", "gruut")
    need_model(PIPER_JOE)
    from vanling.engines.piper.engine import build

    told: list[str] = []
    context = BuildContext(tmp_path, told.append)
    build(PiperOptions(), context).close()
    assert any("preparing" in line for line in told)
    told.clear()
    build(PiperOptions(), context).close()
    assert told == []
    (vocoder,) = tmp_path.glob("prepared/piper-*/vocoder.onnx")
    vocoder.write_bytes(b"damaged")
    build(PiperOptions(), context).close()
    assert any("preparing" in line for line in told)
    assert not list(tmp_path.glob("prepared/*.partial"))


@pytest.mark.parametrize("obstacle", ["no onnx", "unlike graph"])
async def test_a_voice_that_cannot_be_cut_speaks_whole_sentences(
    obstacle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    need("onnxruntime", "onnx", "gruut")
    need_model(PIPER_JOE)
    from vanling.engines.piper import graph
    from vanling.engines.piper.engine import build

    if obstacle == "no onnx":
        monkeypatch.delitem(sys.modules, "vanling.engines.piper.graph")
        monkeypatch.setitem(sys.modules, "onnx", None)
    else:
        monkeypatch.setattr(graph._Graph, "_noisy_means", lambda _self: iter(()))
    with caplog.at_level(logging.WARNING):
        tts = build(PiperOptions(), BuildContext(tmp_path))
    assert "whole sentences only" in caplog.text
    chunks = await speak(tts, SENTENCES[0])
    tts.close()
    assert len(chunks) == 1


def test_speakers_are_checked(tmp_path: Path) -> None:
    need("onnxruntime", "onnx", "gruut")
    need_model(PIPER_JOE)
    from vanling.engines.piper.engine import build

    with pytest.raises(ConfigError, match=r"tts\.speaker=nobody"):
        build(PiperOptions(speaker="nobody"), BuildContext(tmp_path))


@pytest.mark.parametrize("fault", ["no file", "no config", "bad config"])
def test_a_broken_voice_is_explained(fault: str, tmp_path: Path) -> None:
    need("onnxruntime", "onnx", "gruut")
    need_model(PIPER_JOE)
    from vanling.engines.piper.engine import build

    model = tmp_path / "voice.onnx"
    if fault != "no file":
        model.write_bytes(b"")
    if fault == "bad config":
        model.with_name("voice.onnx.json").write_text(json.dumps({"audio": {}}))
    with pytest.raises(EngineUnavailableError, match=r"voice\.onnx"):
        build(PiperOptions(voice=model), BuildContext(tmp_path))


@pytest.mark.parametrize(
    "text", ["9" * 200, "1234567890" * 27, "W" * 270, "$999,999,999,999 " * 16, "W.W.W. " * 38, "word " * 56]
)
def test_no_text_makes_one_synthesis_long(text: str, tmp_path: Path) -> None:
    """A few hundred characters may stand for thousands of sounds, which would take gigabytes and hold everyone up."""
    need_model(PIPER_JOE)
    config = read_voice_config(PIPER_JOE.require(BuildContext(tmp_path))[0])
    per_symbol = 2 * max(len(ids) for ids in config.phoneme_ids.values())
    parts = list(Phonemizer(config.locale, config.phoneme_ids).sentences(text))
    assert parts
    assert max(map(len, parts)) <= LONGEST * per_symbol + 8
