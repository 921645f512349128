"""Recognition errors on recorded speech, beside stock faster-whisper with the same model and the whole 30 s window."""

from __future__ import annotations

from collections.abc import Callable

from bench.engines.conftest import Run, Stock
from bench.ratio import report
from tests.engines.speech import Recording, word_errors
from vanling.contracts.engines import Asr


def test_no_more_errors_than_stock(  # type: ignore[no-untyped-def]
    benchmark, run: Run, whisper: Asr, stock: Stock, speech: list[Recording]
) -> None:
    async def hear(recording: Recording) -> str:
        stream = whisper.new()
        stream.feed(recording.audio)
        return (await stream.hypothesis()).text

    def ours_text(recording: Recording) -> str:
        return str(run(hear(recording)))

    ours, words = benchmark.pedantic(errors, (speech, ours_text), rounds=1)
    theirs, _ = errors(speech, lambda recording: stock.hear(recording.audio))
    report(
        benchmark,
        "word_errors",
        ours / max(theirs, 1),
        1.0,
        ours_percent=100 * ours / words,
        stock_percent=100 * theirs / words,
        words=words,
    )


def errors(speech: list[Recording], hear: Callable[[Recording], str]) -> tuple[int, int]:
    """(errors, words said) over all recordings."""
    counted = [word_errors(recording.text, hear(recording)) for recording in speech]
    return sum(wrong for wrong, _ in counted), sum(said for _, said in counted)
