"""A signal is heard whatever the process is busy with."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from vanling.server.signals import stop_event

BUSY = """
import asyncio, logging, uvloop
from vanling.server.signals import stop_event
from vanling.server.watchdog import Watchdog

async def main():
    with stop_event(Watchdog(0.05).arm):
        handler = logging.StreamHandler()
        logging.getLogger().addHandler(handler)
        handler.acquire()
        print("busy", flush=True)
        while True:
            pass

asyncio.Runner(loop_factory={loop}.new_event_loop).run(main())
"""


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_loop_that_never_comes_to_rest_does_not_keep_the_process(loop, number):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", BUSY.format(loop=loop), stdout=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(60):
            assert await process.stdout.readline() == b"busy\n"
            process.send_signal(number)
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_what_is_called_at_once_does_not_replace_the_event(number):
    before = signal.getsignal(number)
    calls = []
    with stop_event(lambda: calls.append(number)) as stop:
        os.kill(os.getpid(), number)
        assert calls == [number]
        async with asyncio.timeout(10):
            await stop.wait()
    assert signal.getsignal(number) in (before, signal.SIG_DFL, signal.default_int_handler)
