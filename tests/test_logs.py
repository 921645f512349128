"""Logging: the form of a line, what may not break it, and what may not be in it."""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from vanling import logs
from vanling.errors import ConfigError

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    for handler in root.handlers[:]:
        if handler not in handlers:
            root.removeHandler(handler)
            handler.close()
    root.setLevel(level)
    for name in ("vanling", "uvicorn"):
        logging.getLogger(name).setLevel(logging.NOTSET)
    logging.captureWarnings(False)


def session_logger() -> logging.Logger:
    return logging.getLogger("vanling.session.session")


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


def test_the_line_has_the_documented_form(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("debug")
    fields = {
        "component": "SESSION",
        "event": "asr_result",
        "session_id": "7f3c",
        "text": "Yeah.",
        "ms": 12.5,
        "ok": True,
    }
    session_logger().debug("asr result", extra=fields)
    (line,) = lines(capsys)
    expected = (
        rf'{TIME} DEBUG \[<SESSION> asr result\] component="session" event="asr_result" '
        r"session_id=7f3c text=Yeah\. ms=12\.5 ok=true"
    )
    assert re.fullmatch(expected, line)


def test_component_and_event_may_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure()
    session_logger().info("hello %s", "there")
    logging.getLogger("uvicorn.error").info("started")
    ours, theirs = lines(capsys)
    assert ours.endswith('INFO [<SESSION> hello there] component="session"')
    assert theirs.endswith('INFO [<UVICORN> started] component="uvicorn"')


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("two words", 'v="two words"'),
        ('say "x"', r'v="say \"x\""'),
        ("a\\b", r'v="a\\b"'),
        ("a\nb", r'v="a\nb"'),
        ("a\r\x1b[31mb", r'v="a\r\x1b[31mb"'),
        ("a\u2028b\u202eb", r'v="a\u2028b\u202eb"'),
        ("k=v", 'v="k=v"'),
        ("你好", 'v="你好"'),
        (0.1234567, "v=0.123"),
        (250.0, "v=250"),
        (0, "v=0"),
        (False, "v=false"),
    ],
)
def test_values_cannot_break_the_line(value: object, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure()
    session_logger().info("x", extra={"v": value})
    (line,) = lines(capsys)
    assert line.endswith(shown)


def test_messages_names_and_tracebacks_cannot_forge_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure()
    forged = "2026-07-20T08:58:12.870289Z INFO [<AUTH> welcome]"
    try:
        raise ValueError(f"a\n{forged}")
    except ValueError:
        session_logger().exception(f"b\n{forged}", extra={f"c\n{forged}": 1, "component": f"d\n{forged}"})
    found = lines(capsys)
    assert len(found) > 3
    assert all(line.startswith("    ") for line in found[1:])
    assert not any(line.startswith(forged[:10]) for line in found[1:])


def test_nothing_is_logged_below_the_level(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("warning")
    session_logger().info("no")
    session_logger().warning("yes")
    assert len(lines(capsys)) == 1


def test_other_libraries_are_heard_from_warning_on(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("debug")
    for name in ("httpx", "websockets.server", "asyncio", "uvicorn.access"):
        logging.getLogger(name).debug("no")
    logging.getLogger("httpx").info("no")
    logging.getLogger("httpx").warning("yes")
    warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert all("no]" not in line for line in lines(capsys))


def test_json_is_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "json")
    session_logger().info(
        "a\nb", extra={"component": "ASR", "event": "x", "text": "你\u2028", "n": 1, "path": Path("/a")}
    )
    (line,) = lines(capsys)
    entry = json.loads(line)
    assert re.fullmatch(TIME, entry.pop("time"))
    assert entry == {
        "level": "INFO", "component": "asr", "event": "x", "message": "a\nb", "text": "你\u2028", "n": 1, "path": "/a",
    }  # fmt: skip
    try:
        raise ValueError("boom")
    except ValueError:
        session_logger().exception("bad")
    assert json.loads(lines(capsys)[0])["traceback"][-1] == "ValueError: boom"


SECRET = "open-sesame"


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    ("message", "extra"),
    [
        ("x", {"token": SECRET}),
        ("x", {"Authorization": f"Bearer {SECRET}"}),
        ("x", {"password": SECRET, "api_key": SECRET, "access_token": SECRET}),
        ("x", {"headers": {"authorization": f"Bearer {SECRET}", "host": "a"}}),
        ("x", {"header": [f"Authorization: Bearer {SECRET}"]}),
        ("x", {"url": f"ws://h/xiaozhi/v1/?device-id=a&authorization=Bearer%20{SECRET}&client-id=b"}),
        ("x", {"url": f"/v1?authorization=Bearer+{SECRET}"}),
        ("x", {"url": f"/v1?token={SECRET}&x=1"}),
        (f"GET /?access_token={SECRET}", {}),
        (f"Authorization: Bearer {SECRET}", {}),
        (f'{{"token": "{SECRET}"}}', {}),
    ],
)
def test_secrets_are_masked(
    message: str, extra: dict[str, object], form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure("debug", form)
    session_logger().info(message, extra=extra)
    (line,) = lines(capsys)
    assert SECRET not in line
    assert logs.MASK in line


def test_what_only_sounds_secret_is_not_masked(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure()
    session_logger().info("x", extra={"max_tokens": 12, "tokens_per_s": 3.5, "monkey": "banana"})
    assert lines(capsys)[0].endswith("max_tokens=12 tokens_per_s=3.5 monkey=banana")


def test_a_file_gets_json_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "logs" / "vanling.log"
    logs.configure("info", "text", str(file))
    session_logger().info("你好")
    assert json.loads(file.read_text())["message"] == "你好"
    assert "[<SESSION> 你好]" in lines(capsys)[0]


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"log\.file"):
        logs.configure(file=str(tmp_path / "file" / "x.log"))


def test_the_latest_configuration_holds(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("debug")
    logs.configure("info", "json")
    session_logger().debug("no")
    session_logger().info("once")
    (line,) = lines(capsys)
    assert json.loads(line)["message"] == "once"
