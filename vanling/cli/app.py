"""The command ``vanling`` with its subcommands."""

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
from vanling.cli.usage import FLAG, Command, Group

app = typer.Typer(
    cls=Group,
    name="vanling",
    help="A self-hosted voice server: one small machine answers every voice device in the house.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command(cls=Command)(serve)
app.command(cls=Command)(demo)
app.command(cls=Command)(talk)
app.command(cls=Command)(doctor)
app.add_typer(models.app, name="models")
app.add_typer(config.app, name="config")


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"vanling {__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", metavar=FLAG, callback=_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Nothing to do before a command; its options act by themselves."""
