"""What a person is shown of a turn, and which zero its times count from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vanling.cli.conversation import Conversation
from vanling.cli.report import keep_reply, show_conversation
from vanling.cli.wav import read_wav
from vanling.session.metrics import TurnTimes

MS = 1_000_000


def turn(**more: object) -> Conversation:
    seen = Conversation(heard="hello", sentences=["Hi."], speech_end_ns=0, stt_ns=600 * MS, arrivals_ns=[900 * MS])
    for name, value in more.items():
        setattr(seen, name, value)
    return seen


SERVER = TurnTimes(
    10 * MS,
    endpoint_ns=510 * MS,
    asr_ns=610 * MS,
    llm_first_ns=710 * MS,
    tts_first_ns=810 * MS,
    first_audio_ns=910 * MS,
)


def test_a_client_is_shown_only_what_it_can_see(capsys: pytest.CaptureFixture[str]) -> None:
    show_conversation(turn(), None, False, note="The server knows more.")
    shown = capsys.readouterr().out
    assert "after the end of speech" in shown
    assert "600" in shown
    assert "900" in shown
    assert "The server knows more." in shown
    for absent in ("endpoint", "llm_first", "tts_first", "–"):
        assert absent not in shown


def test_typed_text_has_no_recognition(capsys: pytest.CaptureFixture[str]) -> None:
    show_conversation(turn(), None, False, typed=True)
    shown = capsys.readouterr().out
    assert "Milliseconds after the text was sent" in shown
    assert "first_audio" in shown
    assert "asr" not in shown


def test_a_table_without_rows_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    show_conversation(turn(arrivals_ns=[]), None, False, typed=True)
    assert "Milliseconds" not in capsys.readouterr().out


def test_with_the_servers_times_every_step_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show_conversation(turn(arrivals_ns=[]), TurnTimes(0, endpoint_ns=500 * MS), False)
    shown = capsys.readouterr().out
    for step in ("endpoint", "asr", "llm_first", "tts_first", "first_audio", "–"):
        assert step in shown


@pytest.mark.parametrize(("client_ns", "endpoint"), [(0, 510.0), (None, 500.0)])
def test_the_servers_zero_stands_in_for_one_that_the_client_does_not_know(
    client_ns: int | None, endpoint: float
) -> None:
    seen = turn(speech_end_ns=client_ns)
    latency = seen.latency_ms(SERVER)
    assert list(latency.values()) == [endpoint + 100 * step for step in range(5)]
    assert turn(speech_end_ns=None).latency_ms()["first_audio"] is None, "without the server, nothing is made up"


def test_json_is_the_same_for_every_kind_of_turn() -> None:
    assert list(turn().document()["latency_ms"]) == ["endpoint", "asr", "llm_first", "tts_first", "first_audio"]  # type: ignore[call-overload]


def test_a_reply_is_kept_where_it_has_audio(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep_reply(turn(), tmp_path / "mute.wav", quiet=False)
    told = capsys.readouterr()
    assert told.out == ""
    assert "no audio" in told.err
    assert not (tmp_path / "mute.wav").exists()
    keep_reply(turn(audio=np.ones(240, np.int16)), tmp_path / "reply.wav", quiet=True)
    assert capsys.readouterr().out == ""
    assert len(read_wav(tmp_path / "reply.wav", 24_000)) == 240
