"""What an engine's builder is given."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


def usable_cores() -> int:
    """Cores that this process may use: a container or taskset may grant fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _silent(_line: str) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class BuildContext:
    """Surroundings of a build: where prepared files are kept, and whom to tell of steps that take over a second."""

    data_dir: Path
    report: Callable[[str], None] = _silent
    cores: int = field(default_factory=usable_cores)

    @property
    def prepared_dir(self) -> Path:
        """Folder of files made once from a model (split graphs, remembered checksums)."""
        return self.data_dir / "prepared"
