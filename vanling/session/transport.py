"""What a session asks of the connection behind it."""

from __future__ import annotations

from typing import Protocol

from vanling.session.frame import OutputMessage


class Outbound(Protocol):
    """The way out to one client. None of its calls blocks or awaits."""

    def send(self, message: OutputMessage) -> None:
        """Hand over one message; it goes out in the order of the calls."""

    def writable(self) -> bool:
        """False while earlier audio still waits in the connection: no further audio frame may be handed over."""

    def when_writable(self, callback: Callback) -> None:
        """Call ``callback`` once, as soon as :meth:`writable` is true again."""


class Callback(Protocol):
    def __call__(self) -> None: ...
