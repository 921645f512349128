"""Silero VAD on ONNX Runtime: one session for the whole server, 1.3 KiB of state per stream, many streams in a call.

The published graph takes its first axis for *time*: a call with n windows is one stream's n windows in a row. Turned by
one transposition before its LSTM it takes that axis for *streams*, and a batch of 32 costs half of 32 calls. The turned
graph is made once with the ``onnx`` package; without it the detector asks the session once per stream.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vanling.contracts.engines import Samples, VadStream
from vanling.engines.build import BuildContext
from vanling.engines.checksum import remembered_sha256
from vanling.engines.models import SILERO
from vanling.engines.onnx_session import open_session
from vanling.engines.options import SileroOptions
from vanling.engines.prepared import prepared
from vanling.errors import EngineUnavailableError

log = logging.getLogger(__name__)

WINDOW = 512
CONTEXT = 64
"""Samples of the previous window that the model sees before each window."""
STATE = 128
RECIPE = "1"


class SileroStream:
    """LSTM state and context of one stream."""

    __slots__ = ("c", "context", "h")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.h = np.zeros(STATE, np.float32)
        self.c = np.zeros(STATE, np.float32)
        self.context = np.zeros(CONTEXT, np.float32)


class SileroVad:
    """See :class:`~vanling.contracts.engines.Vad`; calls block for 0.1 ms, and 0.05 ms for each further stream."""

    window_samples = WINDOW

    def __init__(self, model: Path, *, batched: bool) -> None:
        self.batched = batched
        self._session = open_session(model)

    def new(self) -> SileroStream:
        return SileroStream()

    def push(self, streams: Sequence[VadStream], windows: Samples) -> Samples:
        """Speech probability of one window for each of n different streams."""
        ours = [stream for stream in streams if isinstance(stream, SileroStream)]
        if self.batched or len(ours) == 1:
            return self._run(ours, windows)
        return np.concatenate([self._run([stream], windows[n : n + 1]) for n, stream in enumerate(ours)])

    def _run(self, streams: list[SileroStream], windows: Samples) -> Samples:
        audio = np.concatenate((np.stack([stream.context for stream in streams]), windows), axis=1)
        h = np.stack([stream.h for stream in streams])[np.newaxis]
        c = np.stack([stream.c for stream in streams])[np.newaxis]
        probabilities, h, c = self._session.run(None, {"input": audio, "h": h, "c": c})
        tail = audio[:, -CONTEXT:]
        for n, stream in enumerate(streams):
            # Copies: a view would keep the whole batch's arrays alive for as long as its slowest stream.
            stream.h = h[0, n].copy()
            stream.c = c[0, n].copy()
            stream.context = tail[n].copy()
        return np.asarray(probabilities, np.float32).reshape(-1)


def build(options: SileroOptions, context: BuildContext) -> SileroVad:
    """Find, check and load the model, turned for batches where that is possible."""
    model = options.model or SILERO.require(context)[0]
    if not model.is_file():
        raise EngineUnavailableError(f"vad.model={model} does not exist; give the path of a Silero ONNX file")
    try:
        vad = SileroVad(_turned(model, context), batched=True)
    except (_NotTurnable, OSError) as reason:
        log.warning(
            "voice detection runs stream by stream, at twice the cost: %s",
            reason,
            extra={"component": "VAD", "event": "unbatched"},
        )
        vad = SileroVad(model, batched=False)
    vad.push([vad.new()], np.zeros((1, WINDOW), np.float32))
    return vad


class _NotTurnable(Exception):
    """Why the graph cannot be turned."""


def _turned(model: Path, context: BuildContext) -> Path:
    name = f"silero-{RECIPE}-{remembered_sha256(model, context)[:16]}"
    return prepared(context, name, lambda folder: _turn(model, folder / "batched.onnx")) / "batched.onnx"


def _turn(model: Path, target: Path) -> None:
    """Swap the LSTM's time and batch axes by changing the transposition that feeds it: (n, d, 1) → (1, n, d)."""
    try:
        import onnx  # noqa: PLC0415 - takes 0.2 s, and is needed only once
    except ImportError:
        raise _NotTurnable("the package onnx is not installed: pip install 'vanling[embedded]'") from None
    graph = onnx.load(str(model))
    lstm = [node for node in graph.graph.node if node.op_type == "LSTM"]
    feeds = [node for node in graph.graph.node if len(lstm) == 1 and node.output[0] == lstm[0].input[0]]
    if len(feeds) != 1 or feeds[0].op_type != "Transpose" or list(feeds[0].attribute[0].ints) != [0, 2, 1]:
        raise _NotTurnable(f"{model.name} is not built as expected")
    feeds[0].attribute[0].ints[:] = [2, 0, 1]
    for value in (*graph.graph.input, *graph.graph.output):
        if value.name in ("h", "c", "hn", "cn"):
            value.type.tensor_type.shape.dim[1].dim_param = "streams"
    onnx.save(graph, str(target))
