"""How others reach this machine."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

OTA_PATH = "/xiaozhi/ota/"
WEBSOCKET_PATH = "/xiaozhi/v1/"


def lan_address() -> str | None:
    """The address that this machine would speak from to another one; None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Connecting a datagram socket sends nothing; it only asks the routing table. (192.0.2.0/24: RFC 5737)
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address: str = probe.getsockname()[0]
    return None if ip_address(address).is_loopback else address


def ota_url(base: str, host: str, public_url: str = "") -> str:
    """What to enter in a device.

    ``base`` is the server's own URL, ``host`` what it listens on: where that is every address, devices need the one
    that leads here. ``public_url`` wins.
    """
    return reached_at(base, host, public_url) + OTA_PATH


def device_url(base: str, host: str, public_url: str = "") -> str:
    """The WebSocket for clients that ask no bootstrap for it; see :func:`ota_url`."""
    return reached_at(base, host, public_url).replace("http", "ws", 1) + WEBSOCKET_PATH


def reached_at(base: str, host: str, public_url: str = "") -> str:
    """The server's URL for other machines, without a path; see :func:`ota_url`."""
    if public_url:
        return public_url.rstrip("/")
    parts = urlsplit(base)
    port = f":{parts.port}" if parts.port else ""
    if is_unspecified(host) and (address := lan_address()):
        return f"{parts.scheme}://{address}{port}"
    return urlunsplit((parts.scheme, parts.netloc, "", "", ""))


def unknown_address(host: str) -> str:
    """Why ``host`` is no address to listen on, in a sentence; empty where it is one."""
    try:
        socket.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        return f"there is no such address as {host}"
    return ""


def is_unspecified(host: str) -> bool:
    """Whether listening on ``host`` means every address of this machine."""
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return host == ""
