"""What a client is told about a message that could not be taken; the connection lives on."""

from __future__ import annotations

from dataclasses import dataclass

from vanling.session.frame import ErrorCode


@dataclass(frozen=True, slots=True)
class Refusal:
    code: ErrorCode
    message: str
    """For the client; carries nothing that the client did not send in this message."""
    ref: str = ""
    """Which message it was: ``listen/start``, ``hello``, ``binary``, …"""


class Refused(Exception):
    """An answer, not a fault: raised by a reader, caught by the translator only; never leaves this package."""

    def __init__(self, message: str, ref: str = "", code: ErrorCode = ErrorCode.BAD_MESSAGE) -> None:
        super().__init__(message)
        self.refusal = Refusal(code, message, ref)
