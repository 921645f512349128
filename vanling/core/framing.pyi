"""The three binary framings of XiaoZhi devices (xiaozhi-esp32 main/protocols/protocol.h), all fields big-endian.

1: the message is one Opus packet. 2: u16 version, u16 kind, u32 reserved, u32 timestamp_ms, u32 size, payload.
3: u8 kind, u8 reserved, u16 size, payload.
"""

from enum import IntEnum
from typing import Final, Literal

from typing_extensions import Buffer

class Kind(IntEnum):
    """What a binary frame carries."""

    OPUS = 0
    JSON = 1

OPUS: Final[Literal[Kind.OPUS]]
JSON: Final[Literal[Kind.JSON]]

def pack(version: int, payload: Buffer, timestamp_ms: int = 0, kind: int = OPUS) -> bytes:
    """One binary message.

    version: 1, 2 or 3, as the device's hello says.
    timestamp_ms: 0 to 2**32 - 1; only version 2 carries it.
    kind: OPUS or JSON; version 1 carries Opus only.

    Raises FramingError for an unknown version and for a payload over the size field (65 535 bytes in version 3),
    AudioValueError or AudioTypeError for other arguments out of range.
    """

def unpack(version: int, data: Buffer) -> tuple[Kind, int, bytes]:
    """(kind, timestamp_ms, payload) of one binary message; timestamp_ms is 0 except in version 2.

    Raises FramingError unless the header is whole, bears that version (in 2) and a known kind, and its size is exactly
    the payload's: a device that frames otherwise than agreed is told apart from one that sends audio. The reserved
    fields are not looked at. In version 1 anything is a packet. AudioTypeError for anything but bytes.
    """
