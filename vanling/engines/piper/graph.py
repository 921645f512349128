"""Cut a Piper voice (VITS, arXiv:2106.06103) into encoder, flow and vocoder, so that its sound can be made in chunks.

The cuts are found by structure, not by name: the vocoder begins at the convolution before the first transposed one, the
flow where noise joins the encoder's means (``z_p``). The encoder needs the whole sentence; flow and vocoder need only a
few frames around a chunk. Needs the ``onnx`` package, once per voice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import onnx
from onnx import GraphProto, ModelProto, NodeProto

from vanling.engines.piper.stages import StageNames

SPEAKER_INPUT = "sid"
"""The one graph input that may reach past the encoder: it says who speaks."""


class UnlikeGraphError(Exception):
    """Why a voice cannot be cut."""


def split_voice(model: Path, folder: Path) -> StageNames:
    """Write ``encoder.onnx``, ``flow.onnx`` and ``vocoder.onnx`` into ``folder``; raises UnlikeGraphError."""
    voice = onnx.load(str(model))
    graph = _Graph(voice.graph)
    cuts = graph.find_cuts()
    audio = voice.graph.output[0].name
    _save(voice, graph, [], [cuts.z_p, cuts.mask], folder / "encoder.onnx")
    _save(voice, graph, [cuts.z_p, cuts.mask], [cuts.z], folder / "flow.onnx")
    _save(voice, graph, [cuts.z], [audio], folder / "vocoder.onnx")
    return cuts


class _Graph:
    """Who makes and who uses each tensor."""

    def __init__(self, graph: GraphProto) -> None:
        self.proto = graph
        self.inputs = {value.name for value in graph.input} - {value.name for value in graph.initializer}
        self.maker = {output: node for node in graph.node for output in node.output}
        self.users: dict[str, list[NodeProto]] = {}
        for node in graph.node:
            for name in node.input:
                self.users.setdefault(name, []).append(node)

    def find_cuts(self) -> StageNames:
        audio = self.proto.output[0].name
        for z in self._vocoder_inputs():
            if self.inputs_of([audio], stops={z}) <= {SPEAKER_INPUT}:
                for z_p in self._noisy_means():
                    mask = self._mask_between(z_p, z)
                    if mask is not None:
                        return StageNames(z_p, mask, z)
        raise UnlikeGraphError("its graph has no vocoder or no flow where a Piper voice has them")

    def above(self, outputs: Iterable[str], stops: set[str]) -> list[NodeProto]:
        """Nodes that ``outputs`` are made by, going no further than ``stops``; in the graph's order."""
        wanted: set[str] = set()
        queue = [name for name in outputs if name not in stops]
        while queue:
            name = queue.pop()
            node = self.maker.get(name)
            if node is None or name in wanted:
                continue
            wanted.update(node.output)
            queue.extend(source for source in node.input if source and source not in stops)
        return [node for node in self.proto.node if wanted.intersection(node.output)]

    def inputs_of(self, outputs: Iterable[str], stops: set[str]) -> set[str]:
        """Graph inputs that ``outputs`` depend on, other than through ``stops``."""
        outputs = list(outputs)
        used = {name for node in self.above(outputs, stops) for name in node.input} | set(outputs)
        return (used & self.inputs) - stops

    def _below(self, name: str) -> set[str]:
        found: set[str] = set()
        queue = [name]
        while queue:
            for node in self.users.get(queue.pop(), []):
                queue.extend(output for output in node.output if output not in found)
                found.update(node.output)
        return found

    def _vocoder_inputs(self) -> Iterator[str]:
        """Inputs of the convolutions right above the first transposed one, nearest first."""
        first = next((node for node in self.proto.node if node.op_type == "ConvTranspose"), None)
        queue = [first.input[0]] if first is not None else []
        while queue:
            node = self.maker.get(queue.pop(0))
            if node is None:
                continue
            if node.op_type == "Conv":
                yield node.input[0]
            elif node.op_type in ("LeakyRelu", "Add", "Mul", "Div"):
                queue.extend(node.input)

    def _noisy_means(self) -> Iterator[str]:
        """Sums of scaled noise and something else: ``m_p + noise · exp(logs_p) · noise_scale``."""
        for node in self.proto.node:
            if node.op_type != "RandomNormalLike":
                continue
            name = node.output[0]
            while len(users := self.users.get(name, [])) == 1 and users[0].op_type == "Mul":
                name = users[0].output[0]
            if len(users) == 1 and users[0].op_type == "Add":
                yield users[0].output[0]

    def _mask_between(self, z_p: str, z: str) -> str | None:
        """The one tensor besides ``z_p`` that the way to ``z`` takes from above it; None if ``z_p`` is not the cut."""
        below = self._below(z_p)
        if z not in below:
            return None
        way = [node for node in self.above([z], stops={z_p}) if below.intersection(node.output)]
        sides = {name for node in way for name in node.input if name and name not in below and name != z_p}
        moving = {name for name in sides if self.inputs_of([name], stops=set()) - {SPEAKER_INPUT}}
        return moving.pop() if len(moving) == 1 else None


def _save(voice: ModelProto, graph: _Graph, stops: list[str], outputs: list[str], path: Path) -> None:
    nodes = graph.above(outputs, set(stops))
    used = {name for node in nodes for name in node.input}
    known = {value.name: value for value in (*graph.proto.input, *graph.proto.output)}
    part = onnx.helper.make_graph(
        nodes,
        path.stem,
        [_float(name) for name in stops] + [value for value in graph.proto.input if value.name in used],
        [known.get(name) or _float(name) for name in outputs],
        [value for value in graph.proto.initializer if value.name in used],
    )
    onnx.save(onnx.helper.make_model(part, opset_imports=voice.opset_import, ir_version=voice.ir_version), str(path))


def _float(name: str) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
