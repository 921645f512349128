"""Why a connection could not be made or did not last, in one sentence."""

from __future__ import annotations

import socket
import ssl
from urllib.parse import urlsplit, urlunsplit

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from vanling.cli.addresses import OTA_PATH, WEBSOCKET_PATH
from vanling.errors import VanlingError


class DeviceError(VanlingError):
    """A simulated device did not get through, or got no answer."""


def connection_failure(url: str, error: BaseException) -> DeviceError:
    """The sentence for what :func:`websockets.connect` raised."""
    match error:
        case InvalidURI():
            why = f"that is no WebSocket URL, such as {_websocket_url(url)}"
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
        case ssl.SSLError() if url.startswith("wss://"):
            why = f"the server does not speak TLS: use ws://{url.removeprefix('wss://')}"
        case ConnectionError() if url.startswith("wss://"):
            why = f"the server hung up on TLS: if it does not speak TLS, use ws://{url.removeprefix('wss://')}"
        case OSError():
            why = error.strerror or str(error) or type(error).__name__
        case _:
            why = str(error) or type(error).__name__
    return DeviceError(f"cannot connect to {url}: {why}")


def _websocket_url(url: str) -> str:
    """What was meant: the door that goes with a page or the bootstrap of a server, else any door."""
    if not url.startswith(("http://", "https://")):
        return f"ws://192.168.1.10:8080{WEBSOCKET_PATH}"
    parts = urlsplit(url.replace("http", "ws", 1))
    path = WEBSOCKET_PATH if parts.path.rstrip("/") in ("", OTA_PATH.rstrip("/")) else parts.path
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def reason_of_close(error: ConnectionClosed) -> str:
    """Code and words of the server's close frame, if there was one."""
    if error.rcvd is None:
        return "the connection was lost"
    return " ".join(filter(None, (f"code {error.rcvd.code}", error.rcvd.reason)))
