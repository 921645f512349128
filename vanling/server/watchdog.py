"""The end of the process, whatever its threads and its event loop are busy with."""

from __future__ import annotations

import logging
import os
import threading
import time

FLUSH_S = 0.3
"""A thread that is stuck may hold the log's lock."""


class Watchdog:
    """Once armed, ends the process with 0 after ``limit_s``, unless it has ended by then. Nothing disarms it.

    :meth:`arm` may be called by a signal handler: the thread runs already, and one byte in a pipe is all that it
    waits for. (Starting a thread takes a lock that the interrupted code may hold.)
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._heard, self._told = os.pipe()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def arm(self) -> None:
        os.write(self._told, b"!")

    def _watch(self) -> None:
        os.read(self._heard, 1)
        time.sleep(self._limit_s)
        flush = threading.Thread(target=logging.shutdown, name="last log lines", daemon=True)
        flush.start()
        flush.join(FLUSH_S)
        os._exit(0)
