"""A WebSocket upgrade request as doors see it, and the answer they can give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import parse_qsl, unquote

from vanling.server.auth import bearer


@dataclass(frozen=True, slots=True)
class UpgradeRequest:
    path: str
    headers: Mapping[str, str] = field(repr=False)
    """Lower-case names; of a repeated header, the first."""
    query: Mapping[str, str] = field(repr=False)
    remote: str
    """``host:port`` of the peer."""

    def named(self, name: str) -> str:
        """A value that devices send as a header and browsers in the query; empty where neither has it."""
        return (self.headers.get(name) or self.query.get(name) or "").strip()

    @property
    def token(self) -> str:
        return bearer(self.named("authorization"))


@dataclass(frozen=True, slots=True)
class Rejection:
    """A plain HTTP answer instead of 101."""

    status: int
    text: str


class Connection(Protocol):
    """The server's end of an open WebSocket. No call awaits, none raises because the peer has gone."""

    def send_text(self, text: str) -> None: ...

    def send_bytes(self, data: bytes) -> None:
        """Send one audio frame; until the network has taken it, :meth:`writable` is False."""

    def writable(self) -> bool: ...

    def when_writable(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once, as soon as :meth:`writable` is true; never once the connection is closed."""

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Begin the closing handshake; TCP is dropped if the peer does not finish it in time."""

    def abort(self) -> None:
        """Drop the connection at once, with all that waits in it."""

    @property
    def closed(self) -> bool:
        """True once nothing can be sent any more."""


class Handler(Protocol):
    """What a door does with one connection. ``on_closed`` comes exactly once, and nothing after it."""

    def on_open(self, connection: Connection) -> None: ...

    def on_message(self, message: str | bytes) -> None: ...

    def on_closed(self, code: int, reason: str) -> None: ...


Upgrade = Callable[[UpgradeRequest], Handler | Rejection]
"""Decides what becomes of an upgrade request."""


def read_request(target: str, headers: Mapping[str, str], remote: str) -> UpgradeRequest:
    """``target`` is the request line's, path and query."""
    raw_path, _, raw_query = target.partition("?")
    query: dict[str, str] = {}
    for name, value in parse_qsl(raw_query, keep_blank_values=True, errors="replace"):
        query.setdefault(name.lower(), value)
    return UpgradeRequest(unquote(raw_path, errors="replace"), headers, query, remote)
