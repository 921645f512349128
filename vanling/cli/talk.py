"""``vanling talk``: a simulated XiaoZhi device that says one thing to a server and hears the reply."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from vanling.cli.common import ConfigFile, Debug, Json, Sets, guarded, settle
from vanling.cli.conversation import Conversation
from vanling.cli.device import Mode, converse
from vanling.cli.live_microphone import LiveMicrophone
from vanling.cli.microphone import RATE, Clip, Microphone
from vanling.cli.progress import progress
from vanling.cli.report import keep_reply, show_conversation
from vanling.cli.running import run
from vanling.cli.usage import FLAG, one_of
from vanling.cli.wav import check_writable, read_speech
from vanling.config import Config

MIC_LIMIT_S = 120.0
NOTE = "The times are cumulative. The server knows more: see its log, or vanling demo."


@dataclasses.dataclass(frozen=True, slots=True)
class _What:
    """What to say; exactly one of them."""

    wav: Path | None
    say: str | None
    text: str | None
    mic: bool

    def check(self) -> None:
        given = [self.wav is not None, self.say is not None, self.text is not None, self.mic]
        if sum(given) != 1:
            raise typer.BadParameter("say what to send: one of --wav FILE, --say TEXT, --text TEXT and --mic")
        if not (self.say or self.text or self.wav or self.mic):
            raise typer.BadParameter("there is nothing to say in an empty text")


@guarded
def talk(
    *,
    url: Annotated[str, typer.Option(metavar="ws://…", help="The server's door, such as ws://host:8080/xiaozhi/v1/.")],
    token: Annotated[str, typer.Option(metavar="T", help="Token, where the server asks for one.")] = "",
    device_id: Annotated[str, typer.Option(metavar="ID", help="MAC address to appear with; else a random one.")] = "",
    mode: Annotated[
        str,
        typer.Option(
            metavar="|".join(Mode), parser=one_of(*Mode), help="Who ends the turn: the server, or the button (manual)."
        ),
    ] = Mode.AUTO.value,
    wav: Annotated[Path | None, typer.Option(metavar="FILE", help="Say what this WAV file holds.")] = None,
    say: Annotated[str | None, typer.Option(metavar="TEXT", help="Speak this text with the embedded voice.")] = None,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="Type this text.")] = None,
    mic: Annotated[bool, typer.Option("--mic", metavar=FLAG, help="Say it yourself.")] = False,
    as_json: Json = False,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the reply as a WAV file.")] = None,
    config: ConfigFile = None,
    sets: Sets = None,
    debug: Debug = False,
) -> None:
    """Be a XiaoZhi device for one turn: say something, hear the reply, see how long it took."""
    what = _What(wav, say, text, mic)
    what.check()
    check_writable(save)
    settled = settle(config, sets, debug, quiet=True)
    with progress("preparing") as stage:
        seen = run(_talk(settled, what, url=url, token=token, device_id=device_id, mode=Mode(mode), stage=stage))
    show_conversation(seen, None, as_json, typed=text is not None, note=NOTE)
    keep_reply(seen, save, as_json)


async def _talk(
    config: Config, what: _What, *, url: str, token: str, device_id: str, mode: Mode, stage: Callable[[str], None]
) -> Conversation:
    if what.text is not None:
        return await converse(url, text=what.text, token=token, device_id=device_id, stage=stage)
    if what.mic:
        with LiveMicrophone() as microphone:
            return await converse(
                url,
                microphone=microphone,
                mode=mode,
                token=token,
                device_id=device_id,
                deadline_s=MIC_LIMIT_S,
                stage=stage,
            )
    clip = await _clip(config, what, stage)
    return await converse(url, microphone=clip, mode=mode, token=token, device_id=device_id, stage=stage)


async def _clip(config: Config, what: _What, stage: Callable[[str], None]) -> Microphone:
    if what.wav is not None:
        return Clip(read_speech(what.wav, RATE))
    from vanling.cli.speaker import spoken  # noqa: PLC0415  (loads the voice's libraries)

    section = config.engine_section("tts")
    return Clip(await spoken(what.say or "", section, config.server.data_dir, stage, "type it with --text instead"))
