"""Whisper on recorded speech, on sound without words, and on more speech than one window holds."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools

import numpy as np
import pytest

from tests.engines.conftest import need
from tests.engines.speech import Recording, beckett, word_errors
from vanling.contracts.engines import MODEL_RATE, Asr, Outcome, Priority, Samples
from vanling.errors import EngineError

RNG = np.random.default_rng(7)


class FakeDecoder:
    """A multilingual model that hears "words" in everything."""

    multilingual = True

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.languages: list[str | None] = []

    def decode(self, audio: Samples, language: str | None) -> object:
        from vanling.engines.whisper.decoder import Decoded

        self.lengths.append(len(audio))
        self.languages.append(language)
        return Decoded("words", 0.1, -0.2, False)

    def knows_language(self, language: str) -> bool:
        return language in ("en", "zh", "de")


async def transcribe(asr: Asr, audio: Samples) -> str:
    stream = asr.new()
    stream.feed(audio)
    return (await stream.hypothesis()).text


async def test_recorded_speech_is_understood(whisper: Asr, speech: list[Recording]) -> None:
    errors = [word_errors(each.text, await transcribe(whisper, each.audio)) for each in speech]
    assert sum(wrong for wrong, _ in errors) <= 0.05 * sum(said for _, said in errors)


async def test_short_repeating_phrases_are_no_loop(whisper: Asr) -> None:
    recording = beckett()
    if recording is None:
        pytest.skip("not installed: moonshine-voice")
    wrong, said = word_errors(recording.text, await transcribe(whisper, recording.audio))
    assert wrong <= 0.1 * said


@pytest.mark.parametrize(
    "sound",
    [
        pytest.param(np.zeros(32_000, np.float32), id="digital silence"),
        pytest.param(RNG.normal(0, 0.001, 32_000).astype(np.float32), id="a quiet room"),
        pytest.param(RNG.normal(0, 0.05, 48_000).astype(np.float32), id="noise"),
        pytest.param(RNG.normal(0, 0.2, 16_000).astype(np.float32), id="loud noise"),
        pytest.param((0.1 * np.sin(2 * np.pi * 50 * np.arange(48_000) / 16_000)).astype(np.float32), id="hum"),
        pytest.param(np.eye(1, 16_000, 8_000, dtype=np.float32)[0], id="a click"),
        pytest.param(np.full(16_000, np.nan, np.float32), id="not a number"),
        pytest.param(np.full(500, 0.5, np.float32), id="a blip"),
    ],
)
async def test_sound_without_words_is_empty(whisper: Asr, sound: Samples) -> None:
    stream = whisper.new()
    stream.feed(sound)
    result = await stream.hypothesis()
    assert (result.outcome, result.text) == (Outcome.EMPTY, "")


async def test_no_audio_is_nothing(whisper: Asr) -> None:
    assert (await whisper.new().hypothesis()).outcome is Outcome.NOTHING


async def test_a_hypothesis_can_be_repeated_and_grows_with_the_audio(whisper: Asr, speech: list[Recording]) -> None:
    first, second = speech[1], speech[4]
    stream = whisper.new()
    stream.feed(first.audio)
    before = await stream.hypothesis(Priority.SPECULATION)
    assert await stream.hypothesis() == before
    stream.feed(np.zeros(MODEL_RATE // 2, np.float32))
    stream.feed(second.audio)
    after = await stream.hypothesis()
    assert after.audio_ms == pytest.approx(before.audio_ms + 500 + len(second.audio) / 16)
    wrong, said = word_errors(f"{first.text} {second.text}", after.text)
    assert wrong <= 0.15 * said


async def test_fed_audio_may_be_overwritten_by_the_caller(whisper: Asr, speech: list[Recording]) -> None:
    buffer = speech[1].audio.copy()
    stream = whisper.new()
    stream.feed(buffer)
    buffer[:] = 0
    assert word_errors(speech[1].text, (await stream.hypothesis()).text)[0] <= 1


async def test_speech_longer_than_the_window_is_cut_and_joined(whisper: Asr, speech: list[Recording]) -> None:
    pause = np.zeros(MODEL_RATE // 2, np.float32)
    said = [*speech, *speech]
    audio = np.concatenate(list(itertools.chain.from_iterable((each.audio, pause) for each in said)))
    assert len(audio) > 45 * MODEL_RATE
    heard = await transcribe(whisper, audio)
    wrong, total = word_errors(" ".join(each.text for each in said), heard)
    assert wrong <= 0.08 * total


async def test_a_finished_piece_is_not_recognised_again(speech: list[Recording]) -> None:
    need("ctranslate2")
    from vanling.engines.whisper.engine import WhisperAsr
    from vanling.engines.workers import Workers

    decoder = FakeDecoder()
    asr = WhisperAsr(decoder, Workers("asr", 1))  # type: ignore[arg-type]
    stream = asr.new()
    for each in (*speech, *speech[:2]):
        stream.feed(each.audio)
    assert (await stream.hypothesis()).text == "words words"
    stream.feed(speech[0].audio)
    await stream.hypothesis()
    asr.close()
    first, rest, longer = decoder.lengths
    assert longer == rest + len(speech[0].audio)
    assert first + rest == sum(len(each.audio) for each in (*speech, *speech[:2]))


async def test_cancelling_a_hypothesis_leaves_the_stream_usable(whisper: Asr, speech: list[Recording]) -> None:
    stream = whisper.new()
    stream.feed(speech[1].audio)
    task = asyncio.ensure_future(stream.hypothesis())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert word_errors(speech[1].text, (await stream.hypothesis()).text)[0] <= 1


async def test_streams_in_parallel_do_not_mix(whisper: Asr, speech: list[Recording]) -> None:
    texts = await asyncio.gather(*(transcribe(whisper, each.audio) for each in speech))
    for each, text in zip(speech, texts, strict=True):
        wrong, said = word_errors(each.text, text)
        assert wrong <= max(1, 0.1 * said)


def test_an_english_model_says_so(whisper: Asr) -> None:
    assert whisper.languages == ("en",)


@pytest.mark.parametrize(
    ("asked", "configured", "used"),
    [
        (None, None, None),
        ("zh-CN", None, "zh"),
        ("DE_de", "en", "de"),
        ("xx", None, None),
        ("xx", "en", "en"),
        ("", "en", "en"),
    ],
)
async def test_an_unknown_language_is_found_out(asked: str | None, configured: str | None, used: str | None) -> None:
    need("ctranslate2")
    from vanling.engines.whisper.engine import WhisperAsr
    from vanling.engines.workers import Workers

    decoder = FakeDecoder()
    asr = WhisperAsr(decoder, Workers("asr", 1), configured)  # type: ignore[arg-type]
    stream = asr.new(asked)
    stream.feed(np.full(16_000, 0.1, np.float32))
    await stream.hypothesis()
    asr.close()
    assert decoder.languages == [used]
    assert asr.languages == ("*",)


async def test_pieces_of_chinese_are_joined_without_a_space() -> None:
    need("ctranslate2")
    from vanling.engines.whisper.engine import WhisperAsr
    from vanling.engines.workers import Workers

    class Chinese(FakeDecoder):
        def decode(self, audio: Samples, language: str | None) -> object:
            return dataclasses.replace(super().decode(audio, language), text="你好。")  # type: ignore[type-var]

    asr = WhisperAsr(Chinese(), Workers("asr", 1))  # type: ignore[arg-type]
    stream = asr.new()
    stream.feed(np.full(40 * MODEL_RATE, 0.1, np.float32))
    assert (await stream.hypothesis()).text == "你好。你好。"
    asr.close()


async def test_a_failing_model_is_an_engine_error() -> None:
    need("ctranslate2")
    from vanling.engines.whisper.engine import WhisperAsr
    from vanling.engines.workers import Workers

    class Broken(FakeDecoder):
        def decode(self, audio: Samples, language: str | None) -> object:
            raise RuntimeError("out of memory")

    asr = WhisperAsr(Broken(), Workers("asr", 1))  # type: ignore[arg-type]
    stream = asr.new()
    stream.feed(np.full(16_000, 0.1, np.float32))
    with pytest.raises(EngineError, match="out of memory"):
        await stream.hypothesis()
    asr.close()
