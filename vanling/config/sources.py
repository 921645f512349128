"""Gathering the configuration: defaults, then a TOML file, then the environment, then ``--set``; the last one wins."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from vanling.config.faults import explain, unknown_key, unknown_section
from vanling.config.root import Config
from vanling.config.sections import EngineSection
from vanling.config.text import parse_text
from vanling.errors import ConfigError

PREFIX = "VANLING_"
FILE_VARIABLE = "VANLING_CONFIG"


@dataclass(frozen=True, slots=True)
class _Setting:
    section: str
    key: str
    value: Any
    origin: str
    """Where it was set, as an error sentence names it."""


def load_config(file: Path | None, sets: Sequence[str], environ: Mapping[str, str]) -> Config:
    """The configuration from ``file`` (else the one that VANLING_CONFIG names), ``environ`` and ``sets``.

    ``sets`` are ``section.key=value``; environment variables are ``VANLING_SECTION__KEY``. Text values are read as the
    key's type: lists as TOML arrays or comma-separated.

    Raises:
        ConfigError: one sentence that names the key, the value, where it was set, and what is allowed.
    """
    if file is None and environ.get(FILE_VARIABLE):
        file = Path(environ[FILE_VARIABLE]).expanduser()
    tables: dict[str, dict[str, Any]] = {section: {} for section in Config.model_fields}
    origins: dict[str, str] = {}
    for setting in _settings(file, sets, environ):
        tables[setting.section][setting.key] = setting.value
        origins[f"{setting.section}.{setting.key}"] = setting.origin
    try:
        return Config.model_validate(tables).with_origins(origins)
    except ValidationError as error:
        raise ConfigError(explain(error, origins)) from None


def _settings(file: Path | None, sets: Sequence[str], environ: Mapping[str, str]) -> Iterator[_Setting]:
    if file is not None:
        yield from _from_file(file)
    yield from _from_environment(environ)
    yield from _from_sets(sets)


def _from_file(file: Path) -> Iterator[_Setting]:
    try:
        tables = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"the configuration file {file} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"the configuration file {file} is not UTF-8 text (line {line})") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the configuration file {file} is not valid TOML: {error}") from None
    for section, table in tables.items():
        _check_section(section, str(file))
        if not isinstance(table, dict):
            raise ConfigError(f"{section} in {file} must be a table: write [{section}] above its keys")
        for key, value in table.items():
            _check_key(section, key, str(file))
            yield _Setting(section, key, value, str(file))


def _from_environment(environ: Mapping[str, str]) -> Iterator[_Setting]:
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name == FILE_VARIABLE:
            continue
        section, separator, key = name[len(PREFIX) :].lower().partition("__")
        if not separator:
            _reject_single_underscore(name)
            continue
        yield _text_setting(section, key, environ[name], name)


def _reject_single_underscore(name: str) -> None:
    """VANLING_SERVER_PORT was meant as a setting; other names may belong to somebody else (a build, a cluster)."""
    section, _, key = name[len(PREFIX) :].lower().partition("_")
    if section in Config.model_fields and key in _keys(section):
        raise ConfigError(
            f"{name} is not a setting: write {PREFIX}{section.upper()}__{key.upper()}, with two underscores"
        )


def _from_sets(sets: Sequence[str]) -> Iterator[_Setting]:
    for text in sets:
        name, equals, value = text.partition("=")
        section, dot, key = name.strip().partition(".")
        if not (equals and dot and section and key):
            raise ConfigError(f"--set {text} is not section.key=value, such as server.port=8080")
        yield _text_setting(section, key, value, f"--set {name.strip()}")


def _text_setting(section: str, key: str, text: str, origin: str) -> _Setting:
    _check_section(section, origin)
    _check_key(section, key, origin)
    field = _section_type(section).model_fields.get(key)
    return _Setting(section, key, parse_text(text, field.annotation if field else None), origin)


def _check_section(section: str, origin: str) -> None:
    if section not in Config.model_fields:
        raise ConfigError(unknown_section(section, origin, list(Config.model_fields)))


def _check_key(section: str, key: str, origin: str) -> None:
    if key in _keys(section) or (issubclass(_section_type(section), EngineSection) and key.isidentifier()):
        return
    raise ConfigError(unknown_key(section, key, origin, {name: _keys(name) for name in Config.model_fields}))


def _keys(section: str) -> list[str]:
    return list(_section_type(section).model_fields)


def _section_type(section: str) -> Any:
    return Config.model_fields[section].annotation
