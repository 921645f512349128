"""``vanling models list | verify``: the models that came with the installation."""

from __future__ import annotations

import typer
from rich.markup import escape
from rich.table import Table

from vanling.cli.common import ConfigFile, Debug, Json, Sets, fail, guarded, out, print_json, settle, with_pip
from vanling.cli.progress import progress
from vanling.cli.usage import Command, Group
from vanling.engines.models import PACKAGED, PackagedModel

app = typer.Typer(help="The models that vanling speaks and listens with.", cls=Group)


@app.command("list", cls=Command)
@guarded
def list_(as_json: Json = False, config: ConfigFile = None, sets: Sets = None, debug: Debug = False) -> None:
    """Show which models there are, and which of them are installed."""
    settle(config, sets, debug, quiet=True)
    if as_json:
        print_json([_entry(model) for model in PACKAGED])
        return
    console = out()
    console.print(_table())
    for model in PACKAGED:
        if not model.installed():
            console.print(escape(f"for {model.name}: {with_pip(model.install)}"), soft_wrap=True)


def _table() -> Table:
    """The names are whole however narrow the terminal: they are what one looks for."""
    table = Table()
    table.add_column("model", no_wrap=True, min_width=max(len(model.name) for model in PACKAGED))
    for heading in ("for", "language", "size", "licence", "installed"):
        table.add_column(heading, overflow="fold")
    for model in PACKAGED:
        installed = "yes" if model.installed() else "no"
        table.add_row(model.name, model.kind, model.language, f"{model.size / 1e6:.0f} MB", model.licence, installed)
    return table


@app.command(cls=Command)
@guarded
def verify(as_json: Json = False, config: ConfigFile = None, sets: Sets = None, debug: Debug = False) -> None:
    """Check every installed model's files against their known SHA-256."""
    settle(config, sets, debug, quiet=True)
    results = []
    with progress("reading the models") as stage:
        for model in PACKAGED:
            stage(f"reading {model.name}")
            results.append((model, [] if model.folder() is None else model.verify()))
    faults = [fault for _, found in results for fault in found]
    if as_json:
        print_json(
            {
                "ok": not faults,
                "models": [_entry(model) | {"ok": not found, "faults": found} for model, found in results],
            }
        )
    else:
        for model, found in results:
            state = "not installed" if model.folder() is None else "damaged" if found else "ok"
            out().print(f"{model.name}: {state}")
    if faults:
        fail("; ".join(faults))


def _entry(model: PackagedModel) -> dict[str, object]:
    return {
        "name": model.name,
        "kind": model.kind,
        "language": model.language,
        "licence": model.licence,
        "bytes": model.size,
        "package": f"{model.distribution}=={model.version}",
        "extra": model.extra,
        "installed": model.installed(),
    }
