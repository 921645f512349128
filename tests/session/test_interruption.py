"""Being interrupted, as a device hears it: coughs, pauses, echoes, guesses, in virtual time (CONVERSATION §3)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.fakes.engines import HANG, FakeAsr, FakeLlm, FakeTts, Held
from tests.fakes.virtual import run_virtual, virtual
from tests.session.rig import QUIET, Rig, packets
from vanling.contracts.engines import Message, Priority, Role
from vanling.dialogue.phrases import Phrase, phrase
from vanling.errors import EngineError
from vanling.pipeline.nodes.asr import AsrSettings
from vanling.session.frame import (
    Audio,
    Close,
    ErrorCode,
    Heard,
    ListenMode,
    Opus,
    ReplyStatus,
    Say,
    SayAnswer,
    Sentence,
    TtsStart,
    TtsStop,
)
from vanling.session.settings import HoldSettings

SORRY = phrase(Phrase.FAILURE, "en")
AUTO, REALTIME, MANUAL = ListenMode.AUTO, ListenMode.REALTIME, ListenMode.MANUAL
HANDS_FREE = [AUTO, REALTIME]
STORY = "Once upon a time there was a king. He had a daughter. She had a ball. It fell into a well."
SENTENCES = ["Once upon a time there was a king.", "He had a daughter.", "She had a ball.", "It fell into a well."]


async def opened(rig: Rig, mode: ListenMode = AUTO) -> Rig:
    rig.hello()
    rig.start(mode)
    return rig


class Stream:
    """A client whose microphone never closes: silence, but for what is said."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.sound: list[bytes] = []
        self._silence = packets(60, 0.0)[0]
        self._voice = packets(60, 0.5)[0]
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(0.06)
            self.rig.feed(Opus(packet=self.sound.pop(0) if self.sound else self._silence))

    async def say(self, ms: float, then_ms: float = 0.0) -> None:
        """Voice for so long, then wait while silence streams."""
        self.sound += [self._voice] * round(ms / 60)
        await asyncio.sleep((ms + then_ms) / 1000)

    async def close(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        await self.rig.close()
        assert self.rig.witness.starts == self.rig.witness.stops


def counts(rig: Rig) -> dict[str, float]:
    counts = rig.session._machine.counts
    return {"held": counts.held, "resumed": counts.resumed, "merged": counts.merged, "echoes": counts.echoes,
            "speculations": counts.speculations, "dropped": counts.dropped}  # fmt: skip


# --- a cough (P13) ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", HANDS_FREE)
@pytest.mark.parametrize("ms", [60, 120, 240])
def test_a_cough_while_thinking_costs_nothing(mode: ListenMode, ms: float) -> None:
    async def main() -> None:
        gate = asyncio.Event()
        rig = await opened(Rig(asr=FakeAsr(otherwise=""), llm=FakeLlm([[Held(gate, "It is noon.")]])), mode)
        stream = Stream(rig)
        rig.text("what time is it")
        await asyncio.sleep(0.3)
        await stream.say(ms, then_ms=100)
        gate.set()
        await asyncio.sleep(0.2)
        assert not rig.all(Audio) or ms == 60, "it waits for what that was"
        assert (await rig.done()).status is ReplyStatus.COMPLETED
        assert rig.sentences == ["It is noon."]
        assert rig.heard == ["what time is it"]
        assert rig.all(TtsStart)[1:] == [], "nothing had been started"
        await stream.close()

    run_virtual(main())


@pytest.mark.parametrize("ms", [120, 300])
def test_a_cough_while_speaking_in_auto_is_not_noticed(ms: float) -> None:
    async def main() -> None:
        rig = await opened(Rig(asr=FakeAsr(otherwise=""), llm=FakeLlm([STORY])))
        stream = Stream(rig)
        rig.text("a story")
        await rig.until(Audio, 20)
        await stream.say(ms)
        await rig.done()
        assert rig.sentences == SENTENCES
        assert len(rig.all(TtsStart)) == 1
        assert counts(rig)["held"] == 0
        await stream.close()

    run_virtual(main())


@virtual
async def test_a_cough_while_speaking_in_realtime_pauses_and_goes_on_with_its_sentence() -> None:
    rig = await opened(Rig(asr=FakeAsr(otherwise=""), llm=FakeLlm([STORY])), REALTIME)
    stream = Stream(rig)
    rig.text("a story")
    await rig.until(Sentence, 2)
    await asyncio.sleep(0.2)
    await stream.say(240, then_ms=60)
    assert isinstance(rig.messages[-1], TtsStop)
    frames = len(rig.all(Audio))
    await asyncio.sleep(0.3)
    assert len(rig.all(Audio)) == frames, "shut is shut"
    assert (await rig.done()).text == STORY
    assert rig.sentences == [SENTENCES[0], SENTENCES[1], *SENTENCES[1:]], "the held sentence begins anew"
    assert len(rig.all(TtsStart)) == len(rig.all(TtsStop)) == 2
    assert rig.heard == ["a story"]
    assert rig.conversation.messages()[-1] == Message(Role.ASSISTANT, STORY)
    assert counts(rig) | {"speculations": 0, "dropped": 0} == {
        "held": 1, "resumed": 1, "merged": 0, "echoes": 0, "speculations": 0, "dropped": 0,
    }  # fmt: skip
    await stream.close()


@virtual
async def test_a_long_noise_lets_the_reply_go_on_after_three_seconds() -> None:
    """A vacuum cleaner: voice for the detector, no word for the recogniser."""
    rig = Rig(asr=FakeAsr(otherwise=""), llm=FakeLlm([STORY]), asr_settings=AsrSettings())
    stream = Stream(await opened(rig, REALTIME))
    rig.text("a story")
    await rig.until(Audio, 20)
    noise = asyncio.create_task(stream.say(12_000))
    await rig.until(TtsStop)
    held_ms = rig.now_ms
    await rig.until(TtsStart, 2)
    assert 2_500 <= rig.now_ms - held_ms <= 4_200
    assert (await rig.done()).status is ReplyStatus.COMPLETED
    assert len(rig.all(TtsStart)) == 2, "that noise holds no more"
    await noise
    await stream.close()


@virtual
async def test_words_that_stay_away_are_waited_for_two_seconds() -> None:
    rig = Rig(asr=FakeAsr(otherwise=HANG), llm=FakeLlm([STORY]))
    stream = Stream(await opened(rig, REALTIME))
    rig.text("a story")
    await rig.until(Audio, 20)
    await stream.say(600)
    spoken_ms = rig.now_ms
    await rig.until(TtsStart, 2)
    assert 2_300 <= rig.now_ms - spoken_ms <= 2_500, "300 ms to the falling edge and 2 s"
    assert (await rig.done()).status is ReplyStatus.COMPLETED
    assert rig.errors == []
    await stream.close()


# --- a real interruption ----------------------------------------------------------------------------------------------


@virtual
async def test_a_real_interruption_stops_within_a_frame_and_never_comes_back() -> None:
    rig = Rig(asr=FakeAsr(["what about the weather"]), llm=FakeLlm([STORY]))
    stream = Stream(await opened(rig, REALTIME))
    rig.text("a story")
    await rig.until(Audio, 20)
    began_ms = rig.now_ms
    await stream.say(900)
    [stop] = [at for at, message in zip(rig.times, rig.messages, strict=True) if isinstance(message, TtsStop)]
    assert stop - began_ms <= 120 + 60 + 60 + 5, "120 ms to be speech, what a packet holds, and a frame"
    await rig.done(2)
    assert rig.statuses == [ReplyStatus.INTERRUPTED, ReplyStatus.COMPLETED]
    assert rig.heard == ["a story", "what about the weather"]
    assert not any("daughter" in text for text in rig.sentences)
    assert [message.text for message in rig.conversation.messages()] == [
        "a story",
        SENTENCES[0],
        "what about the weather",
        "You said: what about the weather",
    ]
    await stream.close()


@pytest.mark.parametrize("mode", HANDS_FREE)
def test_without_the_hold_voice_interrupts_in_realtime_only(mode: ListenMode) -> None:
    async def main() -> None:
        settings = replace(QUIET, hold=HoldSettings(hold=False))
        rig = Rig(asr=FakeAsr(otherwise=""), llm=FakeLlm([STORY]), settings=settings)
        stream = Stream(await opened(rig, mode))
        rig.text("a story")
        await rig.until(Audio, 20)
        await stream.say(600, then_ms=1_000)
        await rig.done()
        assert rig.statuses == [ReplyStatus.INTERRUPTED if mode is REALTIME else ReplyStatus.COMPLETED]
        await stream.close()

    run_virtual(main())


# --- one sentence in pieces (P10) -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", HANDS_FREE)
@pytest.mark.parametrize("pause_ms", [600, 900])
def test_a_pause_in_a_sentence_makes_one_turn(mode: ListenMode, pause_ms: float) -> None:
    async def main() -> None:
        asr = FakeAsr(["my name is John", "Doe", "my name is John Doe"])
        gate = asyncio.Event()
        rig = Rig(asr=asr, llm=FakeLlm([[Held(gate, "Hello John.")]], otherwise="Hello {said}."))
        if mode is REALTIME:
            rig.llm.answers.append("unused")
        stream = Stream(await opened(rig, mode))
        await stream.say(900, then_ms=pause_ms)
        await stream.say(600)
        gate.set()
        await rig.done(2)
        assert rig.heard == ["my name is John", "my name is John Doe"]
        assert rig.statuses == [ReplyStatus.INTERRUPTED, ReplyStatus.COMPLETED]
        assert len(rig.sentences) == 1, "nothing of the first answer was heard"
        assert asr.calls[-1][1] >= 900 + pause_ms + 600, "the audio of both is recognised together"
        assert [m.text for m in rig.conversation.messages() if m.role is Role.USER] == ["my name is John Doe"]
        assert rig.llm.asked[-1][-1].text == "my name is John Doe"
        assert counts(rig)["merged"] == 1
        await stream.close()

    run_virtual(main())


@pytest.mark.parametrize("step", ["", EngineError("broken"), HANG])
def test_where_the_two_cannot_be_recognised_together_their_words_are_joined(step: object) -> None:
    async def main() -> None:
        gate = asyncio.Event()
        asr = FakeAsr(["my name is John", "Doe", step])  # type: ignore[list-item]
        rig = Rig(asr=asr, llm=FakeLlm([[Held(gate, "x")]]), asr_settings=AsrSettings(partials_ms=0, timeout_ms=700))
        stream = Stream(await opened(rig))
        await stream.say(900, then_ms=660)
        await stream.say(600)
        await rig.done(2)
        assert rig.heard[-1] == "my name is John Doe"
        assert rig.errors == []
        await stream.close()

    run_virtual(main())


@virtual
async def test_after_the_first_frame_a_second_piece_is_a_turn_of_its_own() -> None:
    rig = Rig(asr=FakeAsr(["my name is John", "no wait"]), llm=FakeLlm(["Hello John, it is nice to meet you."]))
    stream = Stream(await opened(rig, REALTIME))
    await stream.say(900)
    await rig.until(Audio, 8)
    await stream.say(600)
    await rig.done(2)
    assert rig.heard == ["my name is John", "no wait"]
    assert rig.statuses == [ReplyStatus.INTERRUPTED, ReplyStatus.COMPLETED]
    assert counts(rig)["merged"] == 0
    await stream.close()


@pytest.mark.parametrize("second", ["Doe", ""])
def test_speech_between_the_end_of_a_turn_and_its_outcome(second: str) -> None:
    async def main() -> None:
        gate = asyncio.Event()
        rig = Rig(asr=FakeAsr([Held(gate, "my name is John"), second, "my name is John Doe"]))
        stream = Stream(await opened(rig))
        await stream.say(900, then_ms=600)  # the turn is over
        await stream.say(300)
        gate.set()
        await asyncio.sleep(0.05)
        assert rig.heard == ["my name is John"]
        await asyncio.sleep(0.3)
        assert rig.all(TtsStart) == [], "the reply waits"
        if second:
            await rig.done(2)
            assert rig.heard[-1] == "my name is John Doe"
        else:
            await rig.done(1)
            assert rig.sentences == ["You said: my name is John"]
        await stream.close()

    run_virtual(main())


@virtual
async def test_three_pieces_make_one_turn() -> None:
    gate = asyncio.Event()
    asr = FakeAsr(["one", "two", "one two", "three", "one two three"])
    rig = Rig(asr=asr, llm=FakeLlm(otherwise=[Held(gate, "{said}.")]))
    stream = Stream(await opened(rig))
    for _ in range(3):
        await stream.say(600, then_ms=700)
    gate.set()
    await rig.done(3)
    assert rig.heard == ["one", "one two", "one two three"]
    assert rig.sentences == ["one two three."]
    assert [m.text for m in rig.conversation.messages()] == ["one two three", "one two three."]
    await stream.close()


# --- our own words (P12) ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", HANDS_FREE)
def test_our_own_reply_fed_back_is_no_turn(mode: ListenMode) -> None:
    """The microphone hears the loudspeaker, and the recogniser recognises it well."""

    async def main() -> None:
        rig = Rig(asr=FakeAsr(otherwise="once upon a time there was a king he had a daughter"), llm=FakeLlm([STORY]))
        stream = Stream(await opened(rig, mode))
        rig.text("a story")
        await rig.until(Sentence, 3)
        await stream.say(1_500)
        last = await rig.done()
        assert last.status is ReplyStatus.COMPLETED
        await stream.say(300)  # its tail, after the end
        await asyncio.sleep(5)
        assert rig.heard == ["a story"]
        assert len(rig.llm.asked) == 1
        assert counts(rig)["echoes"] >= 1
        await stream.close()

    run_virtual(main())


# --- guesses (rule 3.1) -----------------------------------------------------------------------------------------------


@virtual
async def test_a_guess_that_was_right_speaks_as_soon_as_the_turn_is_confirmed() -> None:
    asked: list[float] = []

    class Slow(FakeLlm):
        async def stream(self, *args: object, **kwargs: object):  # type: ignore[no-untyped-def, override]
            asked.append(rig.now_ms)
            await asyncio.sleep(0.15)
            async for delta in super().stream(*args, **kwargs):  # type: ignore[arg-type]
                yield delta

    rig = Rig(asr=FakeAsr(["what time is it"]), llm=Slow(["It is noon."]))
    stream = Stream(await opened(rig, REALTIME))
    await stream.say(900)
    heard = await rig.until(Heard)
    confirmed_ms = rig.now_ms
    assert heard
    [began_ms] = asked
    assert confirmed_ms - began_ms == pytest.approx(200, abs=70), "from the falling edge on"
    await rig.until(Audio)
    assert rig.now_ms - confirmed_ms == pytest.approx(100, abs=20), "the start gap alone"
    await rig.done()
    assert len(rig.llm.asked) == 1
    assert [m.text for m in rig.conversation.messages()] == ["what time is it", "It is noon."]
    [times] = rig.turns
    assert times.thought_ahead
    own = times.own_ms()
    assert own is not None
    assert -1 <= own <= 20
    assert rig.session._machine.counts.saved_ms == pytest.approx(200, abs=70)
    assert isinstance(rig.tts, FakeTts)
    assert rig.tts.priorities[0] is Priority.SPECULATION
    await stream.close()


@virtual
async def test_nothing_of_a_guess_is_told_before_it_is_confirmed() -> None:
    rig = Rig(asr=FakeAsr(["what time", "what time is it"]), llm=FakeLlm(["Guess one.", "Guess two."]))
    stream = Stream(await opened(rig, REALTIME))
    await stream.say(600, then_ms=420)
    assert len(rig.llm.asked) == 1, "it is being thought"
    assert rig.names() == ["HelloReply"]
    assert rig.conversation.messages() == [], "nor is it stored"
    await stream.say(600)
    await rig.done()
    assert rig.heard == ["what time is it"]
    assert rig.sentences == ["Guess two."]
    assert [m.text for m in rig.conversation.messages()] == ["what time is it", "Guess two."]
    assert counts(rig)["dropped"] == 1
    await stream.close()


@virtual
async def test_a_dropped_guess_stops_its_engines() -> None:
    rig = Rig(asr=FakeAsr(["what", ""]), llm=FakeLlm([["Well, ", HANG]]))
    stream = Stream(await opened(rig, REALTIME))
    await stream.say(600, then_ms=420)
    await stream.say(300, then_ms=60)
    assert rig.llm.stopped == 1
    await stream.close()


@virtual
async def test_a_guess_that_differs_from_the_words_is_not_spoken() -> None:
    """The press of a stop key: the recogniser is asked again, and hears more."""
    rig = Rig(asr=FakeAsr(["what time", "what time is it in Rome"]), llm=FakeLlm(["Noon.", "One."]))
    rig.hello()
    rig.start(REALTIME)
    await rig.voice(600)
    await rig.silence(360)
    await rig.voice(60)  # a last short syllable, then nothing more
    rig.stop()
    await rig.done()
    assert rig.heard == ["what time is it in Rome"]
    assert rig.sentences == ["One."]
    await rig.close()


@pytest.mark.parametrize("step", [EngineError("no model"), RuntimeError("x")])
def test_a_guess_whose_model_fails_is_told_once_it_is_confirmed(step: Exception) -> None:
    async def main() -> None:
        rig = Rig(asr=FakeAsr(["what time is it"]), llm=FakeLlm([[step]]))
        stream = Stream(await opened(rig, REALTIME))
        await stream.say(600, then_ms=420)
        assert len(rig.llm.asked) == 1
        assert rig.errors == []
        assert (await rig.done()).status is ReplyStatus.FAILED
        assert [error.code for error in rig.errors] == [ErrorCode.LLM_FAILED]
        assert rig.sentences == [SORRY]
        await stream.close()

    run_virtual(main())


@virtual
async def test_a_dropped_guess_whose_model_failed_tells_nothing() -> None:
    rig = Rig(asr=FakeAsr(["what", "what time is it"]), llm=FakeLlm([[EngineError("no model")], "It is noon."]))
    stream = Stream(await opened(rig, REALTIME))
    await stream.say(600, then_ms=420)
    await stream.say(600)
    await rig.done()
    assert rig.errors == []
    assert rig.sentences == ["It is noon."]
    await stream.close()


@virtual
async def test_a_long_guess_waits_with_its_voice_until_it_is_adopted() -> None:
    """The gate bounds what is made ahead; opening it sets the voice going again."""
    answer = " ".join(f"This is sentence number {n} of many." for n in range(10, 22))
    rig = Rig(asr=FakeAsr(["go on"]), llm=FakeLlm([answer]))
    stream = Stream(await opened(rig, REALTIME))
    await stream.say(600)
    assert (await rig.done()).text == answer
    await stream.close()


@virtual
async def test_in_auto_only_recognition_runs_ahead() -> None:
    rig = Rig(asr=FakeAsr(["what time is it"]))
    stream = Stream(await opened(rig, AUTO))
    await stream.say(600, then_ms=420)
    assert len(rig.asr.calls) == 1
    assert not rig.llm.asked
    await rig.done()
    assert len(rig.asr.calls) == 1
    await stream.close()


# --- a held reply -----------------------------------------------------------------------------------------------------


@virtual
async def test_a_hold_with_a_slow_model() -> None:
    """Nothing is there to be held yet; the voice has come and gone when the first word comes."""
    gate = asyncio.Event()
    rig = Rig(asr=FakeAsr(otherwise=""), llm=FakeLlm([[Held(gate, "It is noon.")]]))
    stream = Stream(await opened(rig))
    rig.text("what time is it")
    await stream.say(300, then_ms=2_000)
    assert rig.all(TtsStart) == []
    gate.set()
    await rig.done()
    assert rig.sentences == ["It is noon."]
    assert len(rig.all(TtsStart)) == 1
    await stream.close()


@virtual
async def test_a_hold_when_the_start_is_already_out() -> None:
    """Rule 3.2: the stop goes out at once, and the reply begins under a new start."""
    tts_gate = asyncio.Event()
    rig = Rig(
        asr=FakeAsr(otherwise=""), llm=FakeLlm(["It is noon."]), tts=FakeTts({"It is noon.": [Held(tts_gate, None)]})
    )
    stream = Stream(await opened(rig))
    rig.text("what time is it")
    await rig.until(TtsStart)
    await stream.say(240, then_ms=30)
    assert rig.names() == ["HelloReply", "Heard", "TtsStart", "TtsStop"]
    tts_gate.set()
    rig.start(AUTO)  # the device says it by itself
    await rig.done()
    assert rig.names()[4:] == ["TtsStart", "Emotion", "Sentence", "Audio", "SentenceEnd", "TtsStop", "ReplyDone"]
    assert rig.statuses == [ReplyStatus.COMPLETED]
    epochs = [message.epoch for message in rig.all(TtsStart)]
    assert epochs == sorted(set(epochs))
    await stream.close()


@virtual
async def test_two_holds_of_one_reply() -> None:
    rig = Rig(asr=FakeAsr(otherwise=""), llm=FakeLlm([STORY]))
    stream = Stream(await opened(rig, REALTIME))
    rig.text("a story")
    for n in (1, 2):
        await rig.until(TtsStart, n)
        await asyncio.sleep(1.2)
        await stream.say(240)
    assert (await rig.done()).text == STORY
    assert len(rig.all(TtsStart)) == 3
    assert counts(rig)["resumed"] == 2
    await stream.close()


async def a_held_reply() -> tuple[Rig, Stream]:
    rig = Rig(asr=FakeAsr(otherwise=HANG), llm=FakeLlm([STORY]))
    stream = Stream(await opened(rig, REALTIME))
    rig.text("a story")
    await rig.until(Audio, 20)
    await stream.say(300, then_ms=60)
    assert counts(rig)["held"] == 1
    return rig, stream


@pytest.mark.parametrize("by", ["close", "frame"])
def test_disconnect_while_held(by: str) -> None:
    async def main() -> None:
        rig, stream = await a_held_reply()
        if by == "frame":
            rig.feed(Close())
        stream.task.cancel()
        await rig.close()
        assert len(rig.closed) == 1

    run_virtual(main())


@virtual
async def test_disconnect_while_a_guess_is_thought() -> None:
    rig = Rig(asr=FakeAsr(["what time is it"]), llm=FakeLlm([["Well, ", HANG]]))
    stream = Stream(await opened(rig, REALTIME))
    await stream.say(600, then_ms=420)
    assert len(rig.llm.asked) == 1
    await stream.close()
    assert rig.llm.stopped == 1


@virtual
async def test_abort_while_held() -> None:
    rig, stream = await a_held_reply()
    rig.abort()
    assert rig.statuses == [ReplyStatus.INTERRUPTED]
    assert isinstance(rig.messages[-1], TtsStop)
    await asyncio.sleep(4)
    assert len(rig.all(TtsStart)) == 1, "it stays stopped"
    await stream.close()


@virtual
async def test_a_press_while_held() -> None:
    rig, stream = await a_held_reply()
    stream.task.cancel()
    rig.asr.otherwise = "lights on"
    rig.start(MANUAL)
    assert rig.statuses == [ReplyStatus.INTERRUPTED]
    await rig.voice(600)
    rig.stop()
    await rig.done(2)
    assert rig.heard == ["a story", "lights on"]
    await stream.close()


@virtual
async def test_text_while_held() -> None:
    rig, stream = await a_held_reply()
    rig.asr.otherwise = ""
    rig.text("typed")
    await rig.done(2)
    assert rig.heard == ["a story", "typed"]
    assert rig.statuses == [ReplyStatus.INTERRUPTED, ReplyStatus.COMPLETED]
    await stream.close()


@virtual
async def test_frames_leave_in_their_order_though_the_first_sentence_is_told_to_the_hearing_half() -> None:
    """What goes back into the session while a message is handed over must not overtake the frames behind it."""
    rig = Rig(llm=FakeLlm(["A sentence of several frames."]))
    await opened(rig)
    packets_made: list[bytes] = []
    encode = rig.encoder.run

    async def run(priority: object, function: object, *args: object) -> object:
        made = await encode(priority, function, *args)  # type: ignore[arg-type]
        packets_made.extend(made if isinstance(made, list) else [])
        return made

    rig.encoder.run = run  # type: ignore[assignment, method-assign]
    rig.text("hi")
    await rig.done()
    assert [message.packet for message in rig.all(Audio) if isinstance(message, Audio)] == packets_made
    await rig.close()


# --- announcements (rule 5.6) -----------------------------------------------------------------------------------------


@virtual
async def test_an_announcement_is_spoken_and_is_no_part_of_the_conversation() -> None:
    rig = await opened(Rig())
    rig.feed(Say(text="The tea is ready. It is hot.", ref="timer-1"))
    await rig.done()
    [answer] = rig.all(SayAnswer)
    assert isinstance(answer, SayAnswer)
    assert (answer.queued, answer.ref) == (False, "timer-1")
    assert rig.sentences == ["The tea is ready.", "It is hot."]
    assert rig.conversation.messages() == []
    assert rig.heard == []
    await rig.close()


@virtual
async def test_an_announcement_behind_a_reply() -> None:
    rig = await opened(Rig(llm=FakeLlm([STORY])))
    rig.text("a story")
    await rig.until(Audio, 5)
    rig.feed(Say(text="The tea is ready."))
    await rig.done(2)
    assert rig.sentences == [*SENTENCES, "The tea is ready."]
    assert rig.statuses == [ReplyStatus.COMPLETED] * 2
    await rig.close()


@virtual
async def test_an_announcement_before_hello_comes_after_it() -> None:
    rig = Rig()
    rig.feed(Say(text="The tea is ready."))
    await asyncio.sleep(10)
    assert rig.sentences == []
    rig.hello()
    began_ms = rig.now_ms
    await rig.until(TtsStart)
    assert rig.now_ms - began_ms == pytest.approx(2_000, abs=5)
    await rig.done()
    await rig.close()


# --- the end, anywhere ------------------------------------------------------------------------------------------------


def test_a_session_can_end_at_any_moment_of_guesses_and_holds() -> None:
    """``run_virtual`` looks for tasks that are left and for errors that nobody retrieved."""

    async def main(at_ms: float, by: str) -> bool:
        asr = FakeAsr(["what time", "what time is it", "", "stop it", "what time is it"])
        rig = Rig(asr=asr, llm=FakeLlm([STORY, STORY, STORY]))
        stream = Stream(await opened(rig, REALTIME))

        async def talk() -> None:
            await stream.say(600, then_ms=360)  # a guess
            await stream.say(300, then_ms=1_200)  # dropped, and another that is adopted
            await stream.say(240, then_ms=1_500)  # a cough: held, and going on
            await stream.say(480, then_ms=1_500)  # an interruption

        talking = asyncio.create_task(talk())
        done, _ = await asyncio.wait([talking], timeout=at_ms / 1000)
        talking.cancel()
        if by == "abort":
            rig.abort()
            await asyncio.sleep(1)
        stream.task.cancel()
        await asyncio.gather(talking, stream.task, return_exceptions=True)
        await rig.close()
        return bool(done)

    for by in ("close", "abort"):
        at_ms = 0.0
        while not run_virtual(main(at_ms, by)):
            at_ms += 97.0
        assert at_ms > 5_000
