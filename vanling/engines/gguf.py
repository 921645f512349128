"""A small language model in a GGUF file, by llama.cpp (``xllamacpp``): for talk, not for facts; the extra ``gguf``."""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import xllamacpp

from vanling.contracts.engines import Delta, LlmOptions, Message, Priority, Role
from vanling.engines.build import BuildContext
from vanling.engines.models import SMOLLM2
from vanling.engines.options import GgufOptions
from vanling.engines.workers import Workers
from vanling.errors import EngineError, EngineUnavailableError

log = logging.getLogger(__name__)

Request = dict[str, Any]
_ASK = LlmOptions()


class GgufLlm:
    """See :class:`~vanling.contracts.engines.Llm`."""

    pure = True

    def __init__(self, model: Path, options: GgufOptions, threads: int) -> None:
        self._options = options
        self._server = _open(model, options, threads)
        self._workers = Workers("llm", options.parallel)

    async def stream(self, messages: Sequence[Message], options: LlmOptions = _ASK) -> AsyncIterator[Delta]:
        """Answer word by word; the oldest messages are left out where all of them exceed the context.

        Closing the iterator stops the model at its next word. Raises EngineError.
        """
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        stopped = threading.Event()

        def put(piece: str) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        answering = asyncio.ensure_future(
            self._workers.run(Priority.FIRST_CHUNK, self._answer, list(messages), options, put, stopped)
        )
        answering.add_done_callback(lambda _: pieces.put_nowait(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield Delta(piece)
            await answering
        finally:
            stopped.set()
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)

    def close(self) -> None:
        self._workers.close()

    def _answer(
        self, messages: list[Message], options: LlmOptions, put: Callable[[str], None], stopped: threading.Event
    ) -> None:
        """In the worker thread: ask, and ask again with less history while there is too much of it."""
        while not stopped.is_set():
            error = self._ask(self._request(messages, options), put, stopped)
            if error is None:
                return
            shorter = _shorten(messages)
            if error.get("type") != "exceed_context_size_error" or shorter is None:
                raise EngineError(f"the language model refused: {error.get('message', error)}")
            messages = shorter

    def _ask(self, request: Request, put: Callable[[str], None], stopped: threading.Event) -> dict[str, Any] | None:
        refusal: dict[str, Any] | None = None

        def on_chunk(chunk: dict[str, Any]) -> bool:
            nonlocal refusal
            if "error" in chunk:
                refusal = dict(chunk["error"])
                return True
            for choice in chunk.get("choices", ()):
                piece = choice.get("delta", {}).get("content")
                if piece and not stopped.is_set():
                    put(piece)
            # True ends the generation.
            return stopped.is_set()

        self._server.handle_chat_completions(request, on_chunk)
        return refusal

    def _request(self, messages: Sequence[Message], options: LlmOptions) -> Request:
        request: Request = {
            "messages": [{"role": message.role.value, "content": _sound(message.text)} for message in messages],
            "max_tokens": options.max_tokens or self._options.max_tokens,
            "temperature": self._options.temperature if options.temperature is None else options.temperature,
            "stream": True,
            "cache_prompt": True,
            # Without it models this small fall into loops.
            "repeat_penalty": 1.15,
        }
        if self._options.stop:
            request["stop"] = list(self._options.stop)
        return request


def _shorten(messages: list[Message]) -> list[Message] | None:
    """Without the older half of what was said, then with half of the last message; None when nothing is left to cut."""
    system = [message for message in messages if message.role is Role.SYSTEM]
    said = [message for message in messages if message.role is not Role.SYSTEM]
    if len(said) > 1:
        return system + said[-(len(said) // 2) :]
    if said and len(said[0].text) > 64:
        return [*system, Message(said[0].role, said[0].text[-(len(said[0].text) // 2) :])]
    return None


def _sound(text: str) -> str:
    """Text that can be encoded: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode()


def _open(model: Path, options: GgufOptions, threads: int) -> xllamacpp.Server:
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx = options.context
    params.n_parallel = options.parallel
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.verbosity = -1
    # The library always opens a local HTTP port; nobody gets in without this key, which nobody is told.
    params.api_keys = [secrets.token_urlsafe(32)]
    params.ui = False
    return xllamacpp.Server(params)


def build(options: GgufOptions, context: BuildContext) -> GgufLlm:
    """Find, check and load the model."""
    model = options.model or SMOLLM2.require(context)[0]
    if not model.is_file():
        raise EngineUnavailableError(f"llm.model={model} does not exist; give the path of a GGUF file")
    context.report(f"loading {model.name}")
    return GgufLlm(model, options, options.threads or min(4, context.cores))
