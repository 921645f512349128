"""Ctrl-C at awkward moments, in processes of their own: one line, exit code 1, no traceback."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

HELD = """
import builtins, sys
from vanling.cli.main import main
real = builtins.__import__
def held(name, *more, **rest):
    if name == {module!r} or name.startswith({module!r} + "."):
        print("HELD", flush=True)
        while True:
            try:
                real("time").sleep(60)
            except {swallowed} as error:
                raise ImportError("a library turns it into something else") from error
    return real(name, *more, **rest)
builtins.__import__ = held
sys.argv = ["vanling", *{arguments!r}]
main()
"""

STUBBORN = """
import asyncio, sys
from vanling.cli.main import main
from vanling.server import runtime
class Server:
    url = "http://127.0.0.1:1"
    def __init__(self, config, report): pass
    async def start(self): pass
    async def stop(self):
        print("STOPPING", flush=True)
        await asyncio.sleep(60)
runtime.Server = Server
sys.argv = ["vanling", "serve", "--port", "0"]
main()
"""

THREAD = """
import sys, threading, time
from vanling.cli import app
from vanling.cli.main import main
def lingering():
    threading.main_thread().join()
    time.sleep(0.3)  # until the main thread waits for this one: a signal just before it sleeps is seen at the next
    print("LINGERING", flush=True)
    time.sleep(60)
threading.Thread(target=lingering).start()
sys.argv = ["vanling", "config", "example"]
main()
"""


@asynccontextmanager
async def running(program: str, cwd: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("VANLING_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, cwd=cwd, env=environment | {"XDG_DATA_HOME": str(cwd)},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def seen(process: asyncio.subprocess.Process, word: str) -> None:
    assert process.stdout is not None
    async with asyncio.timeout(60):
        while word not in (line := (await process.stdout.readline()).decode()):
            assert line, "it ended too early"


async def end(process: asyncio.subprocess.Process) -> tuple[int | None, str]:
    async with asyncio.timeout(30):
        _, err = await process.communicate()
    return process.returncode, err.decode()


@pytest.mark.parametrize("module", ["typer", "numpy", "pydantic"])
@pytest.mark.parametrize("swallowed", ["KeyboardInterrupt", "()"])
async def test_while_libraries_load(module: str, swallowed: str, tmp_path: Path) -> None:
    program = HELD.format(module=module, swallowed=swallowed, arguments=["serve"])
    async with running(program, tmp_path) as process:
        await seen(process, "HELD")
        process.send_signal(signal.SIGINT)
        assert await end(process) == (1, "vanling: interrupted\n")


async def test_while_a_command_loads_what_it_needs(tmp_path: Path) -> None:
    program = HELD.format(module="vanling.server.runtime", swallowed="()", arguments=["serve", "--port", "0"])
    async with running(program, tmp_path) as process:
        await seen(process, "HELD")
        process.send_signal(signal.SIGINT)
        assert await end(process) == (1, "vanling: interrupted\n")


async def test_a_second_time_while_sessions_are_drained(tmp_path: Path) -> None:
    async with running(STUBBORN, tmp_path) as process:
        await seen(process, "listens on")
        process.send_signal(signal.SIGINT)
        await seen(process, "STOPPING")
        process.send_signal(signal.SIGINT)
        code, err = await end(process)
    assert code == 1
    assert err.endswith("vanling: interrupted\n")
    assert "Traceback" not in err


async def test_while_a_thread_is_waited_for_at_the_end(tmp_path: Path) -> None:
    async with running(THREAD, tmp_path) as process:
        await seen(process, "LINGERING")
        process.send_signal(signal.SIGINT)
        code, err = await end(process)
    assert (code, err) == (1, "vanling: interrupted\n")
