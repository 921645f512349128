"""Sessions as their doors see them: packets and frames in, messages out, on scripted engines, in virtual time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import numpy as np
import pytest

from tests.fakes.engines import HANG, FakeAsr, FakeLlm, FakeTts, FakeVad, Held
from tests.fakes.virtual import run_virtual, virtual
from tests.session.rig import VOICE, Rig
from vanling.contracts.engines import Message, Outcome, Priority, Role
from vanling.dialogue.ling import LingLimits
from vanling.dialogue.phrases import Phrase, phrase
from vanling.errors import EngineError
from vanling.pipeline.nodes.asr import AsrSettings
from vanling.pipeline.nodes.tts import TtsSettings
from vanling.session.frame import (
    Audio,
    Close,
    Error,
    ErrorCode,
    Heard,
    HelloReply,
    ListenMode,
    Opus,
    ReplyDone,
    ReplyStatus,
    Sentence,
    TtsStart,
    TtsStop,
)
from vanling.session.machine import SessionSettings

SORRY = phrase(Phrase.FAILURE, "en")
AUTO, REALTIME, MANUAL = ListenMode.AUTO, ListenMode.REALTIME, ListenMode.MANUAL


async def opened(rig: Rig, mode: ListenMode | None = AUTO) -> Rig:
    rig.hello()
    if mode is not None:
        rig.start(mode)
    return rig


async def still_answers(rig: Rig, said: str = "are you there") -> None:
    """The next turn works, whatever became of the last."""
    done = len(rig.all(ReplyDone))
    stopped = rig.names().count("TtsStop")
    rig.asr.script.clear()
    rig.llm.answers.clear()
    rig.llm.otherwise = "Yes {said}. I am."
    rig.text(said)
    last = await rig.done(done + 1)
    assert last.status is ReplyStatus.COMPLETED
    assert rig.heard[-1] == said
    assert rig.sentences[-2:] == [f"Yes {said}.", "I am."]
    assert rig.names().count("TtsStop") == stopped + 1


# --- a conversation ---------------------------------------------------------------------------------------------------


@virtual
async def test_a_spoken_turn_is_heard_and_answered() -> None:
    rig = await opened(Rig(asr=FakeAsr(["what time is it"]), llm=FakeLlm(["It is noon. Time for lunch."])))
    await rig.utter()
    await rig.done()
    assert rig.names() == [
        "HelloReply", "Heard", "TtsStart",
        "Emotion", "Sentence", "Audio", "SentenceEnd",
        "Emotion", "Sentence", "Audio", "SentenceEnd",
        "TtsStop", "ReplyDone",
    ]  # fmt: skip
    assert rig.heard == ["what time is it"]
    assert rig.sentences == ["It is noon.", "Time for lunch."]
    assert rig.statuses == [ReplyStatus.COMPLETED]
    assert rig.conversation.messages() == [
        Message(Role.USER, "what time is it"),
        Message(Role.ASSISTANT, "It is noon. Time for lunch."),
    ]
    assert isinstance(rig.tts, FakeTts)
    spoken_ms = sum(map(rig.tts.duration_ms, rig.sentences))
    assert spoken_ms <= rig.audio_ms() <= spoken_ms + 2 * 60
    await rig.close()


@virtual
async def test_turn_after_turn() -> None:
    rig = await opened(Rig(asr=FakeAsr(["one", "two", "three"])))
    for n in range(1, 4):
        await rig.utter()
        await rig.done(n)
        rig.start(AUTO)
    assert rig.heard == ["one", "two", "three"]
    assert rig.sentences == ["You said: one", "You said: two", "You said: three"]
    assert len(rig.llm.asked[-1]) == 5
    await rig.close()


@virtual
async def test_push_to_talk() -> None:
    rig = await opened(Rig(asr=FakeAsr(["lights on"])), None)
    rig.start(MANUAL)
    await rig.voice(900)
    rig.stop()
    await rig.done()
    assert rig.heard == ["lights on"]
    await rig.close()


@virtual
async def test_a_press_without_voice_is_prompted_once() -> None:
    rig = await opened(Rig(), None)
    for n in range(1, 4):
        rig.start(MANUAL)
        await rig.silence(300)
        rig.stop()
        await rig.done(n)
    assert rig.heard == []
    assert len(rig.sentences) == 3
    assert rig.asr.calls == [], "there was nothing to recognise"
    rig.text("hello")
    await rig.done(4)
    assert rig.heard == ["hello"]
    assert [message.role for message in rig.llm.asked[-1]][-1] is Role.USER
    await rig.close()


@virtual
async def test_typed_text_needs_no_audio() -> None:
    rig = await opened(Rig(), None)
    await still_answers(rig)
    await rig.close()


@virtual
async def test_a_text_only_session() -> None:
    rig = Rig(tts=None)
    rig.hello()
    assert isinstance(rig.messages[0], HelloReply)
    assert rig.messages[0].downlink is None
    await still_answers(rig)
    assert rig.all(Audio) == []
    await rig.close()


@virtual
async def test_one_breath_after_the_wake_word() -> None:
    """Nothing of what is said between wake and listen/start is lost, and it is not greeted."""
    rig = await opened(
        Rig(asr=FakeAsr(["lights on"]), settings=SessionSettings(no_activity_ms=None, wake_words=("Hi,Lexin",))), None
    )
    rig.wake()
    await rig.voice(480)
    rig.start(AUTO)
    await rig.utter(600)
    await rig.done()
    assert rig.heard == ["lights on"]
    assert len(rig.sentences) == 1
    assert rig.asr.streams[-1].audio.size >= 16 * 1_080 * 0.9
    await rig.close()


@virtual
async def test_a_client_that_stops_sending_in_mid_speech_is_answered() -> None:
    rig = await opened(Rig(asr=FakeAsr(["half a sen"])))
    await rig.voice(900)
    await rig.done()
    assert rig.heard == ["half a sen"]
    await rig.close()


@virtual
async def test_an_idle_session_says_so_and_ends() -> None:
    rig = await opened(Rig(settings=SessionSettings(no_activity_ms=30_000)))
    before = rig.now_ms
    await rig.silence(60_000)
    assert rig.closed == ["no_activity_timeout"]
    assert rig.times[-1] - before == pytest.approx(30_000, abs=100)
    await rig.close()


@virtual
async def test_a_hostile_client_raises_nothing() -> None:
    rig = Rig()
    rng = np.random.default_rng(1)
    rig.feed(Opus(packet=VOICE))
    rig.hello()
    rig.start(AUTO)
    for packet in (b"", b"\xff", b"\x00", rng.bytes(4_000), rng.bytes(1_000_000)):
        rig.feed(Opus(packet=packet))
    await rig.silence(3_000)
    await still_answers(rig)
    await rig.close()


# --- times ------------------------------------------------------------------------------------------------------------


@virtual
async def test_the_times_of_a_turn_are_the_audio_s_own() -> None:
    rig = await opened(Rig(asr=FakeAsr(["hi"])))
    await rig.utter()
    await rig.done()
    [times] = rig.turns
    latency = {name: ms for name, ms in times.latency_ms().items() if ms is not None}
    assert list(latency) == ["endpoint", "asr", "llm_first", "tts_first", "first_audio", "own"]
    # 500 ms of silence, counted in windows of 32 ms and packets of 60 ms
    assert 500 <= latency["endpoint"] <= 500 + 32 + 60
    stages = [latency[name] for name in ("endpoint", "asr", "llm_first", "tts_first", "first_audio")]
    assert stages == sorted(stages)
    assert latency["first_audio"] == pytest.approx(times.silence_ms + 100, abs=10)
    assert 0 <= latency["own"] <= 10
    await rig.close()


@virtual
async def test_engines_that_take_their_time_are_not_our_own_time() -> None:
    held = {name: asyncio.Event() for name in ("asr", "llm", "tts")}
    rig = await opened(
        Rig(
            asr=FakeAsr(otherwise=Held(held["asr"], "hi")),
            llm=FakeLlm([[Held(held["llm"], "Hello.")]]),
            tts=FakeTts({"Hello.": [Held(held["tts"], None)]}),
        )
    )
    await rig.utter()
    for event in held.values():
        await asyncio.sleep(0.7)
        event.set()
    await rig.done()
    [times] = rig.turns
    own = times.own_ms()
    assert own is not None
    assert 0 <= own <= 20
    assert times.llm_busy_ms == pytest.approx(700, abs=10)
    assert times.tts_busy_ms == pytest.approx(700, abs=10)
    await rig.close()


@virtual
async def test_every_turn_is_reported_once() -> None:
    rig = await opened(Rig(tts=FakeTts()))
    await still_answers(rig)
    assert len(rig.turns) == 1
    assert isinstance(rig.tts, FakeTts)
    rig.text("你好")
    rig.llm.answers.append("你好。")
    await rig.done(2)
    assert len(rig.turns) == 2
    assert rig.turns[1].first_audio_ns is None or rig.turns[1].own_ms() is not None
    await rig.close()


# --- interruption -----------------------------------------------------------------------------------------------------

STORY = "Once upon a time there was a king. He had a daughter. She had a ball. It fell into a well."


@virtual
async def test_abort_while_five_seconds_are_queued_lets_no_old_frame_out() -> None:
    """P17."""
    rig = await opened(Rig(llm=FakeLlm([STORY])), None)
    rig.text("a story")
    await rig.until(Audio, 10)
    frames = len(rig.all(Audio))
    rig.abort()
    assert isinstance(rig.messages[-1], ReplyDone)
    assert isinstance(rig.messages[-2], TtsStop)
    assert len(rig.all(Audio)) == frames
    await still_answers(rig)
    assert rig.statuses == [ReplyStatus.INTERRUPTED, ReplyStatus.COMPLETED]
    await rig.close()


@virtual
async def test_after_an_interruption_the_history_holds_what_was_heard() -> None:
    rig = await opened(Rig(llm=FakeLlm([STORY])), None)
    rig.text("a story")
    await rig.until(Sentence, 3)
    await asyncio.sleep(0.1)
    rig.abort()
    assert rig.conversation.messages() == [
        Message(Role.USER, "a story"),
        Message(Role.ASSISTANT, "Once upon a time there was a king. He had a daughter.", interrupted=True),
    ]
    await rig.close()


@virtual
async def test_abort_is_acted_on_though_the_client_does_not_read() -> None:
    """P18."""
    rig = await opened(Rig(llm=FakeLlm([STORY]), full_after=5), None)
    rig.text("a story")
    await rig.until(Audio, 5)
    await asyncio.sleep(3)
    assert len(rig.all(Audio)) == 5
    rig.abort()
    assert isinstance(rig.messages[-2], TtsStop)
    rig.drain()
    await asyncio.sleep(3)
    assert len(rig.all(Audio)) == 5
    await still_answers(rig)
    await rig.close()


@virtual
async def test_voice_interrupts_in_realtime() -> None:
    rig = await opened(Rig(asr=FakeAsr(["stop it"]), llm=FakeLlm([STORY])), REALTIME)
    rig.text("a story")
    await rig.until(Audio, 20)
    await rig.voice(300)
    assert isinstance(rig.messages[-1], TtsStop)
    frames = len(rig.all(Audio))
    await rig.voice(600)
    assert len(rig.all(Audio)) == frames
    assert rig.statuses == [], "held, for it may have been a cough"
    await rig.silence(660)
    await rig.done(2)
    assert rig.heard == ["a story", "stop it"]
    assert rig.statuses == [ReplyStatus.INTERRUPTED, ReplyStatus.COMPLETED]
    await rig.close()


@virtual
async def test_voice_does_not_interrupt_in_auto_but_words_do() -> None:
    rig = await opened(Rig(asr=FakeAsr(["stop it"]), llm=FakeLlm([STORY])))
    rig.text("a story")
    await rig.until(Audio, 20)
    await rig.voice(900)
    assert rig.statuses == []
    await rig.silence(660)
    await rig.done(2)
    assert rig.statuses == [ReplyStatus.INTERRUPTED, ReplyStatus.COMPLETED]
    assert rig.heard[-1] == "stop it"
    await rig.close()


@virtual
async def test_a_second_press_drops_what_is_still_being_recognised() -> None:
    gate = asyncio.Event()
    rig = await opened(Rig(asr=FakeAsr([Held(gate, "the first"), "the second"])), None)
    rig.start(MANUAL)
    await rig.voice(600)
    rig.stop()
    await asyncio.sleep(0.2)
    rig.start(MANUAL)
    await rig.voice(600)
    gate.set()
    await asyncio.sleep(0.1)
    rig.stop()
    await rig.done()
    assert rig.heard == ["the second"]
    await rig.close()


@virtual
async def test_text_right_after_a_stop_is_answered_second() -> None:
    """The last packet, the stop and the text come in one go; the audio is still with the detector."""
    rig = await opened(Rig(asr=FakeAsr(["spoken"])), None)
    rig.start(MANUAL)
    await rig.voice(600)
    rig.stop()
    rig.text("typed")
    await rig.done(2)
    assert rig.heard == ["spoken", "typed"]
    assert rig.sentences[-1] == "You said: typed"
    assert [message.text for message in rig.llm.asked[-1]] == ["spoken", "typed"]
    epochs = [message.epoch for message in rig.all(ReplyDone)]
    assert epochs == [1, 2]
    await rig.close()


# --- engines that fail ------------------------------------------------------------------------------------------------

FAILURES = {
    "raises": EngineError("no more memory"),
    "raises what it likes": RuntimeError("segfault nearly"),
    "hangs": HANG,
}


@pytest.mark.parametrize("step", FAILURES.values(), ids=FAILURES)
def test_a_recogniser_that_fails(step: object) -> None:
    async def main() -> None:
        rig = await opened(Rig(asr=FakeAsr(otherwise=step), asr_settings=AsrSettings(timeout_ms=500)))
        await rig.utter()
        await rig.done()
        assert [error.code for error in rig.errors] == [ErrorCode.ASR_FAILED]
        assert rig.sentences == [SORRY]
        assert rig.heard == []
        await still_answers(rig)
        await rig.close()

    run_virtual(main())


@pytest.mark.parametrize("step", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("before", [[], ["Well. ", "I "]], ids=["at once", "in mid-sentence"])
def test_a_model_that_fails(step: object, before: list[str]) -> None:
    async def main() -> None:
        rig = Rig(llm=FakeLlm([[*before, step]]), limits=LingLimits(first_event_ms=500, next_event_ms=400))
        await opened(rig, None)
        rig.text("hi")
        assert (await rig.done()).status is ReplyStatus.FAILED
        assert [error.code for error in rig.errors] == [ErrorCode.LLM_FAILED]
        assert rig.sentences == [*(["Well.", "I"] if before else []), SORRY]
        assert rig.llm.stopped == 1
        await still_answers(rig)
        await rig.close()

    run_virtual(main())


@pytest.mark.parametrize("answer", [[], [""], [" ", "\n"], ["[happy]"]])
def test_a_model_that_says_nothing(answer: list[str]) -> None:
    async def main() -> None:
        rig = await opened(Rig(llm=FakeLlm([answer])), None)
        rig.text("hi")
        assert (await rig.done()).status is ReplyStatus.FAILED
        assert [error.code for error in rig.errors] == [ErrorCode.LLM_EMPTY]
        assert rig.sentences == [SORRY]
        await still_answers(rig)
        await rig.close()

    run_virtual(main())


@pytest.mark.parametrize("step", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("chunks", [0, 2])
def test_a_sentence_that_fails_is_shown_and_skipped(step: object, chunks: int) -> None:
    async def main() -> None:
        tts = FakeTts({"Number two.": [None] * chunks + [step]}, ms_per_character=100)
        rig = Rig(
            llm=FakeLlm(["Number one. Number two. Number three."]),
            tts=tts,
            tts_settings=TtsSettings(first_chunk_ms=500, next_chunk_ms=500),
        )
        await opened(rig, None)
        rig.text("hi")
        await rig.done()
        assert rig.sentences == ["Number one.", "Number two.", "Number three."]
        assert tts.finished == ["Number one.", "Number three."]
        assert [error.code for error in rig.errors] == [ErrorCode.TTS_FAILED]
        await still_answers(rig)
        await rig.close()

    run_virtual(main())


@pytest.mark.parametrize("step", FAILURES.values(), ids=FAILURES)
def test_two_sentences_that_fail_end_with_the_apology(step: object) -> None:
    async def main() -> None:
        tts = FakeTts({"Number one.": [step], "Number two.": [step]})
        rig = Rig(llm=FakeLlm(["Number one. Number two. Number three. Number four."]), tts=tts)
        rig.tts_settings = TtsSettings(first_chunk_ms=500)
        await opened(rig, None)
        rig.text("hi")
        assert (await rig.done()).status is ReplyStatus.FAILED
        assert rig.sentences == ["Number one.", "Number two.", "Sorry."]
        assert rig.audio_ms() >= 1_000, "the apology comes from the cache"
        assert len(rig.errors) == 1
        await still_answers(rig)
        await rig.close()

    run_virtual(main())


@virtual
async def test_two_failures_with_a_good_sentence_between_do_not_end_the_reply() -> None:
    tts = FakeTts({"Number one.": [EngineError("x")], "Number three.": [EngineError("x")]})
    rig = await opened(Rig(llm=FakeLlm(["Number one. Number two. Number three. Number four."]), tts=tts), None)
    rig.text("hi")
    assert (await rig.done()).status is ReplyStatus.COMPLETED
    assert rig.sentences == ["Number one.", "Number two.", "Number three.", "Number four."]
    await rig.close()


@virtual
async def test_an_encoder_that_fails_closes_the_turn() -> None:
    """P15: start and stop balance also where a reply breaks off between a sentence's begin and its end."""
    rig = await opened(Rig(), None)
    rig.encoder.fail = EngineError("the workers were closed")
    rig.text("hi")
    assert (await rig.done()).status is ReplyStatus.FAILED
    assert [error.code for error in rig.errors] == [ErrorCode.INTERNAL]
    rig.encoder.fail = None
    await still_answers(rig)
    await rig.close()


