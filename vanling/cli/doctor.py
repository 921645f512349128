"""``vanling doctor``: whether this machine can serve, and how fast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from rich.markup import escape

from vanling.cli.checks import Check, checks
from vanling.cli.common import (
    ConfigFile,
    Debug,
    Host,
    Json,
    Open,
    Port,
    Sets,
    fail,
    guarded,
    listening,
    out,
    print_json,
    settle,
)
from vanling.cli.progress import progress
from vanling.cli.running import run
from vanling.cli.speed import Speed, measure
from vanling.config import Config
from vanling.errors import VanlingError


@dataclass(slots=True)
class Examination:
    """What was found."""

    checks: list[Check] = field(default_factory=list)
    speed: Speed | None = None
    proposals: list[str] = field(default_factory=list)

    @property
    def failing(self) -> list[Check]:
        return [check for check in self.checks if check.essential and not check.ok]

    def document(self) -> dict[str, object]:
        return {
            "ok": not self.failing,
            "checks": [asdict(check) for check in self.checks],
            "measured": None if self.speed is None else self.speed.document(),
            "proposals": self.proposals,
        }


@guarded
def doctor(
    *,
    host: Host = None,
    port: Port = None,
    open_: Open = False,
    as_json: Json = False,
    config: ConfigFile = None,
    sets: Sets = None,
    debug: Debug = False,
) -> None:
    """Check libraries, models, folder, access, port and clock, measure the engines; exit 1 if serving would fail."""
    settled = settle(config, sets, debug, *listening(host, port, open_), quiet=True)
    with progress("looking around") as stage:
        found = _examine(settled, stage)
    if as_json:
        print_json(found.document())
    else:
        _show(found)
    if found.failing:
        fail("serving would fail: " + "; ".join(f"{check.name}: {check.detail}" for check in found.failing))


def _examine(config: Config, stage: Callable[[str], None]) -> Examination:
    found = Examination()
    for name, check in checks(config):
        stage(f"checking {name}")
        found.checks.append(check())
    try:
        found.speed, found.proposals = run(measure(config, stage))
        found.checks.append(Check("engines", True, "all are built"))
    except VanlingError as error:
        found.checks.append(Check("engines", False, str(error)))
    return found


def _show(found: Examination) -> None:
    console = out()
    for check in found.checks:
        mark = "[green]ok  [/]" if check.ok else "[red]FAIL[/]" if check.essential else "[yellow]note[/]"
        console.print(f"{mark} {check.name}: {escape(check.detail)}", soft_wrap=True)
    if found.speed is not None:
        for line in _speed_lines(found.speed):
            console.print(f"     {line}")
    for proposal in found.proposals or (["nothing to change"] if found.speed is not None else []):
        console.print(f"     {escape(proposal)}")


def _speed_lines(speed: Speed) -> list[str]:
    lines = [f"{speed.cores} cores; Opus takes {speed.opus_ratio:.2%} of one for each device that speaks"]
    if speed.tts_ratio is not None and speed.tts_first_ms is not None:
        lines.append(f"the voice starts after {speed.tts_first_ms:.0f} ms and takes {speed.tts_ratio:.2f} of real time")
    if speed.asr_ratio is not None and speed.asr_ms is not None:
        lines.append(f"the recogniser takes {speed.asr_ms:.0f} ms, {speed.asr_ratio:.2f} of real time")
    return lines
