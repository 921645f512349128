"""One WebSocket connection: asyncio around the ``websockets`` library's sans-I/O protocol.

An ASGI server awaits each send, buffers 64 kB of it, and waits ten seconds for a Close that devices never answer. A
conversation cannot have that: here a send returns at once, a frame that the network has not taken is seen, and
reading never waits for writing. uvicorn hands the upgrade request over (its ``ws=``), so one port serves both.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from websockets.exceptions import InvalidMessage
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import SEND_EOF, State
from websockets.server import ServerProtocol

from vanling.server.backlog import Backlog
from vanling.server.flood import FloodGate
from vanling.server.intake import Intake
from vanling.server.keepalive import Keepalive
from vanling.server.settings import WireLimits
from vanling.server.upgrade import Handler, Rejection, Upgrade, read_request

if TYPE_CHECKING:
    from uvicorn.config import Config
    from uvicorn.server import ServerState

log = logging.getLogger(__name__)

# The library logs headers and payloads at DEBUG: tokens and transcripts have no place in a log.
_wire_log = logging.getLogger("vanling.wire")
_wire_log.setLevel(logging.WARNING)

CLOSED_ABNORMALLY = 1006
PIECE_BYTES = 96
"""The library reads all frames of what it is given: 16 at most, as the smallest has six bytes."""

NO_REQUEST = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class WebSocketProtocol(asyncio.Protocol):
    """A :class:`~vanling.server.upgrade.Connection`, and the asyncio protocol that uvicorn's ``ws=`` makes.

    The first three parameters are uvicorn's, ``upgrade`` and ``limits`` are bound by whoever starts the server.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        upgrade: Upgrade,
        limits: WireLimits,
    ) -> None:
        self._loop = _loop or asyncio.get_running_loop()
        # uvicorn's book of live connections: its shutdown waits until it is empty.
        self._book = cast("set[Any]", server_state.connections)
        self._upgrade = upgrade
        self._limits = limits
        self._wire = ServerProtocol(max_size=limits.max_message_bytes, logger=_wire_log)
        self.transport: asyncio.Transport
        self._remote = ""
        self._handler: Handler | None = None
        self._finished = False
        self._closing = False
        self._fragments = bytearray()
        self._is_text = False
        self._close_timer: asyncio.TimerHandle | None = None
        self._backlog: Backlog
        self._intake: Intake
        self._flood = FloodGate(limits.max_messages_per_s, limits.message_burst)
        self._keepalive = Keepalive(
            self._loop, limits.ping_interval_s, limits.pong_timeout_s, self._send_ping, self._pong_is_late
        )

    # --- Connection ---------------------------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        return self._closing or self._finished

    def send_text(self, text: str) -> None:
        if self._can_send():
            self._wire.send_text(text.encode("utf-8", "replace"))
            self._flush()

    def send_bytes(self, data: bytes) -> None:
        if self._can_send():
            self._wire.send_binary(data)
            self._flush(audio=True)

    def writable(self) -> bool:
        return not self.closed and self._backlog.writable()

    def when_writable(self, callback: Callable[[], None]) -> None:
        if not self.closed:
            self._backlog.when_writable(callback)

    def close(self, code: int = 1000, reason: str = "") -> None:
        if self._can_send():
            self._wire.send_close(code, reason)
            self._flush()
        self._closing = True
        self._drop_soon()

    def abort(self) -> None:
        self._finish(CLOSED_ABNORMALLY, "aborted")
        self.transport.abort()

    # --- asyncio and uvicorn ------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._backlog = Backlog(self._loop, self.transport, self._limits, self.abort)
        self._intake = Intake(self._loop, self.transport, self._receive, PIECE_BYTES)
        # uvicorn does this only after it has passed on the request: pause_writing() would reach its HTTP protocol.
        self.transport.set_protocol(self)
        # Any byte left over counts. Not high=0: the TLS transport takes "empty" for "above 0" and stays paused.
        self.transport.set_write_buffer_limits(high=1, low=0)
        self._remote = _address(transport.get_extra_info("peername"))
        sock = transport.get_extra_info("socket")
        if sock is not None and self._limits.send_buffer_bytes:
            _shrink_send_buffer(sock, self._limits.send_buffer_bytes)
        self._book.add(self)

    def data_received(self, data: bytes) -> None:
        self._intake.feed(data)

    def eof_received(self) -> bool:
        self._wire.receive_eof()
        self._flush()
        self._finish(CLOSED_ABNORMALLY, "connection lost")
        self._drop_soon()
        return False  # asyncio closes the transport, once what waits has been written

    def connection_lost(self, exc: Exception | None) -> None:
        self._book.discard(self)
        self._intake.stop()
        self._backlog.stop()
        if self._close_timer is not None:
            self._close_timer.cancel()
        received = self._wire.close_rcvd
        if received is not None:
            self._finish(received.code, received.reason)
        self._finish(CLOSED_ABNORMALLY, "connection lost")

    def pause_writing(self) -> None:
        self._backlog.paused()

    def resume_writing(self) -> None:
        self._backlog.resumed()

    def shutdown(self) -> None:
        """uvicorn is going down."""
        self.close(1001, "server is going away")

    # --- in -----------------------------------------------------------------------------------------------------

    def _receive(self, piece: bytes) -> int:
        if self._finished or self._wire.reader.eof:
            return 0
        self._wire.receive_data(piece)
        events = self._wire.events_received()
        # Everything counts, not only whole messages: a ping has its cost too.
        if events and self._handler is not None and not self._flood.admits(len(events), self._loop.time()):
            self._flooded()
            return len(events)
        for event in events:
            if isinstance(event, Request):
                self._answer(event)
            elif isinstance(event, Frame):
                self._take(event)
        if self._wire.handshake_exc is not None and not self._closing:
            self._refuse_handshake(self._wire.handshake_exc)
        self._flush()
        if self._wire.parser_exc is not None:
            self._fail_received()
        return len(events)

    def _answer(self, request: Request) -> None:
        response = self._wire.accept(request)
        if response.status_code == 101:
            answer = self._ask(request)
            if isinstance(answer, Rejection):
                response = self._wire.reject(answer.status, answer.text + "\n")
            else:
                self._handler = answer
        self._wire.send_response(response)
        self._flush()
        if self._handler is None:
            self._closing = True
            self._drop_soon()
            return
        self._keepalive.start()
        try:
            self._handler.on_open(self)
        except Exception:
            self._handler_failed()

    def _ask(self, request: Request) -> Handler | Rejection:
        headers = {name.lower(): value for name, value in reversed(list(request.headers.raw_items()))}
        try:
            return self._upgrade(read_request(request.path, headers, self._remote))
        except Exception:
            log.exception("upgrade request failed", extra={"component": "WS", "event": "upgrade_failed"})
            return Rejection(500, "internal error")

    def _refuse_handshake(self, error: Exception) -> None:
        if isinstance(error, InvalidMessage):  # for other errors the library has written an answer
            self._backlog.write(NO_REQUEST, audio=False)
        self._closing = True
        self._drop_soon()

    def _take(self, frame: Frame) -> None:
        match frame.opcode:
            case Opcode.TEXT | Opcode.BINARY | Opcode.CONT:
                if frame.opcode is not Opcode.CONT:
                    self._is_text = frame.opcode is Opcode.TEXT
                if not frame.fin or self._fragments:
                    self._fragments += frame.data
                if frame.fin:
                    data = bytes(self._fragments) if self._fragments else bytes(frame.data)
                    self._fragments.clear()
                    self._deliver(data)
            case Opcode.PONG:
                self._keepalive.pong(bytes(frame.data))
            case Opcode.CLOSE:
                self._close_received()
            case _:  # the library has already written the answer to a ping
                pass

    def _deliver(self, data: bytes) -> None:
        if self.closed or self._handler is None:
            return
        message: str | bytes = data
        if self._is_text:
            try:
                message = data.decode()
            except UnicodeDecodeError:  # RFC 6455 §8.1
                self._wire.fail(1007, "text is not UTF-8")
                self._fail_received()
                return
        try:
            self._handler.on_message(message)
        except Exception:
            self._handler_failed()

    def _handler_failed(self) -> None:
        log.exception("connection's handler failed", extra={"component": "WS", "event": "handler_failed"})
        self.close(1011, "internal error")

    def _flooded(self) -> None:
        log.warning("too many messages; closed", extra={"component": "WS", "event": "flood", "remote": self._remote})
        self._wire.fail(1008, "too many messages")
        self._fail_received()

    def _close_received(self) -> None:
        received = self._wire.close_rcvd
        self._flush()
        self._finish(received.code if received else 1005, received.reason if received else "")
        self._drop_soon()

    def _fail_received(self) -> None:
        sent = self._wire.close_sent
        self._flush()
        self._finish(sent.code if sent else CLOSED_ABNORMALLY, sent.reason if sent else "protocol error")
        self._drop_soon()

    # --- out ----------------------------------------------------------------------------------------------------

    def _can_send(self) -> bool:
        # The wire is ahead of us where the client's Close arrived in the same read as its last messages.
        return not self.closed and self._wire.state is State.OPEN

    def _flush(self, audio: bool = False) -> None:
        """Hand what the wire protocol has written to the transport."""
        for data in self._wire.data_to_send():
            if self.transport.is_closing():
                return
            if data != SEND_EOF:
                self._backlog.write(data, audio)
            elif self.transport.can_write_eof():
                # Not a full close: unread input would make the kernel send RST, which overtakes our Close frame.
                self.transport.write_eof()
            else:
                self.transport.close()

    def _send_ping(self, payload: bytes) -> None:
        if self._can_send():
            self._wire.send_ping(payload)
            self._flush()

    def _pong_is_late(self) -> None:
        log.info("no pong in time", extra={"component": "WS", "event": "pong_timeout"})
        self.abort()

    # --- the end ------------------------------------------------------------------------------------------------

    def _drop_soon(self) -> None:
        if self._close_timer is None:
            self._close_timer = self._loop.call_later(self._limits.close_timeout_s, self.transport.abort)

    def _finish(self, code: int, reason: str) -> None:
        if self._finished:
            return
        self._finished = True
        self._keepalive.stop()
        self._backlog.forget_waiters()
        if self._handler is not None:
            self._handler.on_closed(code, reason)


def _shrink_send_buffer(sock: socket.socket, size: int) -> None:
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
    except OSError:
        log.debug("send buffer keeps its size", exc_info=True, extra={"component": "WS", "event": "sndbuf"})


def _address(peer: object) -> str:
    return f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) and len(peer) >= 2 else ""
