"""What stands in the ``.onnx.json`` beside a Piper voice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vanling.errors import ConfigError, EngineUnavailableError


@dataclass(frozen=True, slots=True)
class VoiceConfig:
    """A voice's figures: rate in Hz, its own scales, its sounds and speakers."""

    rate: int
    locale: str
    """As the phonemiser wants it: ``en-us``."""
    noise_scale: float
    length_scale: float
    noise_w: float
    phoneme_ids: Mapping[str, Sequence[int]]
    n_speakers: int
    speakers: Mapping[str, int]

    @property
    def language(self) -> str:
        """ISO 639-1."""
        return self.locale.split("-", maxsplit=1)[0]

    def speaker(self, name: str | None) -> int:
        """Number of a speaker given by name or number; 0 for None. Raises ConfigError."""
        if name is None:
            return 0
        if name in self.speakers:
            return self.speakers[name]
        if name.isdecimal() and int(name) < self.n_speakers:
            return int(name)
        known = ", ".join(self.speakers) or f"0…{self.n_speakers - 1}"
        raise ConfigError(f"tts.speaker={name} is not a speaker of this voice; known: {known}")


def read_voice_config(model: Path) -> VoiceConfig:
    """Read the file beside ``model``; raises EngineUnavailableError where it is missing or not a voice's."""
    path = model.with_name(f"{model.name}.json")
    try:
        raw = json.loads(path.read_bytes())
        inference = raw.get("inference", {})
        return VoiceConfig(
            rate=int(raw["audio"]["sample_rate"]),
            locale=str(raw["espeak"]["voice"]).lower().replace("_", "-"),
            noise_scale=float(inference.get("noise_scale", 0.667)),
            length_scale=float(inference.get("length_scale", 1.0)),
            noise_w=float(inference.get("noise_w", 0.8)),
            phoneme_ids={str(symbol): [int(n) for n in ids] for symbol, ids in raw["phoneme_id_map"].items()},
            n_speakers=int(raw.get("num_speakers", 1)),
            speakers={str(name): int(n) for name, n in raw.get("speaker_id_map", {}).items()},
        )
    except FileNotFoundError:
        raise EngineUnavailableError(f"{path} is missing; a Piper voice is two files, .onnx and .onnx.json") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EngineUnavailableError(f"{path} does not describe a Piper voice: {error!r}") from error
