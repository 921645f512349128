"""The language models: Echo, and a small GGUF."""

from __future__ import annotations

import pytest

from vanling.contracts.engines import Llm, LlmOptions, Message, Role
from vanling.engines.echo import EchoLlm
from vanling.engines.options import GgufOptions


async def answer(llm: Llm, *messages: Message, options: LlmOptions | None = None) -> str:
    return "".join([delta.text async for delta in llm.stream(messages, options or LlmOptions())])


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("hello there", "You said: hello there."),
        ("Turn it off!", "You said: Turn it off!"),
        ("你好", "你说：你好。"),
        ("打开 WiFi。", "你说：打开 WiFi。"),
        ("  padded  ", "You said: padded."),
        ("", ""),
    ],
)
async def test_echo_says_what_it_heard(said: str, reply: str) -> None:
    history = (Message(Role.SYSTEM, "be kind"), Message(Role.USER, "earlier"), Message(Role.ASSISTANT, "yes"))
    assert await answer(EchoLlm(), *history, Message(Role.USER, said)) == reply


async def test_echo_with_nobody_to_answer_is_silent() -> None:
    assert await answer(EchoLlm()) == ""
    assert EchoLlm.pure


async def test_gguf_answers_word_by_word(gguf: Llm) -> None:
    deltas = [delta.text async for delta in gguf.stream([Message(Role.USER, "Say hello to my friend Tom.")])]
    assert len(deltas) > 2
    assert "".join(deltas).strip()
    assert gguf.pure


async def test_gguf_keeps_to_the_tokens_it_was_given(gguf: Llm) -> None:
    deltas = [
        delta.text
        async for delta in gguf.stream([Message(Role.USER, "Tell me a long story.")], LlmOptions(max_tokens=5))
    ]
    assert 0 < len(deltas) <= 5


async def test_gguf_stops_at_the_next_word_when_closed(gguf: Llm) -> None:
    for _ in range(3):
        words = gguf.stream([Message(Role.USER, "Tell me a long story.")], LlmOptions(max_tokens=1000))
        await anext(words)
        await words.aclose()  # type: ignore[attr-defined]
    # The one worker is free again: the next answer comes.
    assert await answer(gguf, Message(Role.USER, "Say hi."), options=LlmOptions(max_tokens=3))


async def test_gguf_forgets_the_oldest_where_the_context_is_full(gguf: Llm) -> None:
    said = [Message(Role.USER if n % 2 else Role.ASSISTANT, "many words " * 100) for n in range(30)]
    text = await answer(
        gguf,
        Message(Role.SYSTEM, "Be brief."),
        *said,
        Message(Role.USER, "Say hello."),
        options=LlmOptions(max_tokens=4),
    )
    assert text


async def test_gguf_takes_text_that_cannot_be_encoded(gguf: Llm) -> None:
    await answer(gguf, Message(Role.USER, "odd \ud800 text \0"), options=LlmOptions(max_tokens=2))


def test_gguf_defaults_are_short() -> None:
    assert GgufOptions().max_tokens == 96
