"""Showing one turn of conversation: to a person as text and a table, to a program as JSON."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from vanling.cli.common import out, print_json
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


def show_conversation(seen: Conversation, times: TurnTimes | None, as_json: bool, save: Path | None) -> None:
    """Print it, and keep its audio in ``save``. Raises WavError where that cannot be written."""
    if save is not None:
        write_wav(save, seen.audio, seen.rate)
    if as_json:
        print_json(seen.document(times))
        return
    console = out()
    console.print(f"[bold]heard[/]  {escape(seen.heard) or '[dim](nothing)[/]'}")
    for index, sentence in enumerate(seen.sentences):
        console.print(f"{'[bold]reply[/]' if index == 0 else '     '}  {escape(sentence)}")
    console.print(_table(seen.latency_ms(times)))
    console.print(_speaker(seen))
    if save is not None:
        console.print(f"saved to {escape(str(save))}")


def _table(latency_ms: dict[str, float | None]) -> Table:
    table = Table(title="Milliseconds after the end of speech", title_justify="left")
    table.add_column("step")
    table.add_column("ms", justify="right")
    table.add_column("when")
    for name, value in latency_ms.items():
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