@virtual
async def test_a_detector_that_fails_is_silence() -> None:
    rig = await opened(Rig(vad=FakeVad([0.9] * 10 + [EngineError("x")] * 20)))
    await rig.voice(960)
    await rig.done()
    await still_answers(rig)
    await rig.close()


@virtual
async def test_no_error_tells_a_client_what_only_the_log_should_know() -> None:
    rig = await opened(Rig(llm=FakeLlm([[RuntimeError("/home/me/secret.key")]])), None)
    rig.text("hi")
    await rig.done()
    assert all("secret" not in error.message for error in rig.errors)
    assert all("secret" not in text for text in rig.sentences)
    await rig.close()


def test_no_transcript_is_logged_at_info(caplog: pytest.LogCaptureFixture) -> None:
    """P43."""

    async def main() -> None:
        rig = await opened(Rig(asr=FakeAsr(["the word is swordfish"]), llm=FakeLlm(["Your word is swordfish."])))
        await rig.utter()
        await rig.done()
        await rig.close()

    with caplog.at_level(logging.INFO):
        run_virtual(main())
    assert caplog.records
    assert not [record for record in caplog.records if "swordfish" in str(record.__dict__)]
    assert all(getattr(record, "session_id", "s1") == "s1" for record in caplog.records)


# --- the end ----------------------------------------------------------------------------------------------------------

