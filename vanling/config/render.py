"""The configuration as TOML: an example to start from, and what is in effect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from vanling.config.allowed import allowed
from vanling.config.root import Config
from vanling.config.secret import MASK, is_secret

_HEADER = """\
# vanling's configuration. Every key is shown with its default; take the '#' off a line to change it, and give a value
# where there is none. Start with it: vanling serve --config FILE. An environment variable such as
# VANLING_SERVER__PORT=9000 or an option such as --set server.port=9000 wins over this file.
"""

EngineOptions = Mapping[str, Mapping[str, Mapping[str, FieldInfo]]]
"""Kind of engine, name of an engine, its options: ``{"asr": {"whisper": {"beam": FieldInfo(…)}}}``."""


def example_toml(engines: EngineOptions | None = None) -> str:
    """Every section and key with its description, range and default, the keys commented out; loads as it is.

    ``engines`` are the known ones: their options follow, engine by engine, the keys of their section.
    """
    lines = [_HEADER]
    for section, section_field in Config.model_fields.items():
        model: Any = section_field.annotation
        lines += [f"# {model.__doc__}", f"[{section}]"]
        for key, field in model.model_fields.items():
            lines += _commented(key, field)
        lines += _engine_lines((engines or {}).get(section, {}))
        lines.append("")
    return "\n".join(lines)


def show(config: Config, engines: EngineOptions | None = None) -> str:
    """What is in effect, as TOML: secrets masked, and behind every value that is not a default where it was set.

    Options of the known ``engines`` that are not set follow as comments.
    """
    return "\n".join(_effective(config, engines or {}))


def _engine_lines(
    engines: Mapping[str, Mapping[str, FieldInfo]], chosen: str = "", given: Iterable[str] = ()
) -> list[str]:
    """What engines there are, and the options of each, but for those that the ``chosen`` one was ``given``."""
    if not engines:
        return []
    lines = [f"# Engines: {', '.join(engines)}. Options of an engine stand beside these keys."]
    for name, options in engines.items():
        left = {key: field for key, field in options.items() if name != chosen or key not in given}
        lines.append(f"# {name}{':' if left else ' has no options.' if not options else ' has no others.'}")
        for key, field in left.items():
            lines += _commented(key, field)
    return lines


def _commented(key: str, field: FieldInfo) -> list[str]:
    about = field.description or key
    return [f"# {about[0].upper()}{about[1:]}. {_takes(field)}", f"#{key} = {_default(field)}".rstrip()]


def _takes(field: FieldInfo) -> str:
    words = allowed(field)
    return words[0].upper() + words[1:] + "."


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, Path):
        value = _with_tilde(value)
    return "" if value is None else _toml(value)


def _with_tilde(path: Path) -> str:
    """A folder below the user's home as ``~/…``: an example is passed on, and its reader is somebody else."""
    home = Path.home()
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else path.as_posix()


def _effective(config: Config, engines: EngineOptions) -> Iterator[str]:
    for section in Config.model_fields:
        yield f"[{section}]"
        values = dict(getattr(config, section))
        for key, value in values.items():
            origin = config.origin(f"{section}.{key}")
            yield f"{_key(key)} = {_toml(_masked(key, value))}" + (f"  # {_one_line(origin)}" if origin else "")
        yield from _engine_lines(engines.get(section, {}), str(values.get("engine", "")), values)
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
