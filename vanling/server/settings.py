"""What the network shell is told: where it listens, whom it trusts, and its limits on the wire."""

from __future__ import annotations

from dataclasses import dataclass, field

from vanling.protocols.xiaozhi import Limits


@dataclass(frozen=True, slots=True)
class WireLimits:
    """Limits of one WebSocket connection; seconds and bytes."""

    max_message_bytes: int = 256 * 1024
    """A longer message closes the connection with 1009."""
    max_messages_per_s: float = 1000.0
    """More than this over a longer time closes the connection with 1008. A device sends 17 to 50 a second; a test that
    sends its audio ten times faster, 500."""
    message_burst: int = 5000
    """So many may come at once."""
    max_backlog_bytes: int = 256 * 1024
    """Outgoing data that a client leaves unread; beyond it the connection is aborted."""
    send_buffer_bytes: int = 4096
    """SO_SNDBUF; 0 leaves the system's. Measured on Linux with frames of 184 bytes: 4096 hides 9 of them beyond what
    the client's own kernel takes, 2048 (the floor) 5, the system's default 11,000. Fewer would throttle a link with a
    long round trip, since what is under way counts."""
    ping_interval_s: float = 20.0
    pong_timeout_s: float = 20.0
    unwritten_timeout_s: float = 10.0
    """A frame that the network has not taken for this long aborts the connection."""
    close_timeout_s: float = 1.5
    """Devices never answer Close and keep TCP open: it is dropped after this time."""
    hello_timeout_s: float = 10.0
    request_timeout_s: float = 10.0
    """For the headers of an HTTP request, and again for the body of a bootstrap request."""
    device: Limits = field(default_factory=Limits)
    """Limits of single XiaoZhi messages."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    host: str = "127.0.0.1"
    port: int = 8080
    """0 takes a free one."""
    public_url: str = ""
    """Where devices reach this server (``https://voice.example.com``); empty: where the bootstrap request went to."""
    tls_cert: str = ""
    tls_key: str = ""
    forwarded_allow: tuple[str, ...] = ()
    """Proxies (addresses or CIDRs, ``*`` for any) whose ``X-Forwarded-*`` headers are believed."""
    allowed_origins: tuple[str, ...] = ()
    """Pages that may open a WebSocket though they come from elsewhere: ``https://console.example.com``, ``null`` for
    pages opened from disk, ``*`` for any."""
    auth_required: bool = False
    tokens: frozenset[str] = field(default=frozenset(), repr=False)
    limits: WireLimits = field(default_factory=WireLimits)
    drain_timeout_s: float = 4.0
    """How long a stop may take in all."""