PLACES: dict[str, Callable[[Rig], object]] = {
    "listening": lambda rig: rig.voice(600),
    "guessing": lambda rig: rig.half_a_turn(),
    "recognising": lambda rig: rig.utter(),
    "thinking": lambda rig: rig.text("hi"),
    "speaking": lambda rig: rig.text("hi"),
}


def hung(place: str) -> Rig:
    match place:
        case "recognising" | "guessing":
            return Rig(asr=FakeAsr(otherwise=HANG))
        case "thinking":
            return Rig(llm=FakeLlm([["Well, ", HANG]]))
        case "speaking":
            return Rig(llm=FakeLlm([STORY]))
    return Rig()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("by", ["close", "frame", "both", "twice"])
def test_closing_anywhere_leaves_nothing(place: str, by: str) -> None:
    """P23. ``run_virtual`` looks for tasks that are left and for errors that nobody retrieved."""

    async def main() -> None:
        rig = await opened(hung(place))
        coroutine = PLACES[place](rig)
        if coroutine is not None:
            await coroutine  # type: ignore[misc]
        await asyncio.sleep(0.5)
        if place == "speaking":
            assert rig.all(Audio)
        if by in ("frame", "both"):
            rig.feed(Close())
        if by == "twice":
            await asyncio.gather(rig.session.close("gone"), rig.session.close("gone"))
        await rig.close()
        count = len(rig.messages)
        assert len(rig.closed) == 1
        rig.feed(Opus(packet=VOICE))
        rig.text("anyone?")
        await asyncio.sleep(60)
        assert len(rig.messages) == count, "a closed session is silent"

    run_virtual(main())


