"""From configuration to engines: what is refused, how it is explained, what is closed."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.engines.conftest import need, need_model
from tests.fakes.engines import FakeAsr, FakeLlm, FakeVad
from vanling.engines import registry
from vanling.engines.build import BuildContext
from vanling.engines.models import PIPER_JOE, SILERO, WHISPER_TINY_EN
from vanling.engines.options import EngineOptions
from vanling.engines.registry import Registration, build_engines, check_section, engine_names, register
from vanling.errors import ConfigError, EngineUnavailableError

closed: list[str] = []


class ClosableAsr(FakeAsr):
    def close(self) -> None:
        closed.append("asr")


def fake_vad(_options: EngineOptions, _context: BuildContext) -> FakeVad:
    return FakeVad()


def fake_asr(_options: EngineOptions, _context: BuildContext) -> ClosableAsr:
    return ClosableAsr()


def fake_llm(_options: EngineOptions, _context: BuildContext) -> FakeLlm:
    return FakeLlm()


def broken(_options: EngineOptions, _context: BuildContext) -> FakeLlm:
    raise RuntimeError("bits fell out")


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, object]]:
    monkeypatch.setattr(registry, "_registrations", dict(registry._registrations))
    closed.clear()
    for kind, builder in (("vad", "fake_vad"), ("asr", "fake_asr"), ("llm", "fake_llm")):
        register(Registration(kind, "fake", EngineOptions, f"{__name__}:{builder}"))
    register(Registration("llm", "broken", EngineOptions, f"{__name__}:broken"))
    register(Registration("llm", "absent", EngineOptions, "vanling.engines.no_such_module:build", "cloud"))
    return {kind: {"engine": "fake"} for kind in ("vad", "asr", "llm")} | {"tts": {"engine": "mute"}}


@pytest.mark.parametrize(
    ("kind", "section", "complaint"),
    [
        ("asr", {"engine": "wisper"}, r"asr\.engine=wisper is not an engine \(did you mean whisper\?\)"),
        ("asr", {"beem": 3}, r"asr\.beem is not an option of asr\.engine=whisper \(did you mean beam\?\)"),
        ("asr", {"beam": 0}, r"asr\.beam=0 cannot be used: .*greater than or equal to 1"),
        ("tts", {"engine": "mute", "voice": "x"}, r"tts\.voice is not an option of tts\.engine=mute"),
        ("llm", {"engine": "gguf", "max_token": 5}, r"did you mean max_tokens\?"),
        ("vad", {"threshold": 0.5}, r"vad\.threshold is not an option"),
        ("tts", {"engine": None}, r"tts\.engine=None is not an engine"),
    ],
)
def test_what_cannot_be_configured_is_named(kind: str, section: dict[str, object], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        check_section(kind, section)


def test_defaults_are_the_embedded_engines() -> None:
    assert [check_section(kind, {})[0].name for kind in ("vad", "asr", "llm", "tts")] == [
        "silero",
        "whisper",
        "echo",
        "piper",
    ]
    assert engine_names("tts") == ["mute", "piper"]


def test_mute_means_no_voice_and_close_closes_once(fakes: dict[str, dict[str, object]], tmp_path: Path) -> None:
    built = build_engines(fakes, data_dir=tmp_path)
    assert built.engines.tts is None
    assert isinstance(built.engines.llm, FakeLlm)
    built.close()
    built.close()
    assert closed == ["asr"]


def test_a_failing_build_closes_what_was_built(fakes: dict[str, dict[str, object]], tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match=r"llm\.engine=broken could not be built: bits fell out"):
        build_engines(fakes | {"llm": {"engine": "broken"}}, data_dir=tmp_path)
    assert closed == ["asr"]


def test_a_missing_library_says_how_to_get_it(fakes: dict[str, dict[str, object]], tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match=r"needs the library .*no_such_module.*'vanling\[cloud\]'"):
        build_engines(fakes | {"llm": {"engine": "absent"}}, data_dir=tmp_path)


def test_a_wrong_option_is_found_before_anything_is_built(fakes: dict[str, dict[str, object]], tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        build_engines(fakes | {"tts": {"engine": "mute", "x": 1}}, data_dir=tmp_path)
    assert closed == []


def test_checking_options_loads_no_model_library() -> None:
    code = (
        "import sys; from vanling.engines.registry import check_section\n"
        "for kind in ('vad', 'asr', 'llm', 'tts'): check_section(kind, {})\n"
        "heavy = {'onnxruntime', 'onnx', 'ctranslate2', 'gruut', 'tokenizers', 'xllamacpp'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_embedded_engines_are_built_and_closed(tmp_path: Path) -> None:
    need("ctranslate2", "tokenizers", "onnxruntime", "gruut", "onnx")
    for model in (SILERO, WHISPER_TINY_EN, PIPER_JOE):
        need_model(model)
    told: list[str] = []
    before = set(threading.enumerate())
    built = build_engines({}, data_dir=tmp_path, report=told.append)
    assert built.engines.tts is not None
    assert told
    built.close()
    assert {thread for thread in threading.enumerate() if thread.name.startswith("vanling-")} <= before
