"""One engine for a command's own use, built as the server builds it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from vanling.engines.build import BuildContext
from vanling.engines.registry import Closable, check_section
from vanling.errors import EngineUnavailableError


def build_one(kind: str, section: Mapping[str, object], context: BuildContext) -> object:
    """The engine that ``section`` names. Blocks for as long as loading takes.

    Raises:
        ConfigError: no such engine or option.
        EngineUnavailableError: its library or model is missing.
    """
    registration, options = check_section(kind, section)
    module, function = registration.builder.split(":")
    try:
        return getattr(importlib.import_module(module), function)(options, context)
    except ImportError as error:
        mend = f": pip install 'vanling[{registration.extra}]'" if registration.extra else ""
        raise EngineUnavailableError(
            f"{kind}.engine={registration.name} needs the library {error.name}, which is not installed{mend}"
        ) from error


@contextmanager
def closing_engine(engine: object) -> Iterator[None]:
    """Give back its threads at the end, if it has any."""
    try:
        yield
    finally:
        if isinstance(engine, Closable):
            engine.close()