def test_a_reply_can_be_cancelled_at_every_await() -> None:
    """Abort after each single step of the loop: nothing leaks and the next turn works."""

    async def main(steps: int, mode: str) -> bool:
        rig = await opened(Rig(asr=FakeAsr(["hi"]), llm=FakeLlm(["One. Two."]), tts=FakeTts(ms_per_character=20)), None)
        if mode == "spoken":
            rig.start(MANUAL)
            rig.feed(Opus(packet=VOICE))
            rig.feed(Opus(packet=VOICE))
            rig.feed(Opus(packet=VOICE))
            rig.stop()
        else:
            rig.text("hi")
        for _ in range(steps):
            await step()
        finished = bool(rig.all(ReplyDone))
        if mode == "close":
            await rig.close()
            return finished
        rig.abort()
        before = len(rig.all(ReplyDone))
        if mode == "spoken" and not rig.heard:
            await rig.done(before + 1)  # the abort came before there was a reply
        await still_answers(rig)
        assert rig.witness.starts == rig.witness.stops
        await rig.close()
        return finished

    for mode in ("typed", "spoken", "close"):
        for steps in range(400):
            if run_virtual(main(steps, mode)):
                break
        else:
            pytest.fail("the reply never ended")
        assert steps > 20


async def step() -> None:
    """One turn of the event loop, or as much virtual time as it takes to bring one about."""
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.call_soon(loop.call_soon, done.set)
    await done.wait()
    if not loop._ready:  # type: ignore[attr-defined]
        await asyncio.sleep(0.02)


