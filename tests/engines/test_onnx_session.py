"""An offline product tells nobody that it runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from vanling.engines.models import SILERO

PROGRAM = """
import sys
from pathlib import Path
from vanling.engines.onnx_session import open_session
open_session(Path(sys.argv[1]))
"""


@pytest.mark.skipif(not SILERO.installed(), reason="the embedded models are not installed")
def test_onnxruntime_keeps_no_device_id_and_reports_nothing(tmp_path):
    folder = SILERO.folder()
    assert folder is not None
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment["HOME"] = str(tmp_path)
    environment.pop("XDG_CACHE_HOME", None)
    model = folder / SILERO.files[0].path
    command = [sys.executable, "-c", PROGRAM, str(model)]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("*")) == []
