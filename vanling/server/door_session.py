"""What a door knows of sessions: who asks for one, and what it can do with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from vanling.session.frame import Frame
from vanling.session.transport import Outbound


@dataclass(frozen=True, slots=True)
class Identity:
    """Who is on the other side of a connection, as far as it said so."""

    door: str
    """Name of the door: ``xiaozhi``, ``realtime``, …"""
    device_id: str = ""
    client_id: str = ""
    remote: str = ""
    """Address of the peer, ``host:port``."""


class DoorSession(Protocol):
    """A session as its door sees it."""

    @property
    def id(self) -> str: ...

    def feed(self, frame: Frame) -> None:
        """Take one frame from the client; returns at once, never raises for what a client may send."""

    async def close(self, reason: str) -> None:
        """End the session and wait until all of its tasks are gone."""


class SessionFactory(Protocol):
    """What a door is given to open sessions with."""

    def open(self, outbound: Outbound, who: Identity) -> DoorSession: ...