@virtual
async def test_a_task_that_will_not_die_does_not_hold_up_the_close() -> None:
    class Stubborn(FakeAsr):
        pass

    rig = await opened(Rig(asr=Stubborn(otherwise="hi")), None)

    async def stubborn() -> None:
        for _ in range(3):
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                continue

    rig.session._spawn(stubborn())
    await asyncio.sleep(0)
    before = rig.now_ms
    await rig.session.close("gone")
    assert rig.now_ms - before <= 5_001
    await asyncio.sleep(300)


# --- back pressure ----------------------------------------------------------------------------------------------------


@virtual
async def test_a_slow_client_pauses_the_voice_and_loses_nothing() -> None:
    answer = " ".join(f"This is sentence number {n} of many." for n in range(10, 22))
    rig = await opened(Rig(llm=FakeLlm([answer]), full_after=3), None)
    assert isinstance(rig.tts, FakeTts)
    rig.text("hi")
    await rig.until(Audio, 3)
    await asyncio.sleep(60)
    assert len(rig.all(Audio)) == 3
    assert len(rig.tts.spoken) <= 5, "4 s or 2 sentences ahead, and what is under way"
    rig.drain()
    await rig.done()
    assert rig.sentences == [f"This is sentence number {n} of many." for n in range(10, 22)]
    assert rig.audio_ms() >= sum(map(rig.tts.duration_ms, rig.sentences))
    await rig.close()


