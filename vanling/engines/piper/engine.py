"""A Piper voice as the conversation hears it: sentences in, chunks of sound out, one worker thread behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

import numpy as np

from vanling.contracts.engines import Pcm, Priority, Samples
from vanling.engines.build import BuildContext
from vanling.engines.models import PIPER_JOE
from vanling.engines.options import PiperOptions
from vanling.engines.piper.config import VoiceConfig, read_voice_config
from vanling.engines.piper.lexicon import open_lexicon
from vanling.engines.piper.phonemes import Phonemizer
from vanling.engines.piper.prepare import open_voice
from vanling.engines.piper.stages import Voice
from vanling.engines.piper.text import speakable
from vanling.engines.workers import Workers
from vanling.errors import ConfigError, EngineError, EngineUnavailableError

WARM_UP = "Okay, the lights in the living room are on: it is twenty one degrees, and that will be all for today."
TARGET_PEAK = 0.8
"""Voices differ by 6 dB and more: each is brought to speak its warm-up sentence at this peak."""
LOUDEST_GAIN = 2.0


class PiperTts:
    """See :class:`~vanling.contracts.engines.Tts`."""

    def __init__(self, voice: Voice, config: VoiceConfig, phonemizer: Phonemizer, options: PiperOptions) -> None:
        self.rate = config.rate
        self.language = config.language
        self._voice = voice
        self._config = config
        self._phonemizer = phonemizer
        self._speaker = config.speaker(options.speaker)
        self._scales = np.array(
            [
                config.noise_scale if options.noise_scale is None else options.noise_scale,
                config.length_scale if options.length_scale is None else options.length_scale,
                config.noise_w if options.noise_w is None else options.noise_w,
            ],
            np.float32,
        )
        self._gain = options.volume
        self._workers = Workers("tts", 1)

    def can_speak(self, text: str) -> bool:
        """Whether there is a digit, or a letter of the voice's script."""
        return speakable(text, self.language)

    async def synthesize(
        self,
        sentence: str,
        *,
        voice: str | None = None,
        priority: Callable[[], Priority] = lambda: Priority.FIRST_CHUNK,
    ) -> AsyncIterator[Pcm]:
        """Speak; the first chunk holds 0.23 s, each later one up to twice as much as the one before.

        ``voice`` names a speaker of this voice; an unknown one gets the configured speaker. Closing the iterator stops
        before the next chunk. Raises EngineError.
        """
        speaker = self._speaker_of(voice)
        chunks = self._chunks(sentence, speaker)
        while True:
            try:
                samples = await self._workers.run(priority(), next, chunks, None)
            except EngineError:
                raise
            except Exception as error:
                raise EngineError(f"synthesis failed: {error}") from error
            if samples is None:
                return
            if len(samples):
                yield Pcm(samples, self.rate)

    def warm_up(self) -> None:
        """Speak once, unheard: the lexicon is read per thread, and first calls are slow. Sets the volume by the way."""
        peak = self._workers.run_blocking(self._peak_of, WARM_UP)
        if self._gain is None:
            self._gain = min(LOUDEST_GAIN, TARGET_PEAK / max(peak, 1e-3))

    def close(self) -> None:
        self._workers.close()

    def _speaker_of(self, voice: str | None) -> int:
        try:
            return self._speaker if voice is None else self._config.speaker(voice)
        except ConfigError:
            return self._speaker

    def _peak_of(self, sentence: str) -> float:
        sound = [float(np.max(np.abs(chunk))) for chunk in self._raw(sentence, self._speaker)]
        return max(sound, default=TARGET_PEAK)

    def _chunks(self, sentence: str, speaker: int) -> Iterator[Samples]:
        """In the worker thread: each step makes one chunk."""
        gain = np.float32(1.0 if self._gain is None else self._gain)
        for chunk in self._raw(sentence, speaker):
            yield np.clip(chunk * gain, -1.0, 1.0)

    def _raw(self, sentence: str, speaker: int) -> Iterator[Samples]:
        for ids in self._phonemizer.sentences(sentence):
            yield from self._voice.speak(ids, self._scales, speaker)


def build(options: PiperOptions, context: BuildContext) -> PiperTts:
    """Find, check, cut and load the voice, and speak once."""
    model = options.voice or PIPER_JOE.require(context)[0]
    if not model.is_file():
        raise EngineUnavailableError(f"tts.voice={model} does not exist; give the path of a Piper voice (.onnx)")
    config = read_voice_config(model)
    voice = open_voice(model, config, options.threads, context)
    phonemizer = Phonemizer(config.locale, config.phoneme_ids, open_lexicon(config.locale, context))
    tts = PiperTts(voice, config, phonemizer, options)
    tts.warm_up()
    return tts
