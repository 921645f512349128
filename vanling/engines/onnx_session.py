"""ONNX Runtime sessions as a voice server wants them: few threads, none of them spinning while it waits."""

from __future__ import annotations

import os
from pathlib import Path

# Set before the import, when the library decides: it would otherwise report each start to its maker over the network
# (and keep a device id under ~/.cache), which its own disable_telemetry_events() comes too late for.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import onnxruntime


def open_session(model: Path, threads: int = 1) -> onnxruntime.InferenceSession:
    """Load a model for the CPU with ``threads`` threads of its own."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    # A spinning pool burns a core per session between two calls.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The arena keeps the most that any sentence ever took, for good; without it nothing here is measurably slower.
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
