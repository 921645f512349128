"""vad: windows with verdicts, the edges of speech, and order across a detector that answers late."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pipeline.bench import Bench, Mark, StringHandle, StringVad, pcm
from vanling.pipeline.events import (
    FinishTurn,
    PcmFrame,
    SetMode,
    SpeechEnded,
    SpeechPaused,
    SpeechResumed,
    SpeechStarted,
    VoiceHeard,
    VoiceLapsed,
    Window,
)
from vanling.pipeline.nodes.vad import MAX_PENDING_WINDOWS, VadNode, VadSettings, VadTemplate

SILENCE, VOICE, BETWEEN = 0.0, 1.0, 0.4
SETTINGS = VadSettings()
EDGES = (SpeechStarted, SpeechPaused, SpeechResumed, SpeechEnded)


class Ear:
    """A vad node and the detector behind it."""

    def __init__(self, config: VadSettings = SETTINGS) -> None:
        self.bench = Bench()
        self.queue = StringVad()
        self.node: VadNode = VadTemplate(self.queue, config).new_instance(self.bench.context)
        assert self.queue.handle is not None
        self.handle: StringHandle = self.queue.handle

    def push(self, event: object) -> None:
        self.node.push(event, self.bench.out.append)  # type: ignore[arg-type]

    def windows(self, verdict: float, n: int) -> None:
        for _ in range(n):
            self.push(pcm(512))
            self.handle.judge(verdict)

    def edges(self) -> list[str]:
        return [type(event).__name__ for event in self.bench.out if isinstance(event, EDGES)]


def test_audio_of_any_length_becomes_windows_and_nothing_is_lost() -> None:
    ear = Ear()
    ramp = np.arange(5_000, dtype=np.int16)
    for start, stop in [(0, 1), (1, 500), (500, 512), (512, 3_000), (3_000, 5_000)]:
        ear.push(PcmFrame(ramp[start:stop], stop))
    ear.handle.judge(*[SILENCE] * 9)
    heard = np.concatenate([window.pcm for window in ear.bench.of(Window)])
    assert np.array_equal(np.round(heard * 32_768), ramp[: 9 * 512])


def test_windows_know_when_they_were_spoken_and_when_they_arrived() -> None:
    """A packet's last sample counts as captured when it arrived; the ones before it by the audio's own clock."""
    ear = Ear()
    ear.push(pcm(1_024 + 160, arrived_ns=1_000_000_000))
    ear.handle.judge(SILENCE, SILENCE)
    first, second = ear.bench.of(Window)
    assert second.end_ns == 1_000_000_000 - 10_000_000
    assert first.end_ns == second.end_ns - 32_000_000
    assert first.arrived_ns == second.arrived_ns == 1_000_000_000


@pytest.mark.parametrize(("verdict", "voiced"), [(0.0, False), (0.49, False), (0.5, True), (1.0, True)])
def test_voiced_is_from_the_threshold_on(verdict: float, voiced: bool) -> None:
    ear = Ear()
    ear.windows(verdict, 1)
    [window] = ear.bench.of(Window)
    assert (window.voiced, window.probability) == (voiced, verdict)


@pytest.mark.parametrize(
    ("script", "edges"),
    [
        # windows of 32 ms; speech from 120 ms (4), falling from 300 ms (10), confirmed at 500 ms (16)
        ([(VOICE, 3)], []),
        ([(VOICE, 4)], ["SpeechStarted"]),
        ([(VOICE, 3), (SILENCE, 30)], []),
        ([(VOICE, 10), (SILENCE, 9)], ["SpeechStarted"]),
        ([(VOICE, 10), (SILENCE, 10)], ["SpeechStarted", "SpeechPaused"]),
        ([(VOICE, 10), (SILENCE, 15)], ["SpeechStarted", "SpeechPaused"]),
        ([(VOICE, 10), (SILENCE, 16)], ["SpeechStarted", "SpeechPaused", "SpeechEnded"]),
        ([(VOICE, 10), (SILENCE, 100)], ["SpeechStarted", "SpeechPaused", "SpeechEnded"]),
        ([(VOICE, 10), (SILENCE, 9), (VOICE, 1), (SILENCE, 9)], ["SpeechStarted"]),
        (
            [(VOICE, 10), (SILENCE, 12), (VOICE, 1), (SILENCE, 15)],
            ["SpeechStarted", "SpeechPaused", "SpeechResumed", "SpeechPaused"],
        ),
        # between the two thresholds the silence count goes on
        ([(VOICE, 10), (SILENCE, 1), (BETWEEN, 15)], ["SpeechStarted", "SpeechPaused", "SpeechEnded"]),
        ([(VOICE, 10), (BETWEEN, 100)], ["SpeechStarted"]),
        (
            [(VOICE, 10), (SILENCE, 16), (VOICE, 4), (SILENCE, 16)],
            ["SpeechStarted", "SpeechPaused", "SpeechEnded"] * 2,
        ),
    ],
)
def test_edges(script: list[tuple[float, int]], edges: list[str]) -> None:
    ear = Ear()
    for verdict, n in script:
        ear.windows(verdict, n)
    assert ear.edges() == edges


def test_an_edge_follows_the_window_that_made_it() -> None:
    ear = Ear()
    ear.windows(VOICE, 4)
    assert ear.bench.names() == ["Window"] * 2 + ["VoiceHeard"] + ["Window"] * 2 + ["SpeechStarted"]


def test_silence_does_not_end_a_press() -> None:
    ear = Ear()
    ear.push(SetMode(hands_free=False, listening=True, fresh=True))
    ear.windows(VOICE, 10)
    ear.windows(SILENCE, 100)
    ear.windows(VOICE, 4)
    assert ear.edges() == ["SpeechStarted", "SpeechPaused", "SpeechStarted"]


def test_events_wait_behind_the_windows_before_them() -> None:
    ear = Ear()
    ear.push(pcm(512))
    ear.push(Mark("a"))
    ear.push(pcm(1_024))
    ear.push(Mark("b"))
    assert ear.bench.out == []
    ear.handle.judge(SILENCE)
    assert ear.bench.names() == ["Window", "Mark"]
    ear.push(Mark("c"))
    ear.handle.judge(SILENCE)
    assert ear.bench.names() == ["Window", "Mark", "Window"]
    ear.handle.judge(SILENCE)
    assert [event.name for event in ear.bench.of(Mark)] == ["a", "b", "c"]
    ear.push(Mark("d"))
    assert ear.bench.names()[-1] == "Mark"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["audio", "mark", "verdict"]), max_size=60), st.randoms(use_true_random=False))
def test_order_is_kept_whenever_the_verdicts_come(steps: list[str], random: object) -> None:
    ear, pushed = Ear(), list[str]()
    for step in steps:
        if step == "audio":
            ear.push(pcm(512))
            pushed.append("Window")
        elif step == "mark":
            ear.push(Mark())
            pushed.append("Mark")
        elif ear.handle.waiting:
            ear.handle.judge(SILENCE)
    while ear.handle.waiting:
        ear.handle.judge(SILENCE)
    assert ear.bench.names() == pushed


def test_a_fresh_start_resets_between_the_windows_before_and_after() -> None:
    ear = Ear()
    ear.push(pcm(1_024))
    ear.push(SetMode(hands_free=True, listening=True, fresh=True))
    ear.push(pcm(512))
    assert ear.handle.log == ["window", "window", "reset", "window"]


def test_a_fresh_start_forgets_open_speech() -> None:
    ear = Ear()
    ear.windows(VOICE, 10)
    ear.push(SetMode(hands_free=True, listening=True, fresh=True))
    ear.windows(SILENCE, 50)
    assert ear.edges() == ["SpeechStarted"]
    ear.windows(VOICE, 4)
    assert ear.edges() == ["SpeechStarted", "SpeechStarted"]


def test_a_fresh_start_forgets_the_odd_samples_too() -> None:
    ear = Ear()
    ear.push(pcm(100, value=9_999))
    ear.push(SetMode(hands_free=True, listening=True, fresh=True))
    ear.push(pcm(512, value=1))
    ear.handle.judge(SILENCE)
    assert ear.bench.of(Window)[0].pcm.max() < 0.01


def test_a_mere_change_of_mode_loses_nothing() -> None:
    ear = Ear()
    ear.windows(VOICE, 10)
    ear.push(SetMode(hands_free=True, listening=True, fresh=False))
    ear.windows(SILENCE, 16)
    assert ear.handle.log.count("reset") == 0
    assert ear.edges() == ["SpeechStarted", "SpeechPaused", "SpeechEnded"]


def test_the_last_samples_of_a_press_are_heard() -> None:
    ear = Ear()
    ear.push(pcm(512 + 300, value=5_000))
    ear.push(FinishTurn("stop"))
    ear.handle.judge(VOICE, VOICE)
    assert ear.bench.names() == ["Window", "Window", "VoiceHeard", "FinishTurn"]
    last = ear.bench.of(Window)[1].pcm
    assert np.all(last[:300] > 0.1)
    assert np.all(last[300:] == 0)


def test_a_client_that_floods_loses_its_newest_windows() -> None:
    ear = Ear()
    ear.push(pcm(512 * (MAX_PENDING_WINDOWS + 7)))
    assert ear.node.dropped == 7
    assert len(ear.handle.waiting) == MAX_PENDING_WINDOWS
    ear.push(Mark())
    ear.handle.judge(*[SILENCE] * MAX_PENDING_WINDOWS)
    assert ear.bench.names() == ["Window"] * MAX_PENDING_WINDOWS + ["Mark"]
    ear.windows(SILENCE, 1)
    assert ear.node.dropped == 7


def test_a_detector_that_fails_counts_as_silence_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    ear = Ear()
    ear.windows(VOICE, 10)
    for _ in range(16):
        ear.push(pcm(512))
        ear.handle.judge(RuntimeError("broken"))
    assert ear.edges() == ["SpeechStarted", "SpeechPaused", "SpeechEnded"]
    assert len(ear.bench.of(Window)) == 26
    assert len([record for record in caplog.records if getattr(record, "event", "") == "vad_error"]) == 1


def test_after_its_close_nothing_comes_out() -> None:
    ear = Ear()
    ear.push(pcm(512))
    ear.node.close()
    assert ear.handle.closed
    ear.handle.judge(VOICE)
    assert ear.bench.out == []


def test_streams_of_two_sessions_are_apart() -> None:
    one, two = Ear(), Ear()
    one.windows(VOICE, 10)
    two.windows(SILENCE, 10)
    assert (one.edges(), two.edges()) == (["SpeechStarted"], [])


# --- voice that may become speech (rule 3.2) --------------------------------------------------------------------------

VOICES = (VoiceHeard, VoiceLapsed, *EDGES)


@pytest.mark.parametrize(
    ("script", "events"),
    [
        ([(VOICE, 1), (SILENCE, 20)], []),
        ([(VOICE, 2)], ["VoiceHeard"]),
        ([(VOICE, 2), (SILENCE, 9)], ["VoiceHeard"]),
        ([(VOICE, 2), (SILENCE, 10)], ["VoiceHeard", "VoiceLapsed"]),
        ([(VOICE, 2), (SILENCE, 10), (VOICE, 2)], ["VoiceHeard", "VoiceLapsed", "VoiceHeard"]),
        ([(VOICE, 1), (BETWEEN, 3), (VOICE, 1)], ["VoiceHeard"]),
        ([(VOICE, 4)], ["VoiceHeard", "SpeechStarted"]),
        ([(VOICE, 4), (SILENCE, 10), (VOICE, 1)], ["VoiceHeard", "SpeechStarted", "SpeechPaused", "SpeechResumed"]),
        (
            [(VOICE, 4), (SILENCE, 16), (VOICE, 2)],
            ["VoiceHeard", "SpeechStarted", "SpeechPaused", "SpeechEnded", "VoiceHeard"],
        ),
    ],
)
def test_voice_is_told_of_before_it_is_sure_to_be_speech(script: list[tuple[float, int]], events: list[str]) -> None:
    ear = Ear()
    for verdict, n in script:
        ear.windows(verdict, n)
    assert [type(event).__name__ for event in ear.bench.out if isinstance(event, VOICES)] == events


def test_after_a_fresh_start_voice_is_told_of_again() -> None:
    ear = Ear()
    ear.windows(VOICE, 3)
    ear.push(SetMode(True, True, True))
    ear.windows(VOICE, 3)
    assert ear.bench.names().count("VoiceHeard") == 2
    assert "VoiceLapsed" not in ear.bench.names()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([SILENCE, VOICE, BETWEEN]), st.integers(1, 20)), max_size=12),
    st.sampled_from([30.0, 64.0, 120.0, 300.0]),
)
def test_every_speech_is_a_voice_first_and_every_voice_has_an_end(
    script: list[tuple[float, int]], min_speech_ms: float
) -> None:
    """The session holds a reply for a voice: one without an end would hold it for ever."""
    ear = Ear(VadSettings(min_speech_ms=min_speech_ms))
    for verdict, n in [*script, (SILENCE, 40)]:
        ear.windows(verdict, n)
    voice = speech = False
    for event in ear.bench.out:
        match event:
            case VoiceHeard():
                assert not voice
                voice = True
            case VoiceLapsed():
                assert voice
                assert not speech
                voice = False
            case SpeechStarted():
                assert voice
                speech = True
            case SpeechEnded():
                assert speech
                voice = speech = False
    assert not voice
