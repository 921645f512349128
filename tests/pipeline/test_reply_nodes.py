"""ling, tts and encode: from an act to packets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.engines import HANG, FakeLlm, FakeTts, Held
from tests.fakes.virtual import run_virtual, virtual
from tests.pipeline.bench import Bench, Inline, Mark, reply, stream_of, through
from vanling.contracts.audio import AudioSpec
from vanling.contracts.engines import Pcm, Priority
from vanling.core.opus import Decoder
from vanling.dialogue.conversation import Conversation
from vanling.dialogue.ling import EndOfReply, EndStatus, Ling, UserSaid
from vanling.errors import EngineError
from vanling.pipeline.events import (
    AudioOut,
    Event,
    Milestone,
    Progress,
    ReplyEnd,
    SentenceBegin,
    SentenceDone,
    SpeechPiece,
    TextChunk,
    TurnComplete,
)
from vanling.pipeline.nodes.encode import EncodeTemplate
from vanling.pipeline.nodes.ling import LingTemplate
from vanling.pipeline.nodes.tts import TtsSettings, TtsTemplate

DONE = ReplyEnd(EndOfReply(EndStatus.DONE))
SORRY = ("Sorry.", (Pcm(np.full(1_600, 0.25, np.float32), 16_000),))


def names(events: list[Event]) -> list[str]:
    """Kinds of events, pieces of speech once a run."""
    kinds: list[str] = []
    for event in events:
        name = type(event).__name__
        if name != "SpeechPiece" or kinds[-1:] != ["SpeechPiece"]:
            kinds.append(name)
    return kinds


# --- ling -------------------------------------------------------------------------------------------------------------


@virtual
async def test_an_act_becomes_sentences_and_an_end() -> None:
    ling = Ling(FakeLlm(["It is noon. Eat something."]), Conversation("k"), system_prompt="", language="en")
    events = await through(LingTemplate(ling), [Mark("a"), TurnComplete(UserSaid("hi")), Mark("b")], Bench())
    assert names(events) == ["Mark", "Progress", "Progress", "TextChunk", "TextChunk", "ReplyEnd", "Mark"]
    assert [event.what for event in events if isinstance(event, Progress)] == [
        Milestone.LLM_FIRST,
        Milestone.SENTENCE_FIRST,
    ]
    assert [event.text for event in events if isinstance(event, TextChunk)] == ["It is noon.", "Eat something."]


@virtual
async def test_milestones_say_how_long_the_model_was_busy() -> None:
    gates = [asyncio.Event(), asyncio.Event()]
    bench = Bench()
    llm = FakeLlm([[Held(gates[0], "It is"), Held(gates[1], " noon. Eat.")]])
    ling = Ling(llm, Conversation("k"), system_prompt="", language="en")
    task = asyncio.create_task(through(LingTemplate(ling), [TurnComplete(UserSaid("hi"))], bench))
    for gate in gates:
        await bench.settle()
        bench.clock.advance_ms(30)
        gate.set()
    progress = [event for event in await task if isinstance(event, Progress)]
    assert [event.busy_ms for event in progress] == [30, 60]


# --- tts --------------------------------------------------------------------------------------------------------------


def chunks(*texts: str) -> list[Event]:
    return [*(TextChunk(text) for text in texts), DONE]


@virtual
async def test_each_sentence_is_begun_spoken_and_done() -> None:
    tts = FakeTts()
    events = await through(TtsTemplate(tts, TtsSettings()), [Mark(), *chunks("One.", "Two.")], Bench())
    sentence = ["SpeechPiece", "SentenceDone"]
    assert names(events) == ["Mark", "SentenceBegin", "Progress", *sentence, "SentenceBegin", *sentence, "ReplyEnd"]
    assert tts.finished == ["One.", "Two."]
    assert [event.failure for event in events if isinstance(event, SentenceDone)] == ["", ""]


@virtual
async def test_the_voice_gets_the_spoken_form_and_the_door_the_written_one() -> None:
    tts = FakeTts()
    ling = Ling(FakeLlm(["It costs $5. Good."]), Conversation("k"), system_prompt="", language="en")
    sentences = [
        e
        for e in await through(LingTemplate(ling), [TurnComplete(UserSaid("hi"))], Bench())
        if isinstance(e, TextChunk)
    ]
    events = await through(TtsTemplate(tts, TtsSettings()), [*sentences, DONE], Bench())
    assert tts.finished == ["It costs 5 dollars.", "Good."]
    shown = ["It costs $5.", "Good."]
    assert [event.text for event in events if isinstance(event, SentenceBegin)] == shown
    assert [event.text for event in events if isinstance(event, SentenceDone)] == shown


@virtual
async def test_the_emotion_travels_with_its_sentence() -> None:
    events = await through(TtsTemplate(FakeTts(), TtsSettings()), [TextChunk("Hi.", "happy")], Bench())
    assert events[0] == SentenceBegin("Hi.", "happy")


@virtual
async def test_what_a_voice_cannot_speak_is_shown_only() -> None:
    tts = FakeTts()
    events = await through(
        TtsTemplate(tts, TtsSettings(apology=SORRY)), chunks("你好。", "你好。", "你好。", "Hi."), Bench()
    )
    assert tts.spoken == ["Hi."]
    assert [event.text for event in events if isinstance(event, SentenceDone)] == ["你好。", "你好。", "你好。", "Hi."]
    assert events[-1] == DONE


@pytest.mark.parametrize("step", [EngineError("x"), RuntimeError("x"), HANG])
@pytest.mark.parametrize("after", [0, 3])
def test_a_sentence_that_fails_is_done_with_its_failure(step: Any, after: int) -> None:
    async def main() -> None:
        tts = FakeTts({"Two.": [None] * after + [step]}, ms_per_character=200)
        config = TtsSettings(first_chunk_ms=200, next_chunk_ms=200)
        events = await through(TtsTemplate(tts, config), chunks("One.", "Two.", "Three."), Bench())
        failures = {event.text: event.failure for event in events if isinstance(event, SentenceDone)}
        assert list(failures) == ["One.", "Two.", "Three."]
        assert [bool(failure) for failure in failures.values()] == [False, True, False]
        assert tts.stopped == ["Two."]
        assert events[-1] == DONE

    run_virtual(main())


@pytest.mark.parametrize("apology", [SORRY, None])
def test_a_second_failure_in_a_row_ends_the_reply(apology: Any) -> None:
    async def main() -> None:
        tts = FakeTts({text: [EngineError("x")] for text in ("Two.", "Three.")})
        config = TtsSettings(apology=apology)
        events = await through(TtsTemplate(tts, config), chunks("One.", "Two.", "Three.", "Four."), Bench())
        begun = [event.text for event in events if isinstance(event, SentenceBegin)]
        assert begun == ["One.", "Two.", "Three.", *(["Sorry."] if apology else [])]
        assert isinstance(events[-1], ReplyEnd)
        assert events[-1].end.status is EndStatus.FAILED
        assert len([event for event in events if isinstance(event, ReplyEnd)]) == 1

    run_virtual(main())


@virtual
async def test_a_voice_without_a_sound_has_failed() -> None:
    events = await through(TtsTemplate(FakeTts(ms_per_character=0), TtsSettings()), chunks("One."), Bench())
    assert [bool(event.failure) for event in events if isinstance(event, SentenceDone)] == [True]


@pytest.mark.parametrize(
    ("backlog_ms", "later"), [(0, Priority.STARVING), (999, Priority.STARVING), (1_000, Priority.REST)]
)
def test_priorities(backlog_ms: float, later: Priority) -> None:
    async def main() -> None:
        tts = FakeTts()
        bench = Bench(backlog_ms=backlog_ms)
        await through(TtsTemplate(tts, TtsSettings()), chunks("Hello there."), bench)
        assert tts.priorities[0] is Priority.FIRST_CHUNK
        assert set(tts.priorities[1:]) == {later}

    run_virtual(main())


@virtual
async def test_closing_in_mid_sentence_stops_the_voice() -> None:
    tts = FakeTts({"One.": [None, HANG]})
    async with aclosing(stream_of([TextChunk("One.")])) as upstream:
        node = TtsTemplate(tts, TtsSettings()).new_instance(Bench().context)
        async with aclosing(node.stream(upstream)) as stream:  # type: ignore[type-var]
            async for event in stream:
                if isinstance(event, SpeechPiece):
                    break
    assert tts.stopped == ["One."]


# --- encode -----------------------------------------------------------------------------------------------------------


def tone(n_samples: int, rate: int) -> np.ndarray:
    return (0.4 * np.sin(2 * np.pi * 440 * np.arange(n_samples) / rate)).astype(np.float32)


def decoded(events: list[Event], spec: AudioSpec) -> np.ndarray:
    decoder = Decoder(spec.rate)
    frames = [decoder.decode(packet) for event in events if isinstance(event, AudioOut) for packet in event.packets]
    return np.concatenate(frames) if frames else np.zeros(0, np.int16)


def cut(samples: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(samples[at : at + size])
        at += size
    return [*pieces, samples[at:]]


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([16_000, 22_050, 24_000, 48_000]),
    st.sampled_from([AudioSpec(), AudioSpec(rate=16_000, frame_ms=20)]),
    st.integers(1, 30_000),
    st.lists(st.integers(0, 5_000), max_size=6),
)
def test_every_sample_of_a_sentence_gets_out(rate: int, spec: AudioSpec, n_samples: int, sizes: list[int]) -> None:
    async def main() -> None:
        samples = tone(n_samples, rate)
        pieces = [SpeechPiece(Pcm(piece, rate)) for piece in cut(samples, sizes)]
        events = await through(EncodeTemplate(spec, Inline()), [*pieces, SentenceDone("x")], Bench())
        duration_ms = 1_000 * n_samples / rate
        heard = decoded(events, spec)
        assert isinstance(events[-1], SentenceDone), "after its last packet"
        assert duration_ms - 0.1 <= 1_000 * len(heard) / spec.rate < duration_ms + spec.frame_ms + 0.1
        whole = [SpeechPiece(Pcm(samples, rate)), SentenceDone("x")]
        assert np.array_equal(heard, decoded(await through(EncodeTemplate(spec, Inline()), whole, Bench()), spec))

    run_virtual(main())


@virtual
async def test_it_sounds_from_the_first_to_the_last() -> None:
    spec = AudioSpec()
    events = await through(
        EncodeTemplate(spec, Inline()), [SpeechPiece(Pcm(tone(22_050, 22_050), 22_050)), SentenceDone("x")], Bench()
    )
    heard = np.abs(decoded(events, spec).astype(np.float64))
    for start_ms, end_ms in [(10, 60), (500, 550), (930, 985)]:
        assert heard[24 * start_ms : 24 * end_ms].max() > 5_000


@virtual
async def test_sentences_are_flushed_one_by_one() -> None:
    spec = AudioSpec()
    sentence = [SpeechPiece(Pcm(tone(1_600, 16_000), 16_000)), SentenceDone("x")]
    events = await through(EncodeTemplate(spec, Inline()), [*sentence, *sentence, DONE], Bench())
    kinds = [type(event).__name__ for event in events]
    assert kinds == ["AudioOut", "AudioOut", "SentenceDone"] * 2 + ["ReplyEnd"]
    assert {event.duration_ms for event in events if isinstance(event, AudioOut)} == {60}


@virtual
async def test_a_voice_may_change_its_rate_within_a_sentence() -> None:
    spec = AudioSpec()
    pieces = [SpeechPiece(Pcm(tone(rate // 2, rate), rate)) for rate in (16_000, 22_050, 16_000)]
    heard = decoded(await through(EncodeTemplate(spec, Inline()), [*pieces, SentenceDone("x")], Bench()), spec)
    assert len(heard) == 24 * 1_500


@virtual
async def test_a_sentence_without_audio_gives_no_packet() -> None:
    events = await through(
        EncodeTemplate(AudioSpec(), Inline()), [SentenceBegin("x", "neutral"), SentenceDone("x")], Bench()
    )
    assert names(events) == ["SentenceBegin", "SentenceDone"]


@virtual
async def test_a_long_piece_is_encoded_in_short_jobs_and_in_order() -> None:
    offload = Inline()
    await through(
        EncodeTemplate(AudioSpec(), offload),
        [SpeechPiece(Pcm(tone(160_000, 16_000), 16_000)), SentenceDone("x")],
        Bench(backlog_ms=5_000),
    )
    assert len(offload.priorities) >= 20
    assert offload.priorities[0] is Priority.FIRST_CHUNK
    assert offload.priorities[-1] is Priority.REST


@pytest.mark.parametrize("make", [lambda: EncodeTemplate(AudioSpec(rate=16_000), Inline())])
def test_encode_brings_the_audio_spec(make: Callable[[], EncodeTemplate]) -> None:
    assert list(make().capabilities()) == [AudioSpec(rate=16_000)]


# --- all three --------------------------------------------------------------------------------------------------------


@virtual
async def test_a_whole_reply() -> None:
    ling = Ling(FakeLlm(["It is noon. Eat something."]), Conversation("k"), system_prompt="", language="en")
    tts = FakeTts()
    spec = AudioSpec()
    templates = [LingTemplate(ling), TtsTemplate(tts, TtsSettings()), EncodeTemplate(spec, Inline())]
    events = await reply(templates, TurnComplete(UserSaid("hi")), Bench())
    assert [event.text for event in events if isinstance(event, SentenceDone)] == ["It is noon.", "Eat something."]
    assert events[-1] == DONE
    spoken_ms = sum(map(tts.duration_ms, tts.finished))
    assert spoken_ms <= len(decoded(events, spec)) / 24 <= spoken_ms + 120
