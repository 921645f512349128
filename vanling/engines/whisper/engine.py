"""Whisper as the conversation sees it: streams of audio, hypotheses of all audio so far, worker threads behind them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vanling.contracts.engines import MODEL_RATE, AsrResult, Outcome, Priority, Samples
from vanling.engines.build import BuildContext
from vanling.engines.models import WHISPER_TINY_EN
from vanling.engines.options import WhisperOptions
from vanling.engines.whisper.decoder import LONGEST_S, Ct2Decoder, Decoded, Decoder
from vanling.engines.whisper.judge import nobody_spoke, without_asides
from vanling.engines.whisper.pauses import cut_point
from vanling.engines.workers import Workers
from vanling.errors import ConfigError, EngineError, EngineUnavailableError

_UNSPACED = re.compile(r"[\u0e00-\u0fff\u1780-\u17ff\u2e80-\u9fff\uff00-\uffef]")
"""Scripts that are written without spaces (Thai to Tibetan, Khmer, Chinese, Japanese)."""

LONGEST = int(LONGEST_S * MODEL_RATE)
EARLIEST_CUT = LONGEST // 3
SHORTEST = 400
"""Samples (25 ms) under which there is nothing to recognise."""
SILENT = 1e-4
"""Peak under which audio is digital silence (-80 dB): the model need not be asked."""


class WhisperAsr:
    """See :class:`~vanling.contracts.engines.Asr`."""

    def __init__(self, decoder: Decoder, workers: Workers, language: str | None = None) -> None:
        self._decoder = decoder
        self._workers = workers
        self._language = language
        self.languages: tuple[str, ...] = ("*",) if decoder.multilingual else ("en",)

    def new(self, language: str | None = None) -> WhisperStream:
        """A fresh utterance. ``language`` may be a tag such as "zh-CN"; one the model lacks is found out instead."""
        asked = language.replace("_", "-").split("-", maxsplit=1)[0].lower() if language else None
        known = asked if asked and self._decoder.knows_language(asked) else None
        return WhisperStream(self._decoder, self._workers, known or self._language)

    def close(self) -> None:
        self._workers.close()


class WhisperStream:
    """One utterance. What lies before a cut in speech longer than the window is recognised once and remembered."""

    def __init__(self, decoder: Decoder, workers: Workers, language: str | None) -> None:
        self._decoder = decoder
        self._workers = workers
        self._language = language
        self._audio: list[Samples] = []
        self._n_samples = 0
        self._done: tuple[_Piece, ...] = ()
        self._latest: AsrResult | None = None
        self._latest_samples = -1

    def feed(self, pcm: Samples) -> None:
        """Append float32 samples at 16 kHz; they are copied."""
        if len(pcm):
            self._audio.append(np.array(pcm, np.float32))
            self._n_samples += len(pcm)

    async def hypothesis(self, priority: Priority = Priority.CONFIRMED) -> AsrResult:
        """Recognise all audio fed so far; asked again without new audio it answers at once. Raises EngineError."""
        fed = self._n_samples
        if self._latest is not None and self._latest_samples == fed:
            return self._latest
        if fed < SHORTEST:
            return AsrResult(Outcome.NOTHING, audio_ms=_ms(fed))
        try:
            pieces = await self._workers.run(priority, self._recognise, tuple(self._audio), self._done)
        except EngineError:
            raise
        except Exception as error:
            raise EngineError(f"recognition failed: {error}") from error
        if len(pieces) - 1 > len(self._done):
            self._done = pieces[:-1]
        result = self._join(pieces, fed)
        if fed >= self._latest_samples:
            self._latest, self._latest_samples = result, fed
        return result

    def _recognise(self, chunks: tuple[Samples, ...], done: tuple[_Piece, ...]) -> tuple[_Piece, ...]:
        """In a worker thread: the pieces of this audio, the last of them still open."""
        audio = np.nan_to_num(np.concatenate(chunks))
        pieces = list(done)
        start = pieces[-1].end if pieces else 0
        while len(audio) - start > LONGEST:
            end = start + cut_point(audio[start : start + LONGEST], EARLIEST_CUT, LONGEST)
            pieces.append(self._piece(audio[start:end], end))
            start = end
        pieces.append(self._piece(audio[start:], len(audio)))
        return tuple(pieces)

    def _piece(self, audio: Samples, end: int) -> _Piece:
        if len(audio) < SHORTEST or float(np.max(np.abs(audio))) < SILENT:
            return _Piece("", 1.0, end)
        decoded = self._decoder.decode(np.clip(audio, -1.0, 1.0), self._language)
        return _Piece(_believed(decoded), decoded.no_speech, end)

    def _join(self, pieces: tuple[_Piece, ...], fed: int) -> AsrResult:
        text = ""
        for piece in pieces:
            spaced = text and piece.text and not _UNSPACED.match(text[-1])
            text += f" {piece.text}" if spaced else piece.text
        spoken = [piece.no_speech for piece in pieces if piece.text]
        if not text:
            return AsrResult(Outcome.EMPTY, "", max(piece.no_speech for piece in pieces), _ms(fed))
        return AsrResult(Outcome.TEXT, text, min(spoken), _ms(fed))


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    no_speech: float
    end: int
    """First sample after it."""


def _believed(decoded: Decoded) -> str:
    text = without_asides(decoded.text)
    return "" if nobody_spoke(text, decoded.no_speech, decoded.avg_logprob) else text


def _ms(n_samples: int) -> float:
    return 1000.0 * n_samples / MODEL_RATE


def build(options: WhisperOptions, context: BuildContext) -> WhisperAsr:
    """Find, check and load the model, and recognise once so that the first turn is not the slow one."""
    folder = options.model or WHISPER_TINY_EN.require(context)[0].parent
    _check_folder(folder)
    n_workers = options.workers or (2 if context.cores >= 2 else 1)
    decoder = Ct2Decoder(
        folder,
        compute_type=options.compute_type,
        threads=options.threads,
        workers=n_workers,
        beam=options.beam,
        window_s=options.window_s,
    )
    if options.language and not decoder.knows_language(options.language):
        only = "" if decoder.multilingual else ", which understands English only: give a multilingual one"
        raise ConfigError(f"asr.language={options.language} is not a language of the model in {folder}{only}")
    decoder.decode(np.random.default_rng(0).normal(0, 0.01, MODEL_RATE).astype(np.float32), options.language)
    return WhisperAsr(decoder, Workers("asr", n_workers), options.language)


def _check_folder(folder: Path) -> None:
    for name in ("model.bin", "config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise EngineUnavailableError(
                f"asr.model={folder} has no {name}; give the folder of a Whisper model converted for CTranslate2"
            )