@virtual
async def test_the_voice_stays_at_most_four_seconds_ahead() -> None:
    rig = await opened(Rig(llm=FakeLlm([" ".join(["A sentence of some length, for a reply that is long."] * 8)])), None)
    assert isinstance(rig.tts, FakeTts)
    rig.text("hi")
    while not rig.all(ReplyDone):
        await asyncio.sleep(0.05)
        made_ms = len(rig.tts.priorities) * rig.tts.chunk_ms
        assert made_ms - rig.audio_ms() <= 4_000 + 1_000
    await rig.close()


@virtual
async def test_a_first_frame_that_cannot_be_written_waits_for_the_connection() -> None:
    rig = await opened(Rig(full_after=0), None)
    rig.text("hi")
    await asyncio.sleep(5)
    assert rig.all(Audio) == []
    rig.drain()
    await rig.done()
    assert rig.sentences == ["You said: hi"]
    await rig.close()


@virtual
async def test_one_frame_at_a_time_is_enough() -> None:
    rig = await opened(Rig(full_after=1), None)
    rig.text("hi")
    while not rig.all(ReplyDone):
        await asyncio.sleep(0.01)
        rig.drain(1)
    assert rig.audio_ms() >= 50 * len("You said: hi")
    await rig.close()


# --- order of work ----------------------------------------------------------------------------------------------------


