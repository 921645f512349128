"""How a configuration becomes a session's settings."""

from __future__ import annotations

import pytest

from tests.fakes.engines import FakeLlm
from vanling.config import Config
from vanling.server.connection import _session_settings
from vanling.session.frame import ListenMode

AUTO, REALTIME = ListenMode.AUTO, ListenMode.REALTIME


@pytest.mark.parametrize(
    ("speculate", "pure", "modes"),
    [
        ("auto", True, {REALTIME}),
        ("reply", True, {AUTO, REALTIME}),
        ("asr", True, set()),
        ("off", True, set()),
        ("auto", False, set()),
        ("reply", False, set()),
    ],
)
def test_where_a_reply_is_thought_ahead(speculate: str, pure: bool, modes: set[ListenMode]) -> None:
    """Rule 3.1: an engine that is not pure is never asked on a guess."""
    config = Config.model_validate({"turn": {"speculate": speculate}})
    assert _session_settings(config, FakeLlm(pure=pure)).hold.think_ahead == modes


def test_each_part_of_the_hold_can_be_switched_off() -> None:
    turn = {"hold": False, "merge": False, "echo": False, "false_interruption_ms": 700}
    hold = _session_settings(Config.model_validate({"turn": turn}), FakeLlm()).hold
    assert (hold.hold, hold.merge, hold.echo, hold.false_interruption_ms) == (False, False, False, 700)
    hold = _session_settings(Config(), FakeLlm()).hold
    assert (hold.hold, hold.merge, hold.echo, hold.false_interruption_ms) == (True, True, True, 2_000)
