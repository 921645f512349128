"""Ling: whatever the model does, its stream ends with one end of reply, and a failure is said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.engines import HANG, FakeLlm, Held
from tests.fakes.virtual import run_virtual, virtual
from vanling.contracts.engines import Delta, LlmOptions, Message, Role
from vanling.dialogue.conversation import Conversation
from vanling.dialogue.empty_input import EmptyKind
from vanling.dialogue.ling import (
    Act,
    EmptyTurn,
    EndOfReply,
    EndStatus,
    Failure,
    FirstToken,
    Ling,
    LingItem,
    LingLimits,
    Say,
    UserSaid,
    Utterance,
)
from vanling.dialogue.phrases import Phrase, empty_prompt, phrase
from vanling.errors import EngineError

LIMITS = LingLimits(first_event_ms=1_000, next_event_ms=300)
SORRY = phrase(Phrase.FAILURE, "en")


def ling(llm: Any, conversation: Conversation | None = None, *, system: str = "", language: str = "en") -> Ling:
    return Ling(llm, conversation or Conversation("k"), system_prompt=system, language=language, limits=LIMITS)


async def ask(brain: Ling, act: Act | str = "hi") -> list[LingItem]:
    async with aclosing(brain.reply(UserSaid(act) if isinstance(act, str) else act)) as reply:
        return [item async for item in reply]


def said(items: Sequence[LingItem]) -> list[str]:
    return [item.text for item in items if isinstance(item, Utterance)]


@virtual
async def test_sentences_then_done() -> None:
    items = await ask(ling(FakeLlm(["It is noon. Time to eat."])))
    assert items == [
        FirstToken(),
        Utterance("It is noon."),
        Utterance("Time to eat."),
        EndOfReply(EndStatus.DONE),
    ]


@virtual
async def test_sentences_come_while_the_model_goes_on() -> None:
    gate = asyncio.Event()
    got: list[str] = []

    async def read() -> None:
        async with aclosing(
            ling(FakeLlm([["It is noon. T", Held(gate, "ime to eat.")]])).reply(UserSaid("hi"))
        ) as reply:
            async for item in reply:
                if isinstance(item, Utterance):
                    got.append(item.text)

    task = asyncio.create_task(read())
    for _ in range(20):
        await asyncio.sleep(0)
    assert got == ["It is noon."]
    gate.set()
    await task
    assert got == ["It is noon.", "Time to eat."]


@virtual
async def test_figures_are_shown_as_written_and_spoken_in_words() -> None:
    items = await ask(ling(FakeLlm(["It is -1.2 °C. Good."])))
    assert [item for item in items if isinstance(item, Utterance)] == [
        Utterance("It is -1.2 °C.", spoken="It is minus 1.2 degrees Celsius."),
        Utterance("Good."),
    ]


@virtual
async def test_a_huge_piece_of_text_lets_others_go_on() -> None:
    ticks = 0

    async def other() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    await ask(ling(FakeLlm([["word " * 10_000]])))
    task.cancel()
    assert ticks > 100


@virtual
async def test_markup_is_neither_shown_nor_spoken() -> None:
    text = '<think>so</think>**Well**, it `is`. <tool_call>{"name": "x"}</tool_call>'
    assert said(await ask(ling(FakeLlm([list(text)])))) == ["Well, it is."]


@virtual
async def test_emotions_are_taken_off_and_an_all_tag_sentence_is_not_said() -> None:
    items = await ask(ling(FakeLlm([["[happy] Hello", " there. ", "[emotion:sad]"]])))
    assert [item for item in items if isinstance(item, Utterance)] == [Utterance("Hello there.", "happy")]


@pytest.mark.parametrize("step", [EngineError("x"), RuntimeError("x"), TimeoutError("x"), HANG])
@pytest.mark.parametrize(
    ("before", "spoken"),
    [([], []), (["Some words"], ["Some words"]), (["It is noon. And"], ["It is noon.", "And"])],
)
def test_a_model_that_fails_is_excused(step: Any, before: list[str], spoken: list[str]) -> None:
    async def main() -> None:
        llm = FakeLlm([[*before, step]])
        items = await ask(ling(llm))
        assert said(items) == [*spoken, SORRY]
        assert isinstance(items[-1], EndOfReply)
        assert (items[-1].status, items[-1].failure) == (EndStatus.FAILED, Failure.LLM_FAILED)
        assert items[-1].detail
        assert sum(isinstance(item, EndOfReply) for item in items) == 1
        assert llm.stopped == 1

    run_virtual(main())


@pytest.mark.parametrize(("before", "limit_ms"), [([], 1_000), (["Well "], 300)])
def test_the_two_limits_of_a_model(before: list[str], limit_ms: float) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        start = loop.time()
        items = await ask(ling(FakeLlm([[*before, HANG]])))
        assert (loop.time() - start) * 1_000 == pytest.approx(limit_ms, abs=5)
        assert isinstance(items[-1], EndOfReply)
        assert items[-1].status is EndStatus.FAILED

    run_virtual(main())


@virtual
async def test_a_model_that_is_slow_within_its_limits_is_waited_for() -> None:
    class Slow(FakeLlm):
        async def stream(self, messages: Sequence[Message], options: LlmOptions = LlmOptions()) -> AsyncIterator[Delta]:  # noqa: B008
            await asyncio.sleep(0.9)
            for word in ["It", "is", "a", "very", "long", "way", "to", "go."]:
                yield Delta(word + " ")
                await asyncio.sleep(0.29)

    assert said(await ask(ling(Slow()))) == ["It is a very long way to go."]


@pytest.mark.parametrize(
    "answer",
    [["😀"], ["<think>x</think>"], ["**"], [], [""], ["", " "], ["\n", "\n\n"], ["[happy]"], ["[emotion:happy] "]],
)
def test_a_model_that_says_nothing_is_excused(answer: list[str]) -> None:
    async def main() -> None:
        items = await ask(ling(FakeLlm([answer])))
        assert said(items) == [SORRY]
        assert isinstance(items[-1], EndOfReply)
        assert (items[-1].status, items[-1].failure) == (EndStatus.FAILED, Failure.LLM_EMPTY)

    run_virtual(main())


@virtual
async def test_closing_stops_the_model_at_once() -> None:
    llm = FakeLlm([["One. Two. ", HANG]])
    async with aclosing(ling(llm).reply(UserSaid("hi"))) as reply:
        await anext(reply)
    assert llm.stopped == 1


@virtual
async def test_cancelling_is_no_failure() -> None:
    llm = FakeLlm([["Some words", HANG]])
    task = asyncio.create_task(ask(ling(llm)))
    for _ in range(10):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    assert llm.stopped == 1


# --- history ----------------------------------------------------------------------------------------------------------


@virtual
async def test_the_model_sees_the_system_prompt_and_the_history() -> None:
    conversation = Conversation("k")
    llm = FakeLlm()
    brain = ling(llm, conversation, system="Be kind.")
    await ask(brain, "one")
    assert conversation.messages() == [], "an answer may be a guess that is dropped: to store it is the session's"
    conversation.user_said("one")
    conversation.assistant_said("first answer")
    await ask(brain, "two")
    assert llm.asked[1] == (
        Message(Role.SYSTEM, "Be kind."),
        Message(Role.USER, "one"),
        Message(Role.ASSISTANT, "first answer"),
        Message(Role.USER, "two"),
    )


@virtual
async def test_no_system_prompt_where_there_is_none() -> None:
    llm = FakeLlm()
    await ask(ling(llm))
    assert llm.asked == [(Message(Role.USER, "hi"),)]


@pytest.mark.parametrize(
    "act", [EmptyTurn(EmptyKind.MANUAL, 1), EmptyTurn(EmptyKind.AUTO_SPOKE, 3), Say(Phrase.GREETING)]
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_our_own_sentences_neither_ask_the_model_nor_enter_its_history(act: Act, language: str) -> None:
    async def main() -> None:
        llm, conversation = FakeLlm(), Conversation("k")
        items = await ask(ling(llm, conversation, language=language), act)
        expected = (
            empty_prompt(act.kind, act.grade, language)
            if isinstance(act, EmptyTurn)
            else phrase(Phrase.GREETING, language)
        )
        assert items == [Utterance(expected), EndOfReply(EndStatus.DONE)]
        assert llm.asked == []
        assert conversation.messages() == []

    run_virtual(main())


@virtual
async def test_a_continuing_turn_is_silent() -> None:
    assert await ask(ling(FakeLlm()), EmptyTurn(EmptyKind.CONTINUING, 1)) == [EndOfReply(EndStatus.DONE)]


# --- any model --------------------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.one_of(
        st.sampled_from(["Hello there. ", "你好。", " ", "", "[happy]", "and so", "\n\n", "It is 3.5. "]),
        st.text(max_size=5),
        st.just(EngineError("x")),
        st.just(HANG),
    ),
    max_size=12,
)


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_any_model_ends_in_one_end_after_something_was_said(steps: list[Any]) -> None:
    async def main() -> None:
        items = await ask(ling(FakeLlm([steps])))
        assert isinstance(items[-1], EndOfReply)
        assert sum(isinstance(item, EndOfReply) for item in items) == 1
        assert said(items), "a turn is never answered by silence"
        assert all(text.strip() for text in said(items))
        failed = items[-1].status is EndStatus.FAILED
        assert (said(items)[-1] == SORRY) is failed

    run_virtual(main())
