"""``vanling demo``: server and device in one process, and one spoken conversation between them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from vanling.cli.common import ConfigFile, Debug, Json, Sets, guarded, settle
from vanling.cli.conversation import Conversation
from vanling.cli.device import converse
from vanling.cli.microphone import RATE
from vanling.cli.progress import progress
from vanling.cli.report import keep_reply, show_conversation
from vanling.cli.running import interruptible, run
from vanling.cli.wav import check_writable, read_speech
from vanling.config import Config
from vanling.session.metrics import TurnTimes

SENTENCE = "Good morning, how are you doing today?"
INSTEAD = "give --say some words in that language"
TIMES_S = 2.0
"""The server writes a turn's times down when the turn is over, which may be after the device has heard its end."""


@guarded
def demo(
    *,
    say: Annotated[str | None, typer.Option(metavar="TEXT", help="What to say, with the embedded voice.")] = None,
    wav: Annotated[Path | None, typer.Option(metavar="FILE", help="Say what this WAV file holds.")] = None,
    as_json: Json = False,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the reply as a WAV file.")] = None,
    config: ConfigFile = None,
    sets: Sets = None,
    debug: Debug = False,
) -> None:
    """Start everything on a free port, hold one spoken conversation, and show how long it took."""
    if say is not None and wav is not None:
        raise typer.BadParameter("give --say or --wav, not both")
    if say is not None and not say.strip():
        raise typer.BadParameter("there is nothing to say in an empty text", param_hint="--say")
    check_writable(save)
    clip = None if wav is None else read_speech(wav, RATE)
    with (
        interruptible(),
        tempfile.TemporaryDirectory(prefix="vanling-demo-") as folder,
        progress("starting") as stage,
    ):
        settled = settle(config, sets, debug, *_private(folder), quiet=True)
        seen, times = run(_demo(settled, clip, say or SENTENCE, _neutral(stage)))
    show_conversation(seen, times, as_json, note=_explained(settled, seen))
    keep_reply(seen, save, as_json)


def _neutral(stage: Callable[[str], None]) -> Callable[[str], None]:
    """Our folder is a temporary one, so that what engines do once they do each time."""
    return lambda text: stage(text.removesuffix(", once").removesuffix(" for the first time"))


def _explained(config: Config, seen: Conversation) -> str:
    """Which part of the times nobody works in."""
    silence_ms = config.vad.min_silence_ms + config.turn.silence_confirm_ms
    words = (
        f"The times are cumulative. {silence_ms} ms are the silence that ends a turn "
        "(vad.min_silence_ms + turn.silence_confirm_ms)"
    )
    if seen.frames:
        words += f", {config.pacing.start_gap_ms} ms the device's time to get ready (pacing.start_gap_ms)"
    return f"{words}."


def _private(folder: str) -> list[str]:
    """Settings for a server of our own that nobody else finds."""
    return [
        "server.host=127.0.0.1",
        "server.port=0",
        "server.public_url=",
        "server.tls_cert=",
        "server.tls_key=",
        f"server.data_dir={folder}",
        "auth.required=false",
    ]


async def _demo(
    config: Config, clip: NDArray[np.int16] | None, say: str, stage: Callable[[str], None]
) -> tuple[Conversation, TurnTimes | None]:
    from vanling.cli.speaker import spoken  # noqa: PLC0415  (loads the models' libraries)
    from vanling.server.runtime import Server  # noqa: PLC0415

    server = Server(config, stage)
    turns = _Turns()
    server.on_turn(turns.note)
    await server.start()
    try:
        if clip is None:
            clip = await spoken(say, config.engine_section("tts"), config.server.data_dir, stage, INSTEAD)
        seen = await converse(server.ws_url, audio=clip, stage=stage)
        return seen, await turns.of(seen.session_id)
    finally:
        await server.stop()


class _Turns:
    """The server's own clock readings, turn by turn."""

    def __init__(self) -> None:
        self._latest: dict[str, TurnTimes] = {}
        self._noted = asyncio.Event()

    def note(self, session_id: str, times: TurnTimes) -> None:
        self._latest[session_id] = times
        self._noted.set()

    async def of(self, session_id: str) -> TurnTimes | None:
        try:
            async with asyncio.timeout(TIMES_S):
                while session_id not in self._latest:
                    self._noted.clear()
                    await self._noted.wait()
        except TimeoutError:
            return None
        return self._latest[session_id]
