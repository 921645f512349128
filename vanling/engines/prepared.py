"""Files that are made once from a model and kept: built aside, renamed into place, checked when used."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from vanling.engines.build import BuildContext
from vanling.engines.checksum import file_sha256, remembered_sha256

log = logging.getLogger(__name__)

MANIFEST = "files.json"
_REDO = {"component": "MODELS", "event": "redo"}


def prepared(context: BuildContext, name: str, make: Callable[[Path], None]) -> Path:
    """Folder ``data_dir/prepared/<name>`` filled by ``make(folder)``; made anew if missing, partial or changed.

    ``name`` has to change with whatever the content depends on (the model's checksum, the recipe's version). Two
    servers that start at once both make it, and the later rename loses without harm.
    """
    folder = context.prepared_dir / name
    if _intact(folder, context):
        return folder
    partial = context.prepared_dir / f"{name}.{os.getpid()}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        make(partial)
        sums = {path.name: file_sha256(path) for path in sorted(partial.iterdir())}
        (partial / MANIFEST).write_text(json.dumps(sums, indent=1))
        shutil.rmtree(folder, ignore_errors=True)
        try:
            partial.rename(folder)
        except OSError:
            if not _intact(folder, context):
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _intact(folder: Path, context: BuildContext) -> bool:
    try:
        sums = json.loads((folder / MANIFEST).read_bytes())
        changed = [name for name, digest in sums.items() if remembered_sha256(folder / name, context) != digest]
    except FileNotFoundError:
        return False
    except (OSError, ValueError, AttributeError) as error:
        log.warning("%s is damaged (%s) and made anew", folder, error, extra=_REDO)
        return False
    if changed:
        log.warning("%s was changed and is made anew", folder / changed[0], extra=_REDO)
    return not changed
