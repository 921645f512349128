"""SIGINT and SIGTERM as an event that a server can wait for."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stop_event() -> Iterator[asyncio.Event]:
    """An event that is set by the first SIGINT or SIGTERM; the handlers are gone afterwards. A second signal does what
    it does by default: whoever is in a hurry presses Ctrl-C twice."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()

    def asked() -> None:
        stop.set()
        remove()

    def remove() -> None:
        for number in STOP_SIGNALS:
            with contextlib.suppress(NotImplementedError):
                loop.remove_signal_handler(number)

    for number in STOP_SIGNALS:
        with contextlib.suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, asked)
    try:
        yield stop
    finally:
        remove()
