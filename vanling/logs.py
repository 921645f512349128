"""Logging: one line an event on the console, JSON lines where a machine reads them.

    logger = logging.getLogger(__name__)
    logger.info("turn over", extra={"component": "SESSION", "event": "endpoint", "session_id": sid})

    2026-07-20T08:58:12.870289Z INFO [<SESSION> turn over] component="session" event="endpoint" session_id=7f3c

What people say is logged at DEBUG only; that is for the caller to keep. Secrets are masked here, by the name of the
field and in the text of the line.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from vanling.errors import ConfigError

FILE_BYTES = 10_000_000
FILES_KEPT = 5

MASK = "***"
_SECRET_FIELD = re.compile(r"(^|_)(token|authorization|password|passwd|secret|api_?key|cookie)$", re.IGNORECASE)
_SECRET_TEXT = re.compile(
    r"(?P<name>\b(?:authorization|(?:[a-z]+[_-])?(?:token|password|secret|key))[\"']?\s*[=:]\s*[\"']?(?:Bearer(?:\s|%20|\+)+)?"
    r"|\bBearer\s+)[^\s&\"',;]+",
    re.IGNORECASE,
)

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}
"""What every record has; the rest came in by ``extra``. (uvicorn adds ``color_message``, the message once more.)"""

_BARE = re.compile(r"[\w.:/@+-]+", re.ASCII)


def configure(level: str = "info", format: str = "text", file: str = "") -> None:
    """Send vanling's and uvicorn's records of at least ``level`` to stderr as ``format`` ("text" or "json").

    ``file`` also gets them, as JSON lines, kept to :data:`FILES_KEPT` files of :data:`FILE_BYTES`. Other libraries are
    heard from WARNING on. May be called again; the latest call holds.

    Raises:
        ConfigError: the file cannot be written.
    """
    threshold = logging.getLevelNamesMapping()[level.upper()]
    console = logging.StreamHandler(sys.stderr)
    console.setFormatter(JsonFormatter() if format == "json" else TextFormatter())
    handlers: list[logging.Handler] = [console]
    if file:
        handlers.append(_file_handler(file))
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if getattr(handler, "of_vanling", False):
            root.removeHandler(handler)
            handler.close()
    for handler in handlers:
        handler.of_vanling = True  # type: ignore[attr-defined]
        root.addHandler(handler)
    root.setLevel(max(threshold, logging.WARNING))
    logging.getLogger("vanling").setLevel(threshold)
    # uvicorn's own records say who connected; its DEBUG ones dump the traffic.
    logging.getLogger("uvicorn").setLevel(max(threshold, logging.INFO))
    logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)
    logging.captureWarnings(True)


class TextFormatter(logging.Formatter):
    """``time LEVEL [<COMPONENT> message] key=value …``; a traceback follows, indented so that it forges no line."""

    def format(self, record: logging.LogRecord) -> str:
        component = _component(record)
        head = f"{_time(record)} {record.levelname} [<{component.upper()}> {_visible(_message(record))}]"
        fields = {"component": component.lower(), "event": _event(record), **_extra(record)}
        # The component and the event are always quoted, whatever they look like, so that they can be searched for.
        text = " ".join(
            f"{_visible(name)}={_quoted(str(value)) if name in ('component', 'event') else _value(value)}"
            for name, value in fields.items()
            if value != ""
        )
        trace = "".join(f"\n    {_visible(line)}" for line in _traceback(record))
        return f"{head} {text}{trace}"


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname,
            "component": _component(record).lower(),
            "event": _event(record),
            "message": _message(record),
            **_extra(record),
        }
        if trace := _traceback(record):
            entry["traceback"] = trace
        # ASCII only: a line separator of Unicode would end the line for some readers.
        return json.dumps(entry, default=str)


def _file_handler(file: str) -> logging.Handler:
    path = Path(file).expanduser()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=FILE_BYTES, backupCount=FILES_KEPT - 1, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"log.file = {file!r} cannot be written: {error.strerror or error}") from None
    handler.setFormatter(JsonFormatter())
    return handler


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _component(record: logging.LogRecord) -> str:
    """As given, else of the logger's name: the package below vanling, or the library."""
    given = getattr(record, "component", None)
    if given:
        return re.sub(r"\W", "_", str(given))
    parts = record.name.split(".")
    return parts[1] if parts[0] == "vanling" and len(parts) > 1 else parts[0]


def _event(record: logging.LogRecord) -> str:
    return str(getattr(record, "event", ""))


def _message(record: logging.LogRecord) -> str:
    return redact(record.getMessage())


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    given = vars(record).items()
    return {
        name: _redacted(name, value)
        for name, value in given
        if name not in _STANDARD and name not in ("component", "event") and value is not None
    }


def _redacted(name: str, value: Any) -> Any:
    if _SECRET_FIELD.search(name):
        return MASK
    if isinstance(value, dict):
        return {key: _redacted(str(key), item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_redacted("", item) for item in value]
    return value if isinstance(value, (bool, int, float)) else redact(str(value))


def redact(text: str) -> str:
    """``text`` with what follows ``authorization=``, ``token:``, ``Bearer`` and the like masked."""
    return _SECRET_TEXT.sub(lambda match: match["name"] + MASK, text)


def _traceback(record: logging.LogRecord) -> list[str]:
    text = ""
    if record.exc_info:
        text = logging.Formatter().formatException(record.exc_info)
    if record.stack_info:
        text += "\n" + record.stack_info
    return redact(text).splitlines()


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    text = str(value)
    return text if _BARE.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_visible(escaped)}"'


def _visible(text: str) -> str:
    """Everything that could end the line, move the cursor or turn the direction of writing, as an escape."""
    return text if text.isprintable() else "".join(_escapes(text))


def _escapes(text: str) -> Iterator[str]:
    for char in text:
        yield char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
