"""What a key takes, in words, from the type and the range of its field."""

from __future__ import annotations

import typing
from typing import Any, Literal

from pydantic.fields import FieldInfo


def allowed(field: FieldInfo) -> str:
    """Such as ``a whole number from 0 to 65535`` or ``one of "text", "json"``."""
    annotation = field.annotation
    if typing.get_origin(annotation) is Literal:
        return "one of " + ", ".join(_word(choice) for choice in typing.get_args(annotation))
    if bool in typing.get_args(annotation):
        return '"auto", true or false'
    if typing.get_origin(annotation) is list:
        return "a list of texts"
    kind = {int: "a whole number", float: "a number", bool: "true or false"}.get(_plain(annotation), "text")
    return kind + _range(field)


def _range(field: FieldInfo) -> str:
    low = high = None
    for rule in field.metadata:
        low = getattr(rule, "ge", low)
        high = getattr(rule, "le", high)
        if getattr(rule, "pattern", None):
            return f" of the form {rule.pattern}"
        if getattr(rule, "min_length", 0):
            return ", not empty"
    return f" from {low:g} to {high:g}" if low is not None and high is not None and high < 1e6 else _wide(low, high)


def _wide(low: Any, high: Any) -> str:
    return "" if low is None or high is None else f" from {low} to {high}"


def _plain(annotation: Any) -> Any:
    return typing.get_args(annotation)[0] if typing.get_origin(annotation) is typing.Annotated else annotation


def _word(choice: object) -> str:
    return f'"{choice}"' if isinstance(choice, str) else str(choice)
