"""``vanling serve``: the server in the foreground, until a signal ends it."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from vanling.cli.addresses import ota_url
from vanling.cli.common import ConfigFile, Debug, Host, Open, Port, Sets, guarded, listening, settle
from vanling.cli.progress import progress
from vanling.cli.running import hurried, run, stoppable
from vanling.config import Config
from vanling.errors import StartError

if TYPE_CHECKING:
    from vanling.server.runtime import Server

DRAIN_S = 4.0
"""Sessions get this long to end; the rest of the five seconds is for threads and files."""
LIMIT_S = 4.5

logger = logging.getLogger(__name__)


@guarded
def serve(
    *,
    host: Host = None,
    port: Port = None,
    open_: Open = False,
    config: ConfigFile = None,
    sets: Sets = None,
    debug: Debug = False,
) -> None:
    """Serve every voice device in the house, until Ctrl-C or SIGTERM."""
    with stoppable():
        settled = settle(config, sets, debug, *listening(host, port, open_))
        check_exposure(settled)
        # Not in the event loop, which puts off Ctrl-C until the next await: the models' libraries take their time.
        from vanling.server.runtime import Server  # noqa: PLC0415

        run(_serve(settled, Server))


def check_exposure(config: Config) -> None:
    """Refuse to start where nobody could connect, or where everybody could without anyone having said so.

    Raises:
        StartError: with the ways to mend it.
    """
    if not config.auth_required:
        if not config.server.loopback:
            logger.warning(
                "anyone who reaches this address may connect: no token is asked for",
                extra={"component": "AUTH", "event": "open", "host": config.server.host},
            )
        return
    if config.tokens:
        return
    if config.server.loopback:
        raise StartError("auth.required is true but auth.tokens is empty, so nobody could connect: add a token")
    raise StartError(
        f"listening on {config.server.host} lets others in, so a token is needed: set auth.tokens, "
        "or let anyone connect with --open"
    )


async def _serve(config: Config, server_type: type[Server]) -> None:
    from vanling.server.signals import stop_event  # noqa: PLC0415

    with stop_event() as stop:
        with progress("starting") as report:
            server = server_type(config, report)
            starting = asyncio.create_task(server.start())
            await _either(starting, stop)
        if not stop.is_set():
            await starting
            _announce(config, server.url)
            await stop.wait()
        with hurried():
            _limit_the_end()
            await _give_up(starting)
            await _drain(server.stop())


async def _either(starting: asyncio.Task[None], stop: asyncio.Event) -> None:
    """Until it has started, or a signal comes first."""
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()


async def _give_up(starting: asyncio.Task[None]) -> None:
    """Nothing is served by a start that is under way, so it need not be drained; one that failed still says why."""
    if starting.done():
        await starting
        return
    starting.cancel()
    await asyncio.wait({starting}, timeout=0.5)


def _limit_the_end() -> None:
    """A worker thread may be in the middle of a call that nothing can interrupt, and Python waits for it to end."""
    watchdog = threading.Timer(LIMIT_S, _leave)
    watchdog.daemon = True
    watchdog.start()


def _leave() -> None:
    logging.shutdown()
    os._exit(0)


async def _drain(stop: Coroutine[Any, Any, None]) -> None:
    logger.info("stopping", extra={"component": "SERVER", "event": "server_stopping"})
    try:
        async with asyncio.timeout(DRAIN_S):
            await stop
    except TimeoutError:
        logger.warning(
            "some sessions did not end in time and were dropped",
            extra={"component": "SERVER", "event": "drain_timeout"},
        )
    logger.info("stopped", extra={"component": "SERVER", "event": "server_stopped"})


def _announce(config: Config, url: str) -> None:
    """Tell the log and, unless a machine reads along, the person at the terminal."""
    device_url = ota_url(url, config.server.host, config.server.public_url)
    logger.info(
        "listening", extra={"component": "SERVER", "event": "server_started", "url": url, "ota_url": device_url}
    )
    if config.log.format == "json":
        return
    lines = [f"vanling listens on {url}"]
    if config.server.loopback and not config.server.public_url:
        lines.append("Only this machine can connect; for devices, start with --host 0.0.0.0")
    else:
        lines.append(f"In the device's Wi-Fi setup, enter as OTA URL: {device_url}")
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
