"""How a client names itself. What it sends goes into our log and our memory, so not everything is a name."""

from __future__ import annotations

import re

_ID = re.compile(r"[\x21-\x7e]{1,128}")
_MAC = re.compile(r"[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}")


def read_id(value: str) -> str:
    """A device's or client's id; empty where it is no printable word of up to 128 characters. A MAC is written in lower
    case, as the browser page sends the same device's in upper case."""
    if not _ID.fullmatch(value):
        return ""
    return value.lower() if _MAC.fullmatch(value) else value
