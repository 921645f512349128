"""Where the process begins. Loading the commands takes a moment, so nothing is loaded before Ctrl-C has an answer."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from types import FrameType

BY_CTRL_C = 130
"""What typer exits with when Ctrl-C comes while it reads the command line."""


def main() -> None:
    """Entry point of the ``vanling`` script."""
    # Somebody who starts us in the background of a script has Ctrl-C ignored, and means it.
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, leave)
    from vanling.cli.app import app  # noqa: PLC0415

    if heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app()
    except SystemExit as done:
        if done.code == BY_CTRL_C:
            leave()
        raise
    finally:
        if heeded:
            # Python waits for threads at its end, and would answer with a traceback.
            signal.signal(signal.SIGINT, leave)


def leave(_number: int = signal.SIGINT, _frame: FrameType | None = None) -> None:
    """End the process now, as interrupted: libraries that are half loaded must not see an exception."""
    with suppress(OSError):
        os.write(2, b"vanling: interrupted\n")
    os._exit(1)
