"""The command ``vanling``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from vanling import __version__
from vanling.cli import config, models
from vanling.cli.demo import demo
from vanling.cli.doctor import doctor
from vanling.cli.serve import serve
from vanling.cli.talk import talk

app = typer.Typer(
    name="vanling",
    help="A self-hosted voice server: one small machine answers every voice device in the house.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(serve)
app.command()(demo)
app.command()(talk)
app.command()(doctor)
app.add_typer(models.app, name="models")
app.add_typer(config.app, name="config")


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"vanling {__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Nothing to do before a command; its options act by themselves."""


def main() -> None:
    """Entry point of the ``vanling`` script."""
    app()
