"""The configuration as TOML: an example to start from, and what is in effect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from vanling.config.allowed import allowed
from vanling.config.root import ENGINE_KINDS, Config
from vanling.config.secret import MASK, is_secret

_HEADER = """\
# vanling's configuration. Every key is shown with its default; take the '#' off a line to change it.
# Start with it: vanling serve --config FILE. An environment variable such as VANLING_SERVER__PORT=9000 or an option
# such as --set server.port=9000 wins over this file.
"""


def example_toml() -> str:
    """Every section and key with its description, range and default, the keys commented out; loads as it is."""
    lines = [_HEADER]
    for section, section_field in Config.model_fields.items():
        model: Any = section_field.annotation
        lines += [f"# {model.__doc__}", f"[{section}]"]
        for key, field in model.model_fields.items():
            lines += [f"# {field.description}. {_takes(field)}", f"#{key} = {_default(field)}"]
        if section in ENGINE_KINDS:
            lines.append("# Options of the engine stand here too.")
        lines.append("")
    return "\n".join(lines)


def show(config: Config) -> str:
    """What is in effect, as TOML: secrets masked, and behind every value that is not a default where it was set."""
    return "\n".join(_effective(config))


def _takes(field: FieldInfo) -> str:
    words = allowed(field)
    return words[0].upper() + words[1:] + "."


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, Path):
        value = _with_tilde(value)
    return _toml(value)


def _with_tilde(path: Path) -> str:
    """A folder below the user's home as ``~/…``: an example is passed on, and its reader is somebody else."""
    home = Path.home()
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else path.as_posix()


def _effective(config: Config) -> Iterator[str]:
    for section in Config.model_fields:
        yield f"[{section}]"
        for key, value in dict(getattr(config, section)).items():
            origin = config.origin(f"{section}.{key}")
            yield f"{_key(key)} = {_toml(_masked(key, value))}" + (f"  # {_one_line(origin)}" if origin else "")
        yield ""


def _masked(key: str, value: Any) -> Any:
    if is_secret(key):
        return [MASK] * len(value) if isinstance(value, list) else MASK if value else value
    if isinstance(value, dict):
        return {name: _masked(name, item) for name, item in value.items()}
    return value


def _toml(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case SecretStr():
            return _text(MASK)
        case list() | tuple():
            return "[" + ", ".join(_toml(item) for item in value) + "]"
        case dict():
            return "{ " + ", ".join(f"{_key(name)} = {_toml(item)}" for name, item in value.items()) + " }"
        case _:
            return _text(str(value))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(value: str) -> str:
    """A TOML basic string; its escapes are those of JSON, and DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)
