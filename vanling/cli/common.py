"""What every command has in common: its options, how it fails, and where it writes.

Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 the work failed (one line says why), 2 wrong
usage. A traceback is for ``--debug`` only.
"""

from __future__ import annotations

import functools
import json
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, NoReturn, ParamSpec

import typer
from rich.console import Console
from typer.exceptions import TyperException

from vanling import logs
from vanling.cli.usage import FLAG, whole_number
from vanling.config import Config, load_config
from vanling.errors import VanlingError

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Configuration file (TOML); else the one VANLING_CONFIG names."),
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Set one key; wins over file and environment. Repeatable."),
]
Debug = Annotated[bool, typer.Option("--debug", metavar=FLAG, help="Log everything, and show tracebacks.")]
Json = Annotated[
    bool, typer.Option("--json", metavar=FLAG, help="Print one JSON document on stdout, and nothing else.")
]
Host = Annotated[str | None, typer.Option(metavar="H", help="Address to listen on; 0.0.0.0 for the network.")]
Port = Annotated[int | None, typer.Option(metavar="P", parser=whole_number(0, 65535), help="Port; 0 takes a free one.")]
Open = Annotated[bool, typer.Option("--open", metavar=FLAG, help="Let anyone connect, without a token.")]

P = ParamSpec("P")


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Turn whatever a command raises into one line on stderr and exit code 1; it must have a ``debug`` option."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        debug = bool(kwargs.get("debug"))
        try:
            command(*args, **kwargs)
        except (typer.Exit, typer.Abort, TyperException, BrokenPipeError):
            raise
        except VanlingError as error:
            fail(str(error), debug)
        except KeyboardInterrupt:
            fail("interrupted")
        except Exception as error:
            fail(f"unexpected {type(error).__name__}: {error} (--debug shows where)", debug)

    return run


def fail(why: str, debug: bool = False) -> NoReturn:
    """One line on stderr, exit code 1; within an ``except`` and with ``debug``, the traceback above it."""
    if debug and sys.exc_info()[0] is not None:
        sys.stderr.write(traceback.format_exc())
    sys.stderr.write(f"vanling: {' '.join(why.split())}\n")
    raise typer.Exit(1)


def settle(file: Path | None, sets: Sequence[str] | None, debug: bool, *more: str, quiet: bool = False) -> Config:
    """Load the configuration and set the logs up by it.

    ``more`` are settings of the command's own options and win over ``sets``. A ``quiet`` command, whose reader wants
    its result and not a log, logs warnings only, unless the user asked for a level.
    """
    for text in sets or []:
        section, dot, rest = text.partition(".")
        if not (section and dot and "=" in rest):
            raise typer.BadParameter(f"{text!r} is not section.key=value, such as server.port=8080", param_hint="--set")
    chosen = [*(sets or []), *more, *(["log.level=debug"] if debug else [])]
    config = load_config(file, chosen, os.environ)
    level = "warning" if quiet and not config.origin("log.level") else config.log.level
    logs.configure(level, config.log.format, config.log.file)
    return config


def listening(host: str | None, port: int | None, open_: bool) -> list[str]:
    """The settings that ``--host``, ``--port`` and ``--open`` stand for."""
    chosen = [f"server.host={host}"] if host is not None else []
    chosen += [f"server.port={port}"] if port is not None else []
    return chosen + (["auth.required=false"] if open_ else [])


def with_pip(command: str) -> str:
    """``pip install …`` as it works from any shell: for the Python that runs here, be it in a virtual environment."""
    return command.replace("pip install", f"{shlex.quote(sys.executable)} -m pip install", 1)


def out() -> Console:
    """For people, on stdout."""
    return Console(highlight=False)


def err() -> Console:
    """For people, on stderr."""
    return Console(stderr=True, highlight=False)


def print_json(document: object) -> None:
    """The one JSON document of a ``--json`` run."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()
