"""What a key takes, in words, from the type and the range of its field."""

from __future__ import annotations

import types
import typing
from pathlib import Path
from typing import Any, Literal

from pydantic.fields import FieldInfo


def allowed(field: FieldInfo) -> str:
    """Such as ``a whole number from 0 to 65535`` or ``one of "text", "json"``; of an optional key, what it can be."""
    annotation = _without_none(field.annotation)
    if typing.get_origin(annotation) is Literal:
        return "one of " + ", ".join(_word(choice) for choice in typing.get_args(annotation))
    if bool in typing.get_args(annotation):
        return '"auto", true or false'
    if typing.get_origin(annotation) in (list, tuple):
        return "a list of texts"
    kinds = {int: "a whole number", float: "a number", bool: "true or false", Path: "a path"}
    return kinds.get(_plain(annotation), "text") + _range(field)


def _range(field: FieldInfo) -> str:
    low = high = None
    beyond = False
    for rule in field.metadata:
        if getattr(rule, "gt", None) is not None:
            low, beyond = rule.gt, True
        low = getattr(rule, "ge", low)
        high = getattr(rule, "le", high)
        if getattr(rule, "pattern", None):
            return f" of the form {rule.pattern}"
        if getattr(rule, "min_length", 0):
            return ", not empty"
    if low is None or high is None:
        return ""
    return f" above {low:.9g} up to {high:.9g}" if beyond else f" from {low:.9g} to {high:.9g}"


def _without_none(annotation: Any) -> Any:
    if typing.get_origin(annotation) not in (typing.Union, types.UnionType):
        return annotation
    parts = [part for part in typing.get_args(annotation) if part is not type(None)]
    return parts[0] if len(parts) == 1 else annotation


def _plain(annotation: Any) -> Any:
    return typing.get_args(annotation)[0] if typing.get_origin(annotation) is typing.Annotated else annotation


def _word(choice: object) -> str:
    return f'"{choice}"' if isinstance(choice, str) else str(choice)
