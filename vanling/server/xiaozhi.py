"""The XiaoZhi door: one socket, one translator, one session."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable

from vanling.protocols.xiaozhi import Refusal, XiaozhiTranslator
from vanling.protocols.xiaozhi.identity import read_id
from vanling.server.door_session import DoorSession, Identity, SessionFactory
from vanling.server.settings import WireLimits
from vanling.server.upgrade import Connection, UpgradeRequest
from vanling.session.frame import Audio, Close, CloseOut, Error, OutputMessage

log = logging.getLogger(__name__)

PATHS = ("/xiaozhi/v1", "/vanling/v1")

LOGGED_ODDITIES = 5
"""Of each kind, for one connection: one client must not fill the log. It is told of all that it is told of."""


class XiaozhiDoor:
    """Opens a session for each connection; knows the live one of each device."""

    def __init__(self, sessions: SessionFactory, limits: WireLimits) -> None:
        self.sessions = sessions
        self.limits = limits
        self._connections: set[XiaozhiConnection] = set()
        self._by_device: dict[str, XiaozhiConnection] = {}
        self._closings: set[asyncio.Task[None]] = set()

    def __call__(self, request: UpgradeRequest) -> XiaozhiConnection:
        return XiaozhiConnection(self, identify(request), _framing_version(request))

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._connections)

    async def drain(self, code: int = 1001, reason: str = "server is going away") -> None:
        """Close every connection and wait until their sessions are gone; cancelled, it cancels what is not."""
        for connection in tuple(self._connections):
            connection.end(code, reason, "server_shutdown")
        try:
            while self._closings:
                await asyncio.wait(tuple(self._closings))
        finally:
            for late in self._closings:
                log.warning("%s: given up", late.get_name(), extra={"component": "WS", "event": "close_late"})
                late.cancel()

    def opened(self, connection: XiaozhiConnection) -> None:
        self._connections.add(connection)
        device_id = connection.who.device_id
        if not device_id:
            return
        older = self._by_device.get(device_id)
        self._by_device[device_id] = connection
        if older is not None:  # half-open, most often: the device has long forgotten it
            older.end(1000, "replaced", "replaced")

    def gone(self, connection: XiaozhiConnection, session: DoorSession | None, reason: str) -> None:
        self._connections.discard(connection)
        if self._by_device.get(connection.who.device_id) is connection:
            del self._by_device[connection.who.device_id]
        if session is not None:
            task = asyncio.get_running_loop().create_task(session.close(reason), name=f"close session {session.id}")
            self._closings.add(task)
            task.add_done_callback(self._closed)

    def _closed(self, task: asyncio.Task[None]) -> None:
        self._closings.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error(
                "session did not close cleanly",
                exc_info=task.exception(),
                extra={"component": "WS", "event": "close_failed"},
            )


class XiaozhiConnection:
    """One device: the socket's handler on one side, the session's :class:`Outbound` on the other."""

    def __init__(self, door: XiaozhiDoor, who: Identity, framing_version: int | None) -> None:
        self.who = who
        self._door = door
        self._translator = XiaozhiTranslator(framing_version, door.limits.device, note=self._note)
        self._connection: Connection | None = None
        self._session: DoorSession | None = None
        self._hello_timer: asyncio.TimerHandle | None = None
        self._ending = False
        self._logged: Counter[str] = Counter()

    # --- the socket's handler -----------------------------------------------------------------------------------

    def on_open(self, connection: Connection) -> None:
        self._connection = connection
        self._session = self._door.sessions.open(self, self.who)
        self._translator.session_id = self._session.id
        self._hello_timer = asyncio.get_running_loop().call_later(self._door.limits.hello_timeout_s, self._no_hello)
        self._door.opened(self)
        self._log("connected", "connected")

    def on_message(self, message: str | bytes) -> None:
        for item in self._translator.receive(message):
            if self._session is None:  # an earlier item has ended it
                return
            if isinstance(item, Refusal):
                self._refuse(item)
            else:
                self._session.feed(item)
        if self._hello_timer is not None and self._translator.greeted:
            self._hello_timer.cancel()
            self._hello_timer = None

    def on_closed(self, code: int, reason: str) -> None:
        self._log("disconnected", f"disconnected ({code})")
        self._let_go("client_disconnect")

    # --- the session's way out ----------------------------------------------------------------------------------

    def send(self, message: OutputMessage) -> None:
        connection = self._connection
        if connection is None or connection.closed:
            return
        if isinstance(message, CloseOut):
            if not self._ending:
                self._close(1000, message.reason, message.reason)
            return
        if isinstance(message, Error):
            self._log("error", f"error to the client ({message.code.value})")
        wire = self._translator.encode(message)
        if isinstance(wire, str):
            connection.send_text(wire)
        elif wire is not None and isinstance(message, Audio):
            connection.send_bytes(wire)

    def writable(self) -> bool:
        return self._connection is not None and self._connection.writable()

    def when_writable(self, callback: Callable[[], None]) -> None:
        if self._connection is not None:
            self._connection.when_writable(callback)

    # --- the end ------------------------------------------------------------------------------------------------

    def end(self, code: int, reason: str, why: str) -> None:
        """End the session and close the socket in the protocol's way, in this order: a device that is being spoken to
        is owed its ``tts stop``."""
        if self._ending:
            return
        self._ending = True
        try:
            if self._session is not None:
                self._session.feed(Close(reason=why))
        finally:
            self._close(code, reason, why)

    def _close(self, code: int, reason: str, why: str) -> None:
        if self._connection is not None:
            self._connection.close(code, reason)
        self._let_go(why)

    def _let_go(self, why: str) -> None:
        if self._hello_timer is not None:
            self._hello_timer.cancel()
            self._hello_timer = None
        session, self._session = self._session, None
        self._door.gone(self, session, why)

    def _no_hello(self) -> None:
        self._hello_timer = None
        self._log("no_hello", "no hello in time")
        self.end(1000, "no hello", "no_hello")

    def _refuse(self, refusal: Refusal) -> None:
        self._odd("refused", f"message refused: {refusal.message} ({refusal.ref or 'message'})")
        wire = self._translator.encode(refusal)
        if self._connection is not None and isinstance(wire, str):
            self._connection.send_text(wire)

    def _note(self, event: str, text: str) -> None:
        self._odd(event, text, logging.WARNING)

    def _odd(self, event: str, text: str, level: int = logging.INFO) -> None:
        self._logged[event] += 1
        if self._logged[event] <= LOGGED_ODDITIES:
            self._log(event, text, level)

    def _log(self, event: str, text: str, level: int = logging.INFO) -> None:
        log.log(
            level,
            text,
            extra={
                "component": "WS",
                "event": event,
                "session_id": self._translator.session_id,
                "device_id": self.who.device_id,
            },
        )


def identify(request: UpgradeRequest) -> Identity:
    """Who connects, from headers (devices) or query (browsers)."""
    return Identity(
        door="xiaozhi",
        device_id=read_id(request.named("device-id")),
        client_id=read_id(request.named("client-id")),
        remote=request.remote,
    )


def _framing_version(request: UpgradeRequest) -> int | None:
    value = request.named("protocol-version")
    if value in ("1", "2", "3"):
        return int(value)
    if value:
        log.warning("Protocol-Version is not 1, 2 or 3", extra={"component": "WS", "event": "version_odd"})
    return None
