"""One call of Whisper on CTranslate2 with a window as short as the audio allows.

Stock Whisper encodes 30 s however short the utterance; CTranslate2 takes shorter windows, and 10 s cost an eighth.
Windows under 10 s, or without a moment of silence before the first word, make the model loop on short clips.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import ctranslate2
import numpy as np
import tokenizers

from vanling.contracts.engines import MODEL_RATE, Samples
from vanling.engines.whisper.judge import UNLIKELY_LOGPROB, loop_at, without_loop
from vanling.engines.whisper.mel import FRAMES_PER_S, log_mel, pad_frames
from vanling.errors import EngineUnavailableError

log = logging.getLogger(__name__)

FULL_S = 30.0
"""The window that the model was trained on, and the longest it takes."""
SLACK_S = 2.0
"""Window beyond the audio: without it the last words are lost."""
PRE_ROLL_S = 0.3
LONGEST_S = FULL_S - SLACK_S - PRE_ROLL_S
"""Audio that one call takes."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A transcript with what the model thinks of it."""

    text: str
    no_speech: float
    avg_logprob: float
    full_window: bool


class Decoder(Protocol):
    """What the engine needs of a model."""

    multilingual: bool

    def decode(self, audio: Samples, language: str | None) -> Decoded: ...

    def knows_language(self, language: str) -> bool: ...


class Ct2Decoder:
    """Whisper on CTranslate2. Calls block, release the GIL, and may come from as many threads as it has workers."""

    def __init__(
        self, folder: Path, *, compute_type: str, threads: int, workers: int, beam: int, window_s: float
    ) -> None:
        self._model = ctranslate2.models.Whisper(
            str(folder), device="cpu", compute_type=compute_type, intra_threads=threads, inter_threads=workers
        )
        self._tokens = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._beam = beam
        self._window_s = window_s
        self.multilingual = bool(self._model.is_multilingual)
        self._end_of_text = self._id("<|endoftext|>")

    def decode(self, audio: Samples, language: str | None) -> Decoded:
        """Transcribe up to LONGEST_S seconds; falls back to the full window where the short one went wrong."""
        features = log_mel(
            np.concatenate((np.zeros(int(PRE_ROLL_S * MODEL_RATE), np.float32), audio)), self._model.n_mels
        )
        window_s = min(FULL_S, max(self._window_s, len(audio) / MODEL_RATE + PRE_ROLL_S + SLACK_S))
        decoded, trusted = self._attempt(features, window_s, language, last=window_s >= FULL_S)
        if trusted or window_s >= FULL_S:
            return decoded
        log.debug(
            "the %.1f s window went wrong (log probability %.2f): trying the full one",
            window_s,
            decoded.avg_logprob,
            extra={"component": "ASR", "event": "full_window"},
        )
        again, _ = self._attempt(features, FULL_S, language, last=True)
        return again

    def _attempt(self, features: Samples, window_s: float, language: str | None, *, last: bool) -> tuple[Decoded, bool]:
        # The encoder halves the frames: an odd number of them is refused.
        frames = int(window_s * FRAMES_PER_S) // 2 * 2
        view = ctranslate2.StorageView.from_array(pad_frames(features, frames)[np.newaxis])
        longest = min(224, 40 + int(8 * window_s))
        prompt, encoded = self._prompt(view, language)
        result = self._model.generate(
            encoded,
            [prompt],
            beam_size=self._beam,
            max_length=longest,
            return_scores=True,
            return_no_speech_prob=True,
        )[0]
        tokens = [token for token in result.sequences_ids[0] if token < self._end_of_text]
        # CTranslate2's score is the mean over the tokens without the end token.
        logprob = result.scores[0] * len(tokens) / (len(tokens) + 1)
        trusted = logprob >= UNLIKELY_LOGPROB and len(tokens) < longest - len(prompt) and loop_at(tokens) is None
        text = self._tokens.decode(without_loop(tokens) if last else tokens, skip_special_tokens=True).strip()
        return Decoded(text, float(result.no_speech_prob), float(logprob), last), trusted

    def _prompt(self, view: ctranslate2.StorageView, language: str | None) -> tuple[list[int], ctranslate2.StorageView]:
        if not self.multilingual:
            return [self._id("<|startoftranscript|>"), self._id("<|notimestamps|>")], view
        encoded = self._model.encode(view)
        marker = self._model.detect_language(encoded)[0][0][0] if language is None else f"<|{language}|>"
        prompt = [
            self._id("<|startoftranscript|>"),
            self._id(marker),
            self._id("<|transcribe|>"),
            self._id("<|notimestamps|>"),
        ]
        return prompt, encoded

    def knows_language(self, language: str) -> bool:
        """Whether a multilingual model has a token for this ISO 639-1 code; an English-only one knows "en"."""
        if not self.multilingual:
            return language == "en"
        return self._tokens.token_to_id(f"<|{language}|>") is not None

    def _id(self, token: str) -> int:
        number = self._tokens.token_to_id(token)
        if number is None:
            raise EngineUnavailableError(f"the model's tokenizer has no {token}: not a Whisper model")
        return int(number)
