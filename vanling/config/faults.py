"""One sentence for each way in which a configuration can be wrong."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from vanling.config.allowed import allowed
from vanling.config.root import Config
from vanling.config.secret import MASK, is_secret


def unknown_section(section: str, origin: str, sections: Sequence[str]) -> str:
    near = difflib.get_close_matches(section, sections, n=1, cutoff=0.5)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(sections)}"
    return f"there is no section {section} ({origin}): {meant}"


def unknown_key(section: str, key: str, origin: str, keys: Mapping[str, Sequence[str]]) -> str:
    """Name the nearest key: of the same section first, then the same key elsewhere, else list the section's keys."""
    elsewhere = [name for name in keys if key in keys[name]]
    near = difflib.get_close_matches(key, keys[section], n=1, cutoff=0.6 if elsewhere else 0.4)
    if near:
        meant = f"did you mean {section}.{near[0]}?"
    elif elsewhere:
        meant = f"did you mean {elsewhere[0]}.{key}?"
    else:
        meant = f"{section} has {', '.join(keys[section])}"
    return f"there is no key {section}.{key} ({origin}): {meant}"


def explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    """The first fault of a rejected configuration."""
    fault = error.errors(include_url=False)[0]
    where = [str(part) for part in fault["loc"]]
    own_words = str(fault["ctx"]["error"]) if fault["type"] == "value_error" else ""
    if len(where) < 2:
        return own_words or str(fault["msg"])
    section, key = where[0], where[1]
    name = f"{section}.{key}"
    origin = f" ({origins[name]})" if name in origins else ""
    field = _field(section, key)
    must = own_words or (allowed(field) if field else str(fault["msg"]))
    return f"{name} = {_shown(key, fault['input'])}{origin} is not allowed: it takes {must}"


def _field(section: str, key: str) -> FieldInfo | None:
    model: Any = Config.model_fields[section].annotation
    field: FieldInfo | None = model.model_fields.get(key)
    return field


def _shown(key: str, value: object) -> str:
    return MASK if is_secret(key) else repr(value) if isinstance(value, str) else str(value)
