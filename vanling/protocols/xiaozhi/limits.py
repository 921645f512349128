"""How much one message of a device may hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    packet_bytes: int = 16 * 1024
    """Longest binary message, header included (the browser page sends packets of up to 2.5 kB)."""
    text_chars: int = 2_000
    """Longest typed text or wake word."""
