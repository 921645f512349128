"""From configuration to engines: each configured engine is built once, at the start, and shared by all sessions.

Options are checked before anything is imported; the implementation, and with it its library, is imported only when it
is configured, so that an installation without model libraries works as far as its engines allow.
"""

from __future__ import annotations

import difflib
import importlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from pydantic import ValidationError

from vanling.config.allowed import allowed
from vanling.contracts.engines import Asr, EngineSet, Llm, Tts, Vad
from vanling.engines.build import BuildContext
from vanling.engines.options import (
    EchoOptions,
    EngineOptions,
    GgufOptions,
    MuteOptions,
    PiperOptions,
    SileroOptions,
    WhisperOptions,
)
from vanling.errors import ConfigError, EngineUnavailableError, VanlingError

log = logging.getLogger(__name__)

KINDS = ("vad", "asr", "llm", "tts")
DEFAULTS = {"vad": "silero", "asr": "whisper", "llm": "echo", "tts": "piper"}


@dataclass(frozen=True, slots=True)
class Registration:
    """One engine that can be configured."""

    kind: str
    name: str
    options: type[EngineOptions]
    builder: str
    """``module:function`` of ``(options, context) -> engine``; imported only when this engine is built."""
    extra: str | None = None
    """The optional dependency group that carries its library and model."""


@runtime_checkable
class Closable(Protocol):
    """An engine that has threads or memory to give back."""

    def close(self) -> None: ...


@dataclass(slots=True)
class BuiltEngines:
    """The engines of one server, and what has to be closed at its end."""

    engines: EngineSet
    _closables: list[Closable] = field(default_factory=list)

    def close(self) -> None:
        """Stop all worker threads; a call that still runs gets a moment, then is abandoned. May be called twice."""
        while self._closables:
            self._closables.pop().close()


_registrations: dict[tuple[str, str], Registration] = {}


def register(registration: Registration) -> None:
    """Make an engine known under its kind and name; a later one replaces an earlier of the same name."""
    _registrations[registration.kind, registration.name] = registration


def engine_names(kind: str) -> list[str]:
    """Names that ``<kind>.engine`` may take."""
    return sorted(name for registered_kind, name in _registrations if registered_kind == kind)


def build_engines(
    sections: Mapping[str, Mapping[str, object]],
    *,
    data_dir: Path,
    report: Callable[[str], None] | None = None,
    other_keys: Callable[[str], Sequence[str]] = lambda _: (),
) -> BuiltEngines:
    """Build one engine per kind from ``{"asr": {"engine": "whisper", "beam": 5}, …}``.

    A missing section or ``engine`` means the embedded default. ``tts.engine = mute`` gives ``EngineSet.tts = None``:
    a text-only server. All options are checked before the first engine is built; ``other_keys(kind)`` are keys of the
    same section that somebody else reads, and that a misspelt option may have meant.

    Raises ConfigError for an unknown engine or option, EngineUnavailableError where a library or model is missing.
    """
    context = BuildContext(data_dir) if report is None else BuildContext(data_dir, report)
    chosen = {kind: check_section(kind, sections.get(kind, {}), other_keys(kind)) for kind in KINDS}
    closables: list[Closable] = []
    built: dict[str, object] = {}
    try:
        for kind, (registration, options) in chosen.items():
            engine = _build(registration, options, context)
            built[kind] = engine
            if isinstance(engine, Closable):
                closables.append(engine)
    except BaseException:
        BuiltEngines(cast(Any, None), closables).close()
        raise
    engines = EngineSet(
        vad=cast(Vad, built["vad"]),
        asr=cast(Asr, built["asr"]),
        llm=cast(Llm, built["llm"]),
        tts=cast("Tts | None", built["tts"]),
    )
    return BuiltEngines(engines, closables)


def build_one(kind: str, section: Mapping[str, object], context: BuildContext) -> object:
    """One engine for a caller of its own, as :func:`build_engines` would build it; blocks while it loads.

    Raises ConfigError for an unknown engine or option, EngineUnavailableError where a library or model is missing.
    """
    registration, options = check_section(kind, section)
    return _build(registration, options, context)


@contextmanager
def closing_engine(engine: object) -> Iterator[None]:
    """Give back an engine's threads at the end, if it has any."""
    try:
        yield
    finally:
        if isinstance(engine, Closable):
            engine.close()


def check_section(
    kind: str, section: Mapping[str, object], other_keys: Sequence[str] = ()
) -> tuple[Registration, EngineOptions]:
    """The engine that a section names, and its checked options; raises ConfigError naming the nearest key."""
    options = dict(section)
    name = options.pop("engine", DEFAULTS.get(kind))
    registration = _registrations.get((kind, str(name)))
    if registration is None:
        known = engine_names(kind)
        near = _nearest(str(name), known)
        raise ConfigError(f"{kind}.engine={name} is not an engine{near}; known: {', '.join(known)}")
    try:
        return registration, registration.options.model_validate(options)
    except ValidationError as error:
        raise ConfigError(_explain(registration, error, other_keys)) from None


def _explain(registration: Registration, error: ValidationError, other_keys: Sequence[str]) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    where = f"{registration.kind}.{key}"
    if first["type"] == "extra_forbidden":
        known = list(dict.fromkeys([*registration.options.model_fields, "engine", *other_keys]))
        return (
            f"{where} is not an option of {registration.kind}.engine={registration.name}"
            f"{_nearest(key, known)}; known: {', '.join(known)}"
        )
    takes = allowed(registration.options.model_fields[str(first["loc"][0])])
    said = first["msg"].removeprefix("Input should be ")
    limit = f"it must be {said}, " if "than" in first["type"] else "it must be "
    return f"{where}={first['input']!r} cannot be used: {limit}{takes}"


def _nearest(word: str, known: list[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f" (did you mean {near[0]}?)" if near else ""


def _build(registration: Registration, options: EngineOptions, context: BuildContext) -> object:
    module_name, function_name = registration.builder.split(":")
    where = f"{registration.kind}.engine={registration.name}"
    mend = f": pip install 'vanling[{registration.extra}]'" if registration.extra else ""
    began = time.monotonic()
    try:
        builder = getattr(importlib.import_module(module_name), function_name)
        engine: object = builder(options, context)
    except VanlingError:
        raise
    except ImportError as error:
        missing = error.name or str(error)
        raise EngineUnavailableError(f"{where} needs the library {missing}, which is not installed{mend}") from error
    except Exception as error:
        raise EngineUnavailableError(f"{where} could not be built: {error}") from error
    log.info(
        "%s ready after %.0f ms",
        where,
        1000 * (time.monotonic() - began),
        extra={"component": registration.kind.upper(), "event": "engine_ready"},
    )
    return engine


def build_mute(_options: MuteOptions, _context: BuildContext) -> None:
    """No voice: the server is text-only."""


for _registration in (
    Registration("vad", "silero", SileroOptions, "vanling.engines.silero:build", "embedded"),
    Registration("asr", "whisper", WhisperOptions, "vanling.engines.whisper.engine:build", "embedded"),
    Registration("tts", "piper", PiperOptions, "vanling.engines.piper.engine:build", "embedded"),
    Registration("tts", "mute", MuteOptions, "vanling.engines.registry:build_mute"),
    Registration("llm", "echo", EchoOptions, "vanling.engines.echo:build"),
    Registration("llm", "gguf", GgufOptions, "vanling.engines.gguf:build", "gguf"),
):
    register(_registration)
