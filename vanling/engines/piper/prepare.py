"""Cut a voice once, try how much context its parts need, keep the result in the data directory."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from vanling.engines.build import BuildContext
from vanling.engines.checksum import remembered_sha256
from vanling.engines.piper.config import VoiceConfig
from vanling.engines.piper.stages import StagedVoice, StageNames, Voice, WholeVoice
from vanling.engines.prepared import prepared

log = logging.getLogger(__name__)

RECIPE = "1"
"""Part of the folder's name: raise it when what is written changes."""
CONTEXTS = ((28, 10), (32, 24), (48, 48))
"""Frames on either side for flow and vocoder, tried in turn; a medium voice is exact with the first."""
TOLERANCE = 1e-4
STAGES = "stages.json"


def open_voice(model: Path, config: VoiceConfig, threads: int, context: BuildContext) -> Voice:
    """The voice, streamed where it can be cut, else whole sentences with a warning that says why."""
    name = f"piper-{RECIPE}-{remembered_sha256(model, context)[:16]}"
    try:
        folder = prepared(context, name, lambda target: _prepare(model, config, target, context))
        return StagedVoice(folder, StageNames(**json.loads((folder / STAGES).read_bytes())), threads)
    except ImportError:
        reason = "the package onnx is not installed: pip install 'vanling[embedded]'"
    except _NotStreamable as error:
        reason = str(error)
    except OSError as error:
        reason = f"its parts cannot be kept: {error}"
    log.warning(
        "%s speaks whole sentences only, at five times the delay: %s",
        model.name,
        reason,
        extra={"component": "TTS", "event": "unstreamed"},
    )
    return WholeVoice(model, threads)


class _NotStreamable(Exception):
    """Why a voice cannot be streamed."""


def _prepare(model: Path, config: VoiceConfig, folder: Path, context: BuildContext) -> None:
    from vanling.engines.piper.graph import UnlikeGraphError, split_voice  # noqa: PLC0415 - needs onnx, only here

    context.report(f"preparing the voice {model.stem}, once")
    try:
        names = split_voice(model, folder)
    except UnlikeGraphError as error:
        raise _NotStreamable(str(error)) from error
    names = _with_context(names, config, folder)
    (folder / STAGES).write_text(json.dumps(asdict(names)))


def _with_context(names: StageNames, config: VoiceConfig, folder: Path) -> StageNames:
    """``names`` with the least context of :data:`CONTEXTS` at which chunks join as if made in one call."""
    voice = StagedVoice(folder, names, threads=1)
    every_sound = [number for ids in config.phoneme_ids.values() for number in (*ids, 0)][:240]
    z_p, mask = voice.encode(np.array(every_sound, np.int64), np.array([0.667, 1.0, 0.8], np.float32))
    whole = voice.decode_whole(z_p, mask)
    hop, rest = divmod(len(whole), z_p.shape[2])
    if rest:
        raise _NotStreamable("its vocoder does not make a fixed number of samples per frame")
    for flow_context, vocoder_context in CONTEXTS:
        voice.names = replace(names, flow_context=flow_context, vocoder_context=vocoder_context, hop=hop)
        parts = np.concatenate(list(voice.decode(z_p, mask)))
        if float(np.max(np.abs(parts - whole))) <= TOLERANCE:
            return voice.names
    raise _NotStreamable("its chunks do not join seamlessly")
