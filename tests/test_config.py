"""Configuration: where values come from, which wins, and what is said about wrong ones."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field, create_model

from vanling.config import ENGINE_KINDS, Config, example_toml, load_config, show
from vanling.config.allowed import allowed
from vanling.errors import ConfigError


def write(folder: Path, text: str) -> Path:
    file = folder / "vanling.toml"
    file.write_text(text, "utf-8")
    return file


def refusal(sets: list[str] | None = None, environ: dict[str, str] | None = None, file: Path | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(file, sets or [], environ or {})
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_without_any_source_everything_is_default() -> None:
    assert load_config(None, [], {}).model_dump() == Config().model_dump()


def test_each_source_wins_over_the_one_before(tmp_path: Path) -> None:
    file = write(tmp_path, "[server]\nport = 1\nhost = '::1'\n[turn]\nstall_ms = 5\n[log]\nlevel = 'error'")
    environ = {"VANLING_SERVER__PORT": "2", "VANLING_TURN__STALL_MS": "6", "HOME": "/"}
    config = load_config(file, ["server.port=3"], environ)
    assert (config.server.port, config.turn.stall_ms, config.server.host, config.log.level) == (3, 6, "::1", "error")
    assert config.origin("server.port") == "--set server.port"
    assert config.origin("turn.stall_ms") == "VANLING_TURN__STALL_MS"
    assert config.origin("server.host") == str(file)
    assert config.origin("server.data_dir") == ""


def test_the_later_of_two_sets_wins() -> None:
    assert load_config(None, ["server.port=1", "server.port=2"], {}).server.port == 2


def test_the_file_named_by_the_environment_is_read_unless_another_is_given(tmp_path: Path) -> None:
    file = write(tmp_path, "[server]\nport = 1")
    other = tmp_path / "other.toml"
    other.write_text("[server]\nport = 2")
    environ = {"VANLING_CONFIG": str(file)}
    assert load_config(None, [], environ).server.port == 1
    assert load_config(other, [], environ).server.port == 2


@pytest.mark.parametrize(
    ("text", "section", "key", "value"),
    [
        ("server.host=0.0.0.0", "server", "host", "0.0.0.0"),
        ("llm.system_prompt=5", "llm", "system_prompt", "5"),
        ("llm.system_prompt=a=b, [c]", "llm", "system_prompt", "a=b, [c]"),
        ("log.file=", "log", "file", ""),
        ("vad.threshold=1", "vad", "threshold", 1.0),
        ("auth.required=true", "auth", "required", True),
        ("auth.required=off", "auth", "required", False),
        ("auth.required=auto", "auth", "required", "auto"),
        ("audio.rate=16000", "audio", "rate", 16000),
        ("session.wake_words=你好, Jarvis", "session", "wake_words", ["你好", "Jarvis"]),
        ('session.wake_words=["Hi,ESP"]', "session", "wake_words", ["Hi,ESP"]),
        ("session.wake_words=", "session", "wake_words", []),
        ("server.data_dir=~/x", "server", "data_dir", Path.home() / "x"),
        ("server.public_url=https://voice.example.com/", "server", "public_url", "https://voice.example.com"),
        ('server.allowed_origins=["http://a:8006","null"]', "server", "allowed_origins", ["http://a:8006", "null"]),
        ("server.forwarded_allow=10.0.0.0/8,::1", "server", "forwarded_allow", ["10.0.0.0/8", "::1"]),
    ],
)  # fmt: skip
def test_text_is_read_as_the_type_of_its_key(text: str, section: str, key: str, value: object) -> None:
    assert getattr(getattr(load_config(None, [text], {}), section), key) == value


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("server.prot=1", "server.port"),
        ("servr.port=1", "server"),
        ("server.threshold=1", "vad.threshold"),
        ("turn.silence_confirm=1", "turn.silence_confirm_ms"),
        ("pacing.lead=1", "pacing.lead_frames"),
        ("log.lvl=debug", "log.level"),
        ("audio.zzz=1", "rate, frame_ms"),
    ],
)
def test_an_unknown_key_names_the_nearest(text: str, nearest: str) -> None:
    said = refusal([text])
    assert nearest in said
    assert text.partition("=")[0] in said or text.partition(".")[0] in said


def test_unknown_keys_of_file_and_environment_are_errors_too(tmp_path: Path) -> None:
    file = write(tmp_path, "[server]\nprot = 1")
    assert "server.port" in refusal(file=file)
    assert str(file) in refusal(file=file)
    assert "server.port" in refusal(environ={"VANLING_SERVER__PROT": "1"})
    assert "VANLING_SERVER__PORT" in refusal(environ={"VANLING_SERVER_PORT": "1"})


def test_variables_of_others_are_left_alone() -> None:
    load_config(None, [], {"VANLING_BUILD_NUMBER": "7", "PATH": "/bin"})


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("server.port=65536", "a whole number from 0 to 65535"),
        ("server.port=http", "a whole number from 0 to 65535"),
        ("server.port=1.5", "a whole number from 0 to 65535"),
        ("server.port=true", "a whole number from 0 to 65535"),
        ("server.port=", "a whole number from 0 to 65535"),
        ("server.host=", "not empty"),
        ("server.public_url=voice.example.com", "http://"),
        ("server.allowed_origins=http://a.b/path", "no path"),
        ("server.forwarded_allow=everyone", "10.0.0.0/8"),
        ("auth.required=maybe", '"auto", true or false'),
        ("vad.threshold=1.01", "a number from 0 to 1"),
        ("vad.pre_roll_ms=-1", "from 0 to 5000"),
        ("turn.speculate=all", '"auto", "reply", "asr", "off"'),
        ("session.language=English", "(auto|[a-z]{2,3})"),
        ("pacing.lead_frames=0", "from 1 to 10"),
        ("pacing.lead_frames=11", "from 1 to 10"),
        ("audio.rate=44100", "8000, 12000, 16000, 24000, 48000"),
        ("audio.frame_ms=30", "5, 10, 20, 40, 60, 80, 100, 120"),
        ("log.format=xml", '"text", "json"'),
    ],
)
def test_a_bad_value_names_key_value_and_what_is_allowed(text: str, allowed: str) -> None:
    key, _, value = text.partition("=")
    said = refusal([text])
    assert said.startswith(f"{key} = ")
    assert value.lower() in said.lower()
    assert allowed in said


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        (["vad.deactivation=0.6"], "vad.threshold = 0.5"),
        (["vad.threshold=0.2"], "vad.deactivation = 0.35"),
        (["server.tls_cert=a.pem"], "server.tls_key"),
        (["server.tls_key=a.pem"], "server.tls_cert"),
    ],
)
def test_keys_must_fit_each_other(sets: list[str], words: str) -> None:
    assert words in refusal(sets)


@pytest.mark.parametrize("text", ["server", "server.port", "=1", "server=1", ".port=1", "server.=1"])
def test_a_set_that_is_no_assignment_is_refused(text: str) -> None:
    assert "section.key=value" in refusal([text])


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    assert "nowhere.toml" in refusal(file=tmp_path / "nowhere.toml")
    assert "directory" in refusal(file=tmp_path).lower()


def test_broken_toml_is_one_sentence_with_the_line(tmp_path: Path) -> None:
    assert "line 3" in refusal(file=write(tmp_path, "[server]\nport = 1\nhost = \n"))
    assert "table" in refusal(file=write(tmp_path, "server = 1"))
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"[llm]\nsystem_prompt = '\xe9'")
    assert "line 2" in refusal(file=latin)


@pytest.mark.parametrize("kind", ENGINE_KINDS)
def test_options_of_engines_are_kept_for_the_registry(kind: str, tmp_path: Path) -> None:
    file = write(tmp_path, f"[{kind}]\nengine = 'x'\nbeam = 5\nmodel = '/a'")
    config = load_config(file, [f"{kind}.speed=1.5", f"{kind}.voice=joe"], {f"VANLING_{kind.upper()}__ON": "true"})
    options = {"engine": "x", "beam": 5, "model": "/a", "speed": 1.5, "voice": "joe", "on": True}
    assert config.engine_section(kind) == options
    assert "engine" in config.conversation_keys(kind)


def test_only_engines_have_engine_sections() -> None:
    with pytest.raises(ValueError, match="vad, asr, llm, tts"):
        Config().engine_section("server")


@pytest.mark.parametrize(
    ("host", "required", "asked"),
    [
        ("127.0.0.1", "auto", False),
        ("127.8.8.8", "auto", False),
        ("::1", "auto", False),
        ("localhost", "auto", False),
        ("0.0.0.0", "auto", True),
        ("192.168.1.2", "auto", True),
        ("voice.local", "auto", True),
        ("0.0.0.0", "false", False),
        ("127.0.0.1", "true", True),
    ],
)
def test_a_token_is_asked_for_where_others_can_connect(host: str, required: str, asked: bool) -> None:
    assert load_config(None, [f"server.host={host}", f"auth.required={required}"], {}).auth_required is asked


def test_secrets_are_shown_nowhere() -> None:
    sets = ["auth.tokens=open-sesame,other", "llm.api_key=open-sesame", "asr.token=open-sesame", "llm.max_tokens=5"]
    config = load_config(None, sets, {})
    assert config.tokens == {"open-sesame", "other"}
    assert config.engine_section("llm")["api_key"] == "open-sesame"
    for text in (show(config), repr(config), str(config)):
        assert "open-sesame" not in text
    assert "max_tokens = 5" in show(config)
    assert "open-sesame" not in refusal(["auth.tokens=open-sesame with space"])


def test_the_example_loads_and_holds_every_key_with_its_default(tmp_path: Path) -> None:
    example = example_toml()
    assert load_config(write(tmp_path, example), [], {}).model_dump() == Config().model_dump()
    live = re.sub(r"(?m)^#(\w+ = )", r"\1", example)
    assert load_config(write(tmp_path, live), [], {}).model_dump() == Config().model_dump()
    tables = tomllib.loads(live)
    for section, field in Config.model_fields.items():
        assert list(tables[section]) == list(field.annotation.model_fields)  # type: ignore[union-attr]


def test_engine_options_follow_their_section_in_the_example_and_load_back(tmp_path: Path) -> None:
    class Options(BaseModel):
        depth: int = Field(3, ge=1, le=9, description="how deep, in m")
        voice: Path | None = Field(None, description="where it lies")

    engines = {"tts": {"mute": {}, "loud": Options.model_fields}}
    example = example_toml(engines)
    assert load_config(write(tmp_path, example), [], {}).model_dump() == Config().model_dump()
    _, _, section = example.partition("[tts]")
    section, _, _ = section.partition("[turn]")
    for line in ("# Engines: mute, loud.", "# How deep, in m. A whole number from 1 to 9.", "#depth = 3", "#voice =\n"):
        assert line in section
    assert "depth" not in example.replace(section, "")
    shown = show(load_config(None, ["tts.engine=loud", "tts.depth=4"], {}), engines)
    assert "depth = 4  # --set tts.depth" in shown
    assert "#depth" not in shown
    assert "#voice =" in shown


@pytest.mark.parametrize(
    ("annotation", "rules", "words"),
    [
        (int, {"ge": 1, "le": 9_000_000}, "a whole number from 1 to 9000000"),
        (float | None, {"gt": 0.1, "le": 5.0}, "a number above 0.1 up to 5"),
        (int | None, {}, "a whole number"),
        (tuple[str, ...], {}, "a list of texts"),
        (Path | None, {}, "a path"),
    ],
)
def test_what_a_key_takes_is_said_in_words(annotation: Any, rules: dict[str, Any], words: str) -> None:
    model = create_model("Model", key=(annotation, Field(**rules)))
    assert allowed(model.model_fields["key"]) == words


def test_every_key_is_described() -> None:
    for section in Config.model_fields.values():
        for name, field in section.annotation.model_fields.items():  # type: ignore[union-attr]
            assert field.description, name


def test_what_is_shown_loads_back_and_says_where_it_was_set(tmp_path: Path) -> None:
    awkward = 'a "b" \\ \n\t\x7f 你好 # ='
    file = write(tmp_path, '[asr]\nwords = { a = 1, "b c" = [1.5, true] }\n')
    config = load_config(file, [f"llm.system_prompt={awkward}", "server.port=0"], {})
    text = show(config)
    assert "port = 0  # --set server.port" in text
    again = load_config(write(tmp_path, text), [], {})
    assert again.model_dump() == config.model_dump()