@virtual
async def test_recognition_of_a_confirmed_turn_goes_before_guesses() -> None:
    rig = await opened(Rig(asr=FakeAsr(["a guess"])))
    await rig.utter()
    await rig.done()
    assert [priority for priority, _ in rig.asr.calls] == [Priority.SPECULATION], "the guess was enough"
    assert rig.heard == ["a guess"]
    await rig.close()


@virtual
async def test_a_pause_within_the_turn_is_no_end_of_it() -> None:
    rig = await opened(Rig(asr=FakeAsr(["my name is", "my name is John"])))
    await rig.voice(600)
    await rig.silence(360)
    await rig.utter(600)
    await rig.done()
    assert rig.heard == ["my name is John"]
    assert rig.statuses == [ReplyStatus.COMPLETED]
    await rig.close()


@virtual
async def test_errors_reach_only_their_own_session() -> None:
    good, bad = Rig(), Rig(llm=FakeLlm([[RuntimeError("x")]]))
    for rig in (good, bad):
        await opened(rig, None)
        rig.text("hi")
    await good.done()
    await bad.done()
    assert good.statuses == [ReplyStatus.COMPLETED]
    assert good.errors == []
    assert [type(message) for message in bad.errors] == [Error]
    assert [message.text for message in good.all(Heard) if isinstance(message, Heard)] == ["hi"]
    assert len(good.all(TtsStart)) == 1
    for rig in (good, bad):
        await rig.close()


@virtual
async def test_empty_outcomes_prompt_by_voice_and_never_enter_the_model() -> None:
    rig = await opened(Rig(asr=FakeAsr(otherwise="")))
    await rig.utter()
    await rig.done()
    assert rig.asr.calls
    assert Outcome.EMPTY.value == "empty"
    assert rig.heard == []
    assert rig.llm.asked == []
    assert len(rig.sentences) == 1
    await rig.close()
