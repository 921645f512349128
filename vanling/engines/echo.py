"""A language model that only says back what it heard: the default, and the last answer when no tool fits."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence

from vanling.contracts.engines import Delta, LlmOptions, Message, Role
from vanling.engines.build import BuildContext
from vanling.engines.options import EchoOptions

_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_ASK = LlmOptions()
_SENTENCE_ENDS = ".!?。！？…"


class EchoLlm:
    """Answers "You said: …", or "你说：…" to Chinese text."""

    pure = True

    async def stream(self, messages: Sequence[Message], options: LlmOptions = _ASK) -> AsyncIterator[Delta]:
        """Repeat the last user message whole; ``options`` do not matter to an echo."""
        said = next((message.text.strip() for message in reversed(messages) if message.role is Role.USER), "")
        if not said:
            return
        chinese = _CHINESE.search(said) is not None
        yield Delta("你说：" if chinese else "You said: ")
        yield Delta(said)
        if said[-1] not in _SENTENCE_ENDS:
            yield Delta("。" if chinese else ".")


def build(_options: EchoOptions, _context: BuildContext) -> EchoLlm:
    return EchoLlm()
