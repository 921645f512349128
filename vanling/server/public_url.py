"""The WebSocket URL that the bootstrap hands out, from what the server is told and how it was reached.

The firmware's URL reader takes the host up to the first ``:`` anywhere after the scheme, knows no IPv6 literals, and
leaves the port out of its own Host header.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from vanling.errors import ConfigError

_SCHEMES = {"http": "ws", "ws": "ws", "https": "wss", "wss": "wss"}
_DEFAULT_PORTS = {"ws": 80, "wss": 443}
_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,252})")


@dataclass(frozen=True, slots=True)
class Reached:
    """How the bootstrap request came in."""

    headers: Mapping[str, str]
    """Lower-case names."""
    secure: bool
    peer: str
    """Address of the other end."""
    local_host: str
    """Our address on this connection."""
    local_port: int


def websocket_url(path: str, reached: Reached, public_url: str, trusted: tuple[str, ...], lan_host: str) -> str:
    """The URL of ``path`` (starts with a slash). ``public_url`` wins; then forwarded headers of a trusted proxy; then
    the Host header; then the address that the request arrived at, or ``lan_host`` where that is IPv6."""
    if public_url:
        return from_public_url(public_url, path)
    scheme = "wss" if reached.secure else "ws"
    host, port = _split_host(reached.headers.get("host", ""))
    port = port or reached.local_port
    if is_trusted(reached.peer, trusted):
        forwarded_scheme = _SCHEMES.get(_first(reached.headers.get("x-forwarded-proto", "")).lower())
        forwarded_host, forwarded_port = _split_host(_first(reached.headers.get("x-forwarded-host", "")))
        stated_port = _port(_first(reached.headers.get("x-forwarded-port", "")))
        scheme = forwarded_scheme or scheme
        if forwarded_host or forwarded_scheme:  # a proxy leaves its default port out
            host, port = forwarded_host or host, stated_port or forwarded_port or _DEFAULT_PORTS[scheme]
    if not host:
        host = _ipv4(reached.local_host) or lan_host
    return f"{scheme}://{host}:{port}{path}"


def from_public_url(public_url: str, path: str) -> str:
    """``path`` under ``public_url``; raises :class:`ConfigError` where devices could not read the result."""
    try:
        parts = urlsplit(public_url)
        port = parts.port
    except ValueError:
        raise ConfigError(f"server.public_url: {public_url!r} is not a URL") from None
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None or not parts.hostname:
        raise ConfigError(f"server.public_url: {public_url!r} must look like https://voice.example.com")
    if not _NAME.fullmatch(parts.hostname) or parts.username or parts.query or parts.fragment:
        raise ConfigError(
            f"server.public_url: {public_url!r} must be a scheme, a host name or IPv4 address, perhaps a port and a "
            "path: devices read no IPv6 literals, user names or queries"
        )
    prefix = parts.path.rstrip("/")
    if port is None and ":" in prefix:
        port = _DEFAULT_PORTS[scheme]
    return f"{scheme}://{parts.hostname}{f':{port}' if port else ''}{prefix}{path}"


def is_trusted(peer: str, trusted: tuple[str, ...]) -> bool:
    """Whether ``peer`` is one of the ``trusted`` addresses or networks (``*``: any)."""
    if "*" in trusted:
        return True
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return any(address in network for network in map(_network, trusted) if network is not None)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _split_host(value: str) -> tuple[str, int | None]:
    """Host and port of a Host header; an empty host where it is none that a device could use."""
    host, colon, port = value.strip().partition(":")
    if not _NAME.fullmatch(host) or (colon and _port(port) is None):
        return "", _port(value.rpartition("]:")[2]) if value.startswith("[") else None
    return host, _port(port)


def _port(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,5}", text) and 0 < int(text) < 65536 else None


def _first(value: str) -> str:
    """A chain of proxies appends; the client's own comes first."""
    return value.partition(",")[0].strip()


def _ipv4(host: str) -> str | None:
    """``host`` as an IPv4 address, also where a dual-stack socket wrote it as IPv6."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address
    return str(address) if address.version == 4 else None
