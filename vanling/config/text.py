"""Values as people write them in an environment variable or after ``--set``."""

from __future__ import annotations

import tomllib
import typing
from pathlib import Path
from typing import Any

_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})


def parse_text(text: str, annotation: Any) -> Any:
    """``text`` as a value for a field of this type; for None (an engine's option) whatever TOML makes of it.

    What cannot be read stays text, for the field's own check to refuse with a sentence.
    """
    if annotation in (str, Path):
        return text
    if typing.get_origin(annotation) is list:
        return _list(text)
    if bool in typing.get_args(annotation):
        return _boolean(text)
    return _toml(text)


def _list(text: str) -> Any:
    if text.lstrip().startswith("["):
        return _toml(text)
    return [item.strip() for item in text.split(",") if item.strip()]


def _boolean(text: str) -> Any:
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else text


def _toml(text: str) -> Any:
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text
    # A date is a TOML type, but no setting is one: an option such as a model's date stays text.
    return value if isinstance(value, (bool, int, float, str, list, dict)) else text
