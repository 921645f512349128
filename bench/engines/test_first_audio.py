"""From the end of an utterance to the first audio of the reply, beside the stock stack on the same models."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

import pytest

from bench.engines.conftest import Run, Stock
from bench.ratio import SMOKE, interleaved, report
from tests.engines.speech import Recording
from vanling.contracts.engines import Asr, Message, Pcm, Role, Tts
from vanling.engines.echo import EchoLlm

BAR = 0.35
ROUNDS = 11
LONG = (
    "Tomorrow morning will be mostly sunny with a light breeze from the west, and in the afternoon there is a small"
    " chance of rain near the coast."
)
"""25 words."""


@pytest.fixture(scope="session")
def utterance(speech: list[Recording]) -> Recording:
    """The recording nearest to 3 s."""
    return min(speech, key=lambda each: abs(len(each.audio) - 48_000))


@pytest.fixture(scope="session")
def engines(whisper: Asr, piper: Tts) -> tuple[Asr, Tts]:
    return whisper, piper


async def first_chunk(tts: Tts, text: str) -> Pcm:
    async with aclosing(tts.synthesize(text)) as chunks:  # type: ignore[type-var]
        first: Pcm = await anext(chunks)
    return first


def test_recognition_and_first_chunk(  # type: ignore[no-untyped-def]
    benchmark, run: Run, engines: tuple[Asr, Tts], stock: Stock, utterance: Recording
) -> None:
    llm = EchoLlm()
    whisper, piper = engines

    async def turn() -> Pcm:
        stream = whisper.new()
        stream.feed(utterance.audio)
        heard = (await stream.hypothesis()).text
        reply = "".join([delta.text async for delta in llm.stream([Message(Role.USER, heard)])])
        return await first_chunk(piper, reply)

    def theirs() -> object:
        return stock.first_chunk(f"You said: {stock.hear(utterance.audio)}")

    def ours() -> object:
        return run(turn())

    benchmark.pedantic(ours, rounds=1 if SMOKE else 5)
    compare(benchmark, "first_audio", ours, theirs, BAR)


def test_first_chunk_of_a_long_sentence(benchmark, run: Run, piper: Tts, stock: Stock) -> None:  # type: ignore[no-untyped-def]
    def ours() -> object:
        return run(first_chunk(piper, LONG))

    def theirs() -> object:
        return stock.first_chunk(LONG)

    benchmark.pedantic(ours, rounds=1 if SMOKE else 5)
    compare(benchmark, "first_chunk_25_words", ours, theirs, BAR)


def compare(benchmark: object, name: str, ours: Callable[[], object], stock: Callable[[], object], bar: float) -> None:
    measured = interleaved(ours, stock, ROUNDS)
    report(benchmark, name, measured.value, bar, ours_ms=measured.ours_ns / 1e6, stock_ms=measured.peer_ns / 1e6)
