"""What has to be right on a machine before vanling can serve on it; each check answers in one sentence."""

from __future__ import annotations

import asyncio
import errno
import importlib
import json
import os
import socket
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from vanling.cli.addresses import OTA_PATH, is_unspecified, unknown_address
from vanling.cli.common import with_pip
from vanling.cli.serve import check_exposure
from vanling.config import Config
from vanling.engines.models import PACKAGED
from vanling.errors import StartError

CORE = ("opus", "resample", "framing", "endpoint", "pacer", "pcm")
LIBRARIES = ("numpy", "fastapi", "uvicorn", "websockets", "pydantic", "typer")
SPEECH_LIBRARIES = ("ctranslate2", "tokenizers", "onnxruntime", "onnx", "gruut")
NOT_BEFORE = 1_767_225_600
"""2026-01-01: a clock that shows an earlier time was never set (a board without a battery starts in 1970)."""
ANSWER_S = 3.0
"""A server in the same machine answers sooner."""
LATE_MS = 10.0
"""A timer this late makes gaps in the audio."""


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool
    detail: str
    essential: bool = True
    """Whether serving fails with it."""


def checks(config: Config) -> Iterator[tuple[str, Callable[[], Check]]]:
    """Name and check of everything that can be told without loading a model."""
    yield "libraries", libraries
    yield "models", models
    yield "data folder", lambda: data_dir(config.server.data_dir)
    yield "access", lambda: access(config)
    yield "certificate", lambda: certificate(config)
    yield "port", lambda: port(config.server.host, config.server.port, bool(config.server.tls_cert))
    yield "clock", clock
    yield "timers", timers


def libraries() -> Check:
    """The compiled core must load; the libraries of speech are needed by the embedded engines only."""
    for module in CORE:
        try:
            importlib.import_module(f"vanling.core.{module}")
        except ImportError as error:
            return Check("libraries", False, f"the compiled core does not load ({error}): install vanling again")
    found = [f"{name} {_version(name)}" for name in (*LIBRARIES, *SPEECH_LIBRARIES) if _version(name)]
    missing = [name for name in SPEECH_LIBRARIES if not _version(name)]
    hint = with_pip(f"; not installed: {', '.join(missing)} (pip install 'vanling[embedded]')") if missing else ""
    return Check("libraries", not missing, ", ".join(found) + hint, essential=False)


def models() -> Check:
    """The files of installed models are the ones that were tested."""
    faults = [fault for model in PACKAGED if model.folder() is not None for fault in model.verify()]
    if faults:
        return Check("models", False, "; ".join(faults))
    installed = [model.name for model in PACKAGED if model.installed()]
    return Check("models", bool(installed), ", ".join(installed) or "none is installed", essential=False)


def data_dir(folder: Path) -> Check:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-"):
            pass
        free_gb = _free_bytes(folder) / 1e9
    except OSError as error:
        return Check("data folder", False, f"{folder} cannot be written: {error.strerror or error}")
    if free_gb < 0.3:
        return Check("data folder", False, f"{folder} has only {free_gb * 1000:.0f} MB left; a voice needs 100", False)
    return Check("data folder", True, f"{folder}, {free_gb:.1f} GB free")


def access(config: Config) -> Check:
    try:
        check_exposure(config)
    except StartError as error:
        return Check("access", False, str(error))
    asked = "a token is asked for" if config.auth_required else "no token is asked for"
    return Check("access", True, f"listens on {config.server.host}, {asked}")


def certificate(config: Config) -> Check:
    for name in filter(None, (config.server.tls_cert, config.server.tls_key)):
        if not os.access(name, os.R_OK):
            return Check("certificate", False, f"{name} cannot be read")
    return Check("certificate", True, config.server.tls_cert or "none: http and ws")


def port(host: str, number: int, secure: bool = False) -> Check:
    """Free, or taken by vanling itself; ``secure``: it would speak TLS there."""
    if why := unknown_address(host):
        return Check("port", False, why)
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host or None, number, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, proto) as probe:
            # As the server binds: connections of an earlier run that linger are no obstacle.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except OSError as error:
        if error.errno == errno.EADDRINUSE and runs_at(host, number, secure):
            return Check("port", True, f"{host}:{number}: vanling already runs there")
        why = "in use" if error.errno == errno.EADDRINUSE else error.strerror or str(error)
        return Check("port", False, f"{host}:{number} cannot be listened on: {why}")
    return Check("port", True, f"{host}:{number} is free")


def runs_at(host: str, number: int, secure: bool) -> bool:
    """Whether what answers there is vanling: it says that it is well, and has a bootstrap that bears its name."""
    where = "localhost" if is_unspecified(host) else host
    try:
        return json.loads(_get(where, number, secure, "/healthz"))["status"] == "ok" and b"vanling" in _get(
            where, number, secure, OTA_PATH
        )
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return False


def _get(host: str, number: int, secure: bool, path: str) -> bytes:
    connection = (
        # Whose certificate it is does not matter for the question whether anybody is there.
        HTTPSConnection(host, number, timeout=ANSWER_S, context=ssl._create_unverified_context())
        if secure
        else HTTPConnection(host, number, timeout=ANSWER_S)
    )
    with closing(connection):
        connection.request("GET", path)
        return connection.getresponse().read(65_536)


def clock() -> Check:
    """Devices set their clocks by ours, and certificates are checked by it."""
    now = time.time()
    shown = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    if now < NOT_BEFORE:
        return Check("clock", False, f"it shows {shown}, which is past: set it, devices take their time from it", False)
    return Check("clock", True, shown)


def timers() -> Check:
    """How late a timer of the event loop is: audio leaves by it."""
    late_ms = asyncio.run(_lateness_ms())
    return Check("timers", late_ms < LATE_MS, f"at most {late_ms:.1f} ms late", essential=False)


async def _lateness_ms() -> float:
    worst = 0.0
    for _ in range(50):
        due = time.monotonic() + 0.01
        await asyncio.sleep(0.01)
        worst = max(worst, time.monotonic() - due)
    return worst * 1000.0


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _free_bytes(folder: Path) -> int:
    stat = os.statvfs(folder)
    return stat.f_bavail * stat.f_frsize
