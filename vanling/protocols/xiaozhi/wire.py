"""JSON as it is on the wire: strict about what it takes, careful about what it gives."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TypeAlias

from vanling.protocols.xiaozhi.refusal import Refused

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]


def parse_object(text: str) -> JsonObject:
    """Read one JSON object; raises :class:`Refused` for anything else.

    NaN, Infinity and numbers that overflow to it are no JSON (RFC 8259 §6), though Python's reader takes them.
    """
    try:
        value: Json = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise Refused("message is nested too deeply") from None
    except ValueError:
        raise Refused("message is not JSON") from None
    if not isinstance(value, dict):
        raise Refused("message is not a JSON object")
    return value


def dump(value: JsonObject) -> str:
    """Write compact JSON; a lone surrogate (half of an emoji cut by a model's stream) becomes U+FFFD, because it
    cannot be written as UTF-8."""
    return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def dump_ascii(value: JsonObject) -> str:
    """Write compact JSON in ASCII only; raises :class:`Refused` where the value is nested too deeply."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise Refused("message is nested too deeply") from None


def clean(text: str) -> str:
    """``text`` with surrogate pairs joined and lone ones replaced, so that it can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def get_str(message: JsonObject, key: str) -> str | None:
    """The string under ``key``; None where it is missing or of another type."""
    value = message.get(key)
    return clean(value) if isinstance(value, str) else None


def get_number(message: JsonObject, key: str) -> float | None:
    """The number under ``key``; None where it is missing or of another type (a boolean is no number here)."""
    value = message.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("number is out of range")
    return value
