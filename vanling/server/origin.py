"""Which web pages may open a WebSocket (cross-site WebSocket hijacking: a browser sends any page's request)."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

_LOCAL_SUFFIXES = (".local", ".lan", ".home", ".home.arpa", ".internal", ".localdomain", ".localhost")


def origin_allowed(origin: str | None, host: str, allowed: tuple[str, ...], public_url: str = "") -> bool:
    """Whether a page of ``origin`` may connect to ``host`` (the Host header) where no token is asked for.

    Devices send no origin. Allowed are: what ``allowed`` lists (exact, or ``*``); pages of this machine; pages of the
    host that is connected to, where that is an address or a name of the local network, or the public URL's. A public
    name is not enough: a stranger's can be made to point here (DNS rebinding). ``null`` (a page from disk, but also any
    sandboxed frame) must be listed.
    """
    if origin is None or "*" in allowed or origin in allowed:
        return True
    page = _host(origin)
    if page is None:
        return False
    if _is_loopback(page):
        return True
    if page == _host(public_url):
        return True
    return page == _host(f"//{host}") and _is_local(page)


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname or None
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


def _is_local(host: str) -> bool:
    return _address(host) is not None or "." not in host or host.endswith(_LOCAL_SUFFIXES)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
