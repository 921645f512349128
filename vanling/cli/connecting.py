"""Why a connection could not be made or did not last, in one sentence."""

from __future__ import annotations

import socket
import ssl

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from vanling.errors import VanlingError


class DeviceError(VanlingError):
    """A simulated device did not get through, or got no answer."""


def connection_failure(url: str, error: BaseException) -> DeviceError:
    """The sentence for what :func:`websockets.connect` raised."""
    match error:
        case InvalidURI():
            why = "that is no WebSocket URL, such as ws://192.168.1.10:8080/xiaozhi/v1/"
        case InvalidStatus() if error.response.status_code in (401, 403):
            why = f"the server refuses the token (HTTP {error.response.status_code}): give a right one with --token"
        case InvalidStatus():
            why = f"the server answers HTTP {error.response.status_code} there: is the path right?"
        case InvalidHandshake() | EOFError():
            why = "no WebSocket server answers there"
        case TimeoutError():
            why = "no answer within 10 s"
        case ConnectionRefusedError():
            why = "connection refused: is the server running, and is the port right?"
        case socket.gaierror():
            why = "the host's name is not known"
        case ssl.SSLCertVerificationError():
            why = f"the certificate is not trusted ({error.verify_message})"
        case OSError():
            why = error.strerror or str(error)
        case _:
            why = str(error) or type(error).__name__
    return DeviceError(f"cannot connect to {url}: {why}")


def reason_of_close(error: ConnectionClosed) -> str:
    """Code and words of the server's close frame, if there was one."""
    if error.rcvd is None:
        return "the connection was lost"
    return " ".join(filter(None, (f"code {error.rcvd.code}", error.rcvd.reason)))
