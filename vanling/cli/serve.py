"""``vanling serve``: the server in the foreground, until a signal ends it."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vanling.cli.addresses import device_url, is_unspecified, ota_url, reached_at, unknown_address
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

TOKENLESS = "XiaoZhi devices cannot connect: they have no token, and vanling gives out none yet; they need --open"

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
    if why := unknown_address(config.server.host):
        raise StartError(f"cannot listen: {why}; 127.0.0.1 is for this machine alone, 0.0.0.0 for all that reach it")
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

    with stop_event(_limit_the_end()) as stop:
        with progress("starting") as report:
            server = server_type(config, report)
            starting = asyncio.create_task(server.start())
            await _either(starting, stop)
        if not stop.is_set():
            await starting
            _announce(config, server.url)
            await stop.wait()
        with hurried():
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


def _limit_the_end() -> Callable[[], None]:
    """To be called when the end begins. The event loop may be busy then, or a worker thread in the middle of a call
    that nothing can interrupt, and Python waits for it to end."""
    from vanling.server.watchdog import Watchdog  # noqa: PLC0415

    return Watchdog(LIMIT_S).arm


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
    logger.info(
        "listening",
        extra={
            "component": "SERVER",
            "event": "server_started",
            "url": url,
            "ota_url": ota_url(url, config.server.host, config.server.public_url),
        },
    )
    if config.log.format == "json":
        if config.auth_required:
            logger.warning(TOKENLESS, extra={"component": "AUTH", "event": "devices_without_token"})
        return
    sys.stdout.write("\n".join([_where(config, url), *_invitation(config, url)]) + "\n")
    sys.stdout.flush()


def _where(config: Config, url: str) -> str:
    """The last word is a URL at which the server answers: scripts read it."""
    host = config.server.host
    if not is_unspecified(host):
        return f"vanling listens on {url}"
    line = f"vanling listens on all addresses, port {urlsplit(url).port}: here {url}"
    others = reached_at(url, host)
    return line if others == url else f"{line}, in the network {others}"


def _invitation(config: Config, url: str) -> list[str]:
    """What to do next, for who has a device or a client to connect."""
    server = config.server
    if not config.auth_required:
        if server.loopback and not server.public_url:
            return ["Only this machine can connect; for devices, start with --host 0.0.0.0 --open (or set auth.tokens)"]
        return [f"In the device's Wi-Fi setup, enter as OTA URL: {ota_url(url, server.host, server.public_url)}"]
    door = device_url(url, server.host, server.public_url)
    return [f"Clients that can be given a token may connect to {door}", f"Warning: {TOKENLESS}"]
