"""What can be set for each engine, with unit and default.

Free of model libraries, so that options are checked before anything is loaded.
An option is a key of the engine's section: ``asr.engine = "whisper"`` stands beside ``asr.beam = 5``.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class EngineOptions(BaseModel):
    """Base of all options: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class SileroOptions(EngineOptions):
    model: Path | None = Field(None, description="Silero ONNX file; default: the one that the embedded packages carry")


class WhisperOptions(EngineOptions):
    model: Path | None = Field(
        None, description="folder of a Whisper model made for CTranslate2; default: tiny.en of the embedded packages"
    )
    language: str | None = Field(
        None, description="ISO 639-1 code of what is spoken; default: found out, or the model's only language"
    )
    beam: int = Field(5, ge=1, le=20, description="hypotheses kept while decoding; 1 loops on short clips")
    threads: int = Field(1, ge=1, le=64, description="threads of one recognition; more slows decoding")
    workers: int | None = Field(None, ge=1, le=16, description="recognitions at a time; default: 2 on two cores")
    window_s: float = Field(10.0, ge=2.0, le=30.0, description="least window in seconds; less makes it loop")
    compute_type: str = Field("int8", description="CTranslate2 arithmetic: int8, int8_float32, float32 …")


class PiperOptions(EngineOptions):
    voice: Path | None = Field(
        None, description="Piper voice (.onnx, its .onnx.json beside it); default: the English voice of the packages"
    )
    speaker: str | None = Field(None, description="speaker of a voice that has several: its name or number")
    length_scale: float | None = Field(None, gt=0.1, le=5.0, description="length of the sounds, 1.0 = the voice's own")
    noise_scale: float | None = Field(None, ge=0.0, le=2.0, description="variation of sounds; default: the voice's own")
    noise_w: float | None = Field(None, ge=0.0, le=2.0, description="variation of lengths; default: the voice's own")
    volume: float | None = Field(None, gt=0.0, le=4.0, description="1.0 = as recorded; default: an even loudness")
    threads: int = Field(1, ge=1, le=64, description="threads of one synthesis")


class MuteOptions(EngineOptions):
    """A server without a voice has nothing to set."""


class EchoOptions(EngineOptions):
    """Echo has nothing to set."""


class GgufOptions(EngineOptions):
    model: Path | None = Field(None, description="GGUF file of a chat model; default: SmolLM2 of the packages")
    threads: int | None = Field(
        None, ge=1, le=256, description="threads of the model; default: one per core, at most 4"
    )
    context: int = Field(2048, ge=256, le=131_072, description="tokens that the model sees, answer included")
    max_tokens: int = Field(96, ge=1, le=8192, description="longest answer in tokens")
    temperature: float = Field(0.2, ge=0.0, le=2.0, description="0 = always the likeliest word")
    stop: tuple[str, ...] = Field((), description="texts at which an answer ends")
    parallel: int = Field(1, ge=1, le=16, description="answers at a time; they share the context")
