"""Showing one turn of conversation: to a person as text and a table, to a program as JSON."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from vanling.cli.common import err, out, print_json
from vanling.cli.conversation import Conversation
from vanling.cli.wav import write_wav
from vanling.session.metrics import TurnTimes

MEANING = {
    "endpoint": "the turn is over",
    "asr": "the words are known",
    "llm_first": "the model begins to answer",
    "tts_first": "the voice has its first sound",
    "first_audio": "the device hears it",
}
OF_SPEECH = ("endpoint", "asr")
"""Steps that a typed turn does not have."""


def show_conversation(
    seen: Conversation, times: TurnTimes | None, as_json: bool, *, typed: bool = False, note: str = ""
) -> None:
    """Print it; a person is also told ``note``, which explains the table. ``typed``: nothing was spoken."""
    if as_json:
        print_json(seen.document(times))
        return
    console = out()
    console.print(f"[bold]heard[/]  {escape(seen.heard) or '[dim](nothing)[/]'}")
    for index, sentence in enumerate(seen.sentences):
        console.print(f"{'[bold]reply[/]' if index == 0 else '     '}  {escape(sentence)}")
    if rows := _rows(seen.latency_ms(times), times is not None, typed):
        console.print(_table(rows, typed))
    if note:
        console.print(escape(note))
    console.print(_speaker(seen))


def keep_reply(seen: Conversation, save: Path | None, quiet: bool) -> None:
    """Write the reply's audio to ``save``, if there is any. Raises WavError where that cannot be written."""
    if save is None:
        return
    if len(seen.audio) == 0:
        err().print(escape(f"the reply has no audio: {save} is not written"), soft_wrap=True)
        return
    write_wav(save, seen.audio, seen.rate)
    if not quiet:
        out().print(f"saved to {escape(str(save))}", soft_wrap=True)


def _rows(latency_ms: dict[str, float | None], complete: bool, typed: bool) -> dict[str, float | None]:
    """Without what a client cannot see, and of a typed turn without what only speech has."""
    return {
        name: value
        for name, value in latency_ms.items()
        if (complete or value is not None) and not (typed and name in OF_SPEECH)
    }


def _table(rows: dict[str, float | None], typed: bool) -> Table:
    zero = "the text was sent" if typed else "the end of speech"
    table = Table(title=f"Milliseconds after {zero}", title_justify="left")
    table.add_column("step")
    table.add_column("ms", justify="right")
    table.add_column("when")
    for name, value in rows.items():
        table.add_row(name, "–" if value is None else f"{value:.0f}", MEANING[name])
    return table


def _speaker(seen: Conversation) -> str:
    words = [f"{seen.audio_s:.1f} s of audio in {seen.frames} frames"]
    if seen.underruns:
        words.append(f"{seen.underruns} gaps ({seen.underrun_ms:.0f} ms)")
    if seen.dropped:
        words.append(f"{seen.dropped} frames came too early and were lost")
    if seen.discarded:
        words.append(f"{seen.discarded} frames came outside of tts start and stop")
    if seen.bad_packets:
        words.append(f"{seen.bad_packets} frames were no Opus")
    return ", ".join(words)
