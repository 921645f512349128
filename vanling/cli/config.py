"""``vanling config show | example``."""

from __future__ import annotations

import sys

import typer

from vanling.cli.common import ConfigFile, Debug, Sets, guarded, settle
from vanling.cli.usage import Command, Group
from vanling.config import ENGINE_KINDS, EngineOptions, example_toml
from vanling.config import show as shown
from vanling.engines.registry import check_section, engine_names

app = typer.Typer(help="What is configured, and what can be.", cls=Group)


@app.command(cls=Command)
@guarded
def show(config: ConfigFile = None, sets: Sets = None, debug: Debug = False) -> None:
    """Print what is in effect as TOML: secrets masked, and where each value that is no default was set."""
    settled = settle(config, sets, debug, quiet=True)
    for kind in ENGINE_KINDS:
        check_section(kind, settled.engine_section(kind), settled.conversation_keys(kind))
    sys.stdout.write(shown(settled, _engines()))


@app.command(cls=Command)
@guarded
def example(config: ConfigFile = None, sets: Sets = None, debug: Debug = False) -> None:
    """Print a configuration file to start from: every key, its default, and what it does."""
    settle(config, sets, debug, quiet=True)
    sys.stdout.write(example_toml(_engines()))


def _engines() -> EngineOptions:
    """Every engine that is known, with its options."""
    return {
        kind: {name: check_section(kind, {"engine": name})[0].options.model_fields for name in engine_names(kind)}
        for kind in ENGINE_KINDS
    }
