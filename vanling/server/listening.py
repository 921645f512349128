"""The port, taken before anything else is done: a start that cannot succeed says so at once."""

from __future__ import annotations

import errno
import socket

from vanling.errors import StartError

BACKLOG = 1024


def bind(host: str, port: int) -> list[socket.socket]:
    """Listening sockets for ``host``; where a name has several addresses they share one port."""
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise StartError(f"cannot listen on {host!r}: {error.strerror or error}") from error
    sockets: list[socket.socket] = []
    families = {each[0] for each in found}
    for family, kind, proto, _, address in dict.fromkeys(found):
        sock = socket.socket(family, kind, proto)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                # "::" alone takes IPv4 too, as devices know nothing else; beside an IPv4 socket it must not.
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, socket.AF_INET in families)
            sock.bind((address[0], sockets[0].getsockname()[1] if sockets else port, *address[2:]))
            sock.listen(BACKLOG)  # two can bind with SO_REUSEADDR; only one can listen
            sock.setblocking(False)
        except OSError as error:
            for each in (sock, *sockets):
                each.close()
            raise StartError(_cannot_bind(host, port, error)) from error
        sockets.append(sock)
    return sockets


def _cannot_bind(host: str, port: int, error: OSError) -> str:
    where = f"{host or '*'}:{port}"
    if error.errno == errno.EADDRINUSE:
        return f"cannot listen on {where}: the port is in use; choose another with --port, or stop what uses it"
    if error.errno == errno.EACCES:
        return f"cannot listen on {where}: not permitted; choose a port above 1023 with --port"
    return f"cannot listen on {where}: {error.strerror or error}"
