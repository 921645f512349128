"""SIGINT and SIGTERM as an event that a server can wait for."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stop_event(at_once: Callable[[], None] | None = None) -> Iterator[asyncio.Event]:
    """An event that is set by the first SIGINT or SIGTERM; the handlers are gone afterwards. A second signal does what
    it does by default: whoever is in a hurry presses Ctrl-C twice.

    ``at_once`` is called however busy the loop is, in the middle of whatever runs: it may do next to nothing.
    """
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
            if at_once is not None:
                _call_first(at_once, number)
    try:
        yield stop
    finally:
        remove()


def _call_first(at_once: Callable[[], None], number: int) -> None:
    """Before the loop's own handler. The loop hears of a signal by its wakeup descriptor, which stays as it is."""
    loops_own = signal.getsignal(number)

    def handler(number: int, frame: FrameType | None) -> None:
        at_once()
        if callable(loops_own):
            loops_own(number, frame)

    signal.signal(number, handler)
    signal.siginterrupt(number, False)  # as the loop has it
