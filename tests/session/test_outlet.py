"""The outlet: what leaves, in which order and when (CONVERSATION §5). Pure: times in, messages out."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.witness import Witness
from vanling.contracts.audio import AudioSpec, Pace
from vanling.session.frame import (
    Audio,
    Emotion,
    OutputMessage,
    ReplyDone,
    ReplyStatus,
    Sentence,
    TtsStart,
    TtsStop,
)
from vanling.session.outlet import Outlet, OutletState, PacingSettings

MS = 1_000_000
PACED = AudioSpec()
UNPACED = AudioSpec(pace=Pace.NONE)
FRAME = 60.0
PACING = PacingSettings()


@dataclass
class Bench:
    """An outlet, a clock in ms and a connection."""

    spec: AudioSpec | None = PACED
    pacing: PacingSettings = PACING
    now_ms: float = 1_000.0
    writable: bool = True
    room: int | None = None
    """Frames that the connection takes before it is full; None: any number."""
    sent: list[tuple[float, OutputMessage]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.outlet = Outlet(self.spec, self.pacing)

    @property
    def now_ns(self) -> int:
        return round(self.now_ms * MS)

    def begin(self, epoch: int = 1) -> Bench:
        self.outlet.begin(epoch)
        return self

    def say(self, text: str, frames: int, emotion: str = "neutral", *, end: bool = True) -> Bench:
        self.outlet.sentence(text, emotion)
        self.frames(frames)
        if end:
            self.outlet.sentence_end()
        return self.pump()

    def frames(self, n: int) -> Bench:
        for _ in range(n):
            self.outlet.audio(b"frame", FRAME)
        return self.pump()

    def end(self, status: ReplyStatus = ReplyStatus.COMPLETED) -> Bench:
        self.outlet.end(status)
        return self.pump()

    def interrupt(self) -> list[OutputMessage]:
        out = self.outlet.interrupt(self.now_ns)
        self.sent += [(self.now_ms, message) for message in out]
        return out

    def hold(self) -> list[OutputMessage]:
        out = self.outlet.hold(self.now_ns)
        self.sent += [(self.now_ms, message) for message in out]
        return out

    def release(self, epoch: int = 2) -> Bench:
        self.outlet.release(epoch)
        return self.pump()

    def pump(self) -> Bench:
        """As the session does: until nothing more is due."""
        while messages := self.outlet.step(self.now_ns, self._writable()):
            for message in messages:
                self.sent.append((self.now_ms, message))
                if isinstance(message, Audio) and self.room is not None:
                    self.room -= 1
        return self

    def _writable(self) -> bool:
        return self.writable and (self.room is None or self.room > 0)

    def wait(self, ms: float) -> Bench:
        end_ms = self.now_ms + ms
        while (next_ns := self.outlet.next_ns) is not None and self._writable() and next_ns <= end_ms * MS:
            before = (next_ns, len(self.sent))
            self.now_ms = max(self.now_ms, next_ns / MS)
            self.pump()
            assert (self.outlet.next_ns, len(self.sent)) != before, "the shell would spin"
        self.now_ms = end_ms
        return self.pump()

    def names(self) -> list[str]:
        return [type(message).__name__ for _, message in self.sent]

    def times(self, kind: type[OutputMessage]) -> list[float]:
        return [now_ms - 1_000 for now_ms, message in self.sent if isinstance(message, kind)]

    def texts(self) -> list[str]:
        return [message.text for _, message in self.sent if isinstance(message, Sentence)]


# --- order and times ------------------------------------------------------------------------------------------------


def test_one_sentence_from_start_to_stop() -> None:
    bench = Bench().begin().say("Hello.", 3, "happy").end().wait(2_000)
    assert bench.names() == [
        "TtsStart", "Emotion", "Sentence", "Audio", "Audio", "Audio", "SentenceEnd", "TtsStop", "ReplyDone",
    ]  # fmt: skip
    assert [m.name for _, m in bench.sent if isinstance(m, Emotion)] == ["happy"]
    assert bench.times(TtsStart) == [0]
    assert bench.times(Audio) == [100, 100, 160], "two frames of lead, then one a frame"
    # played from 100 to 280; 200 ms for what the device still holds
    assert bench.times(TtsStop) == [480]
    assert bench.times(ReplyDone) == [480]
    assert bench.outlet.state is OutletState.SILENT


def test_every_sentence_is_announced_just_before_its_first_frame() -> None:
    bench = Bench().begin().say("One.", 4).say("Two.", 4).say("Three.", 4).end().wait(5_000)
    assert bench.texts() == ["One.", "Two.", "Three."]
    names = bench.names()
    for at, name in enumerate(names):
        if name == "Sentence":
            assert names[at + 1] == "Audio"
            assert bench.sent[at][0] == bench.sent[at + 1][0]
    assert bench.times(Sentence) == [100, 100 + 60 * 3, 100 + 60 * 7]


def test_nothing_is_sent_before_the_first_sentence() -> None:
    assert Bench().begin().wait(10_000).sent == []


def test_start_goes_out_with_the_sentence_that_has_no_audio_yet() -> None:
    bench = Bench().begin()
    bench.outlet.sentence("Hello.", "neutral")
    assert bench.pump().names() == ["TtsStart"]
    assert bench.wait(5_000).names() == ["TtsStart"], "a sentence is not announced without its audio"
    bench.frames(1)
    assert bench.names() == ["TtsStart", "Emotion", "Sentence", "Audio"]
    assert bench.times(Audio) == [5_000]


@pytest.mark.parametrize("gap_ms", [0, 100, 500])
def test_audio_keeps_the_start_gap(gap_ms: float) -> None:
    bench = Bench(pacing=PacingSettings(start_gap_ms=gap_ms)).begin().say("Hello.", 1).end().wait(3_000)
    assert bench.times(Audio) == [gap_ms]


@pytest.mark.parametrize("lead", [1, 2, 5, 10])
def test_the_lead_goes_at_once_and_then_a_frame_a_frame(lead: int) -> None:
    bench = Bench(pacing=PacingSettings(lead_frames=lead)).begin().say("Hello.", 12).end().wait(5_000)
    assert bench.times(Audio) == [100] * lead + [100 + FRAME * n for n in range(1, 13 - lead)]


@pytest.mark.parametrize("buffer_ms", [0, 200, 1_000])
def test_stop_follows_the_playout_and_the_device_buffer(buffer_ms: float) -> None:
    bench = Bench(pacing=PacingSettings(device_buffer_ms=buffer_ms)).begin().say("Hello.", 10).end().wait(5_000)
    assert bench.times(TtsStop) == [100 + 10 * FRAME + buffer_ms]


def test_stop_waits_for_the_playout_also_when_the_end_is_told_late() -> None:
    bench = Bench().begin().say("Hello.", 2).wait(5_000).end().wait(1_000)
    [stop] = bench.times(TtsStop)
    assert 5_000 <= stop <= 5_000 + PACING.device_buffer_ms


@pytest.mark.parametrize("status", [ReplyStatus.COMPLETED, ReplyStatus.FAILED])
def test_a_reply_without_a_sentence_makes_no_sound_and_is_done(status: ReplyStatus) -> None:
    bench = Bench().begin().end(status)
    [(_, done)] = bench.sent
    assert done == ReplyDone(epoch=1, status=status, text="")
    assert not bench.outlet.active


def test_all_messages_bear_the_epoch_of_their_reply() -> None:
    bench = Bench().begin(7).say("Hello.", 3).end().wait(2_000)
    assert {message.epoch for _, message in bench.sent} == {7}


def test_done_bears_all_that_was_written() -> None:
    bench = Bench().begin().say("One.", 2).say("Two.", 2).end().wait(2_000)
    [(_, done)] = [(t, m) for t, m in bench.sent if isinstance(m, ReplyDone)]
    assert done == ReplyDone(epoch=1, status=ReplyStatus.COMPLETED, text="One. Two.")


def test_a_second_reply_begins_as_the_first_did() -> None:
    bench = Bench().begin(1).say("One.", 5).end().wait(3_000)
    first = [t for t in bench.times(Audio)]
    bench.begin(1).say("Two.", 5).end().wait(3_000)
    assert bench.times(Audio)[5:] == [t + 3_000 for t in first]


@pytest.mark.parametrize("lead", [2, 10])
def test_a_reply_that_replaces_another_has_its_whole_lead(lead: int) -> None:
    """The device flushed its queue: what it had been sent of the old reply does not count."""
    bench = Bench(pacing=PacingSettings(lead_frames=lead)).begin(1).say("Old.", 30).wait(110)
    bench.interrupt()
    bench.begin(2).say("New.", 20).wait(100)
    assert bench.times(Audio)[lead:] == [210] * lead


# --- sentences without audio ------------------------------------------------------------------------------------------


def test_sentences_without_audio_are_shown_and_start_and_stop_balance() -> None:
    bench = Bench().begin().say("你好。", 0).say("再见。", 0).end().wait(1_000)
    assert bench.texts() == ["你好。", "再见。"]
    assert bench.names().count("TtsStart") == bench.names().count("TtsStop") == 1
    assert "Audio" not in bench.names()


@pytest.mark.parametrize("silent_at", [0, 1, 2])
def test_a_sentence_without_audio_among_others_keeps_its_place(silent_at: int) -> None:
    bench = Bench().begin()
    for n in range(3):
        bench.say(str(n), 0 if n == silent_at else 3)
    bench.end().wait(3_000)
    assert bench.texts() == ["0", "1", "2"]
    assert bench.names().count("Audio") == 6


@pytest.mark.parametrize("frames", [0, 1, 5])
def test_a_sentence_that_its_reply_broke_off_ends_all_the_same(frames: int) -> None:
    """P15: whatever fails between a sentence's begin and its end, the stop follows the start."""
    bench = Bench().begin().say("Hello.", frames, end=False).end(ReplyStatus.FAILED).wait(3_000)
    assert bench.names().count("SentenceEnd") == 1
    assert bench.names()[-3:] == ["SentenceEnd", "TtsStop", "ReplyDone"]
    assert bench.outlet.state is OutletState.SILENT


# --- dry queue, late frames, slow client ------------------------------------------------------------------------------


@pytest.mark.parametrize("lead", [1, 2, 4])
def test_after_a_dry_queue_no_more_than_the_lead_leaves_at_once(lead: int) -> None:
    """P5: a hole is a hole; what was not there in time is not made up for."""
    bench = Bench(pacing=PacingSettings(lead_frames=lead)).begin().say("One.", 10).wait(10_000)
    bench.say("Two.", 20).end().wait(5_000)
    after = [t for t in bench.times(Audio) if t >= 5_000]
    assert after == [10_000] * lead + [10_000 + FRAME * n for n in range(1, 21 - lead)]


@pytest.mark.parametrize("late_ms", [50, 120, 1_000, 10_000])
def test_a_late_timer_never_makes_a_burst_beyond_the_lead(late_ms: float) -> None:
    bench = Bench().begin().say("Long.", 50)
    bench.wait(400)
    bench.now_ms += late_ms
    witness = Witness()
    bench.pump().end().wait(10_000)
    for now_ms, message in bench.sent:
        witness.see(message, now_ms)
    assert bench.names().count("Audio") == 50


def test_not_writable_holds_audio_and_its_sentence_back_and_loses_nothing() -> None:
    bench = Bench().begin()
    bench.writable = False
    bench.say("Hello.", 5).end().wait(3_000)
    assert bench.names() == ["TtsStart"]
    bench.writable = True
    bench.pump().wait(3_000)
    assert bench.names().count("Audio") == 5
    assert bench.names()[-1] == "ReplyDone"


@pytest.mark.parametrize("spec", [PACED, UNPACED])
def test_the_outlet_wants_to_be_called_again_where_the_first_frame_could_not_be_written(spec: AudioSpec) -> None:
    """``next_ns`` None would mean that nobody waits for the connection: the reply would hang."""
    bench = Bench(spec).begin()
    bench.writable = False
    bench.say("Hello.", 5).wait(200)
    assert bench.outlet.next_ns is not None
    assert bench.outlet.next_ns <= bench.now_ns


@pytest.mark.parametrize("spec", [PACED, UNPACED])
def test_one_frame_at_a_time_to_a_full_connection(spec: AudioSpec) -> None:
    bench = Bench(spec)
    bench.room = 0
    bench.begin().say("Hello.", 5).end().wait(1_000)
    for n in range(1, 6):
        bench.room = 1
        bench.pump()
        assert bench.names().count("Audio") == n
        bench.wait(500)
        assert n == 5 or bench.outlet.next_ns is not None


def test_backlog_is_what_was_made_and_not_sent() -> None:
    bench = Bench().begin()
    assert bench.outlet.backlog_ms == 0
    bench.say("Hello.", 10)
    assert bench.outlet.backlog_ms == 600
    bench.wait(100)
    assert bench.outlet.backlog_ms == 480
    bench.wait(60)
    assert bench.outlet.backlog_ms == 420
    bench.interrupt()
    assert bench.outlet.backlog_ms == 0


def test_there_is_room_for_four_seconds_or_two_sentences() -> None:
    bench = Bench().begin()
    assert bench.outlet.has_room
    bench.say("Long.", 66)
    assert bench.outlet.has_room
    bench.frames(1)
    assert not bench.outlet.has_room
    bench.wait(100 + 120)
    assert bench.outlet.has_room
    bench = Bench().begin()
    for n in range(4):
        assert bench.outlet.has_room is (n < 3), "no more than two whole ones and the one that is begun"
        bench.say(str(n), 1)


# --- no pace, no voice ------------------------------------------------------------------------------------------------


def test_without_pace_audio_leaves_as_fast_as_it_is_made() -> None:
    bench = Bench(UNPACED).begin().say("Hello.", 100)
    assert bench.times(Audio) == [0] * 100
    bench.end().wait(60_000)
    assert bench.names()[-2:] == ["TtsStop", "ReplyDone"]


def test_a_text_door_is_not_made_to_wait() -> None:
    bench = Bench(None).begin().say("One.", 0).say("Two.", 0).end()
    assert bench.names() == [
        "TtsStart", "Emotion", "Sentence", "SentenceEnd", "Emotion", "Sentence", "SentenceEnd", "TtsStop", "ReplyDone",
    ]  # fmt: skip
    assert bench.now_ms == 1_000


# --- interruption -----------------------------------------------------------------------------------------------------


def test_interrupting_nothing_says_nothing() -> None:
    assert Bench().interrupt() == []
    bench = Bench().begin().say("Hello.", 1).end().wait(2_000)
    assert bench.interrupt() == []


def names_of(messages: list[OutputMessage]) -> list[str]:
    return [type(message).__name__ for message in messages]


def test_interrupt_in_each_state() -> None:
    silent = Bench().begin()
    assert names_of(silent.interrupt()) == ["ReplyDone"]

    starting = Bench().begin().say("Hello.", 5)
    assert starting.outlet.state is OutletState.STARTING
    assert names_of(starting.interrupt()) == ["TtsStop", "ReplyDone"]

    speaking = Bench().begin().say("Hello.", 5).wait(150)
    assert speaking.outlet.state is OutletState.SPEAKING
    assert names_of(speaking.interrupt()) == ["SentenceEnd", "TtsStop", "ReplyDone"]

    between = Bench().begin().say("Hello.", 2).wait(3_000)
    assert names_of(between.interrupt()) == ["TtsStop", "ReplyDone"]

    draining = Bench().begin().say("Hello.", 2).end().wait(150)
    assert draining.outlet.state is OutletState.DRAINING
    assert names_of(draining.interrupt()) == ["TtsStop", "ReplyDone"]

    for bench in (silent, starting, speaking, between, draining):
        count = len(bench.sent)
        bench.wait(10_000)
        assert len(bench.sent) == count, "nothing of it leaves any more"
        assert bench.outlet.state is OutletState.SILENT
        assert bench.outlet.next_ns is None
        assert bench.sent[-1][1] == ReplyDone(epoch=1, status=ReplyStatus.INTERRUPTED, text=bench.sent[-1][1].text)


def test_a_stop_by_interruption_does_not_wait() -> None:
    bench = Bench().begin().say("Hello.", 50).wait(500)
    assert bench.interrupt()
    assert bench.times(TtsStop) == [500]


def test_an_interruption_needs_no_writable_connection() -> None:
    bench = Bench().begin().say("Hello.", 50).wait(500)
    bench.writable = False
    assert names_of(bench.interrupt()) == ["SentenceEnd", "TtsStop", "ReplyDone"]


# --- hold and release (rules 3.2 and 3.3) -----------------------------------------------------------------------------


def in_state(state: OutletState) -> Bench:
    """A reply of two sentences, caught in this state."""
    match state:
        case OutletState.SILENT:
            return Bench().begin()
        case OutletState.STARTING:
            return Bench().begin().say("One.", 10).say("Two.", 10)
        case OutletState.SPEAKING:
            return Bench().begin().say("One.", 10).say("Two.", 10).wait(400)
        case OutletState.DRAINING:
            return Bench().begin().say("One.", 10).say("Two.", 10).end().wait(100 + 20 * FRAME - 50)
        case OutletState.HELD:
            bench = in_state(OutletState.SPEAKING)
            bench.hold()
            return bench


@pytest.mark.parametrize(
    ("state", "closing", "again"),
    [
        (OutletState.SILENT, [], []),
        (OutletState.STARTING, ["TtsStop"], ["One.", "Two."]),
        (OutletState.SPEAKING, ["SentenceEnd", "TtsStop"], ["One.", "Two."]),
        (OutletState.DRAINING, ["TtsStop"], ["Two."]),
        (OutletState.HELD, [], ["One.", "Two."]),
    ],
)
def test_hold_and_release_in_each_state(state: OutletState, closing: list[str], again: list[str]) -> None:
    bench = in_state(state)
    assert bench.outlet.state is state
    assert names_of(bench.hold()) == closing
    assert bench.outlet.state is OutletState.HELD
    count, texts = len(bench.sent), len(bench.texts())
    bench.wait(10_000)
    assert len(bench.sent) == count, "nothing leaves through a shut gate"
    assert bench.outlet.next_ns is None
    bench.release(7).end().wait(10_000)
    assert bench.texts()[texts:] == again
    after = [message for _, message in bench.sent[count:]]
    assert {message.epoch for message in after} == {7}
    assert names_of(after)[-1] == "ReplyDone"
    assert names_of(after).count("TtsStart") == names_of(after).count("TtsStop") == bool(again)
    assert bench.outlet.state is OutletState.SILENT


@pytest.mark.parametrize("state", list(OutletState))
def test_a_held_reply_can_be_interrupted(state: OutletState) -> None:
    bench = in_state(state)
    bench.hold()
    assert names_of(bench.interrupt()) == ["ReplyDone"], "its stop went out when it was held"
    bench.begin(9).say("New.", 3).end().wait(3_000)
    assert bench.texts()[-1] == "New."
    assert bench.outlet.state is OutletState.SILENT


def test_holding_nothing_says_nothing_and_a_second_hold_neither() -> None:
    assert Bench().hold() == []
    bench = in_state(OutletState.SPEAKING)
    assert bench.hold()
    assert bench.hold() == []


def test_releasing_what_is_not_held_changes_nothing() -> None:
    bench = in_state(OutletState.SPEAKING).release(5).end().wait(10_000)
    assert bench.texts() == ["One.", "Two."]
    assert {message.epoch for _, message in bench.sent} == {1}


def test_a_sentence_that_was_played_in_full_is_not_repeated() -> None:
    bench = Bench().begin().say("One.", 10).say("Two.", 10).say("Three.", 10).end()
    bench.wait(100 + 600 + 200)
    bench.hold()
    bench.release().wait(10_000)
    assert bench.texts() == ["One.", "Two.", "Two.", "Three."]
    assert bench.names().count("Audio") == 10 + 10 + 10 + len([t for t in bench.times(Audio) if 640 <= t <= 900])


def test_a_held_sentence_begins_anew_with_its_own_first_frame() -> None:
    bench = Bench().begin()
    bench.outlet.sentence("One.", "happy")
    for n in range(10):
        bench.outlet.audio(bytes([n]), FRAME)
    bench.outlet.sentence_end()
    bench.pump().wait(400)
    bench.hold()
    count = len(bench.sent)
    bench.release().end().wait(10_000)
    packets = [message.packet for _, message in bench.sent[count:] if isinstance(message, Audio)]
    assert packets == [bytes([n]) for n in range(10)]
    assert [m.name for _, m in bench.sent[count:] if isinstance(m, Emotion)] == ["happy"]


def test_a_sentence_whose_end_was_not_made_yet_begins_anew_however_much_was_played() -> None:
    bench = Bench().begin().say("One.", 5, end=False).wait(5_000)
    bench.hold()
    bench.outlet.audio(b"more", FRAME)
    bench.outlet.sentence_end()
    bench.release().end().wait(5_000)
    assert bench.texts() == ["One.", "One."]
    assert bench.names().count("Audio") == 5 + 6


def test_what_is_made_while_held_waits_and_is_bounded() -> None:
    bench = in_state(OutletState.SILENT)
    bench.hold()
    bench.say("One.", 40).say("Two.", 40)
    assert bench.sent == []
    assert bench.outlet.backlog_ms == 80 * FRAME
    assert not bench.outlet.has_room
    bench.end().release().wait(20_000)
    assert bench.names().count("Audio") == 80
    assert bench.texts() == ["One.", "Two."]


def test_the_start_gap_and_the_lead_begin_anew_after_a_hold() -> None:
    bench = in_state(OutletState.SPEAKING)
    bench.hold()
    bench.wait(1_000)
    bench.release().wait(300)
    [_, start] = bench.times(TtsStart)
    after = [t for t in bench.times(Audio) if t >= start]
    assert after[:4] == [start + 100, start + 100, start + 160, start + 220]


@pytest.mark.parametrize(("held_after_ms", "heard"), [(100 + 299, ""), (100 + 300, "One."), (100 + 900, "One. Two.")])
def test_heard_counts_across_holds(held_after_ms: float, heard: str) -> None:
    """What was played before the hold was heard, though it begins anew."""
    bench = Bench().begin().say("One.", 10).say("Two.", 10).wait(held_after_ms)
    bench.hold()
    assert bench.outlet.heard(bench.now_ns) == heard
    bench.wait(5_000).release().wait(50)
    [done] = [message for message in bench.interrupt() if isinstance(message, ReplyDone)]
    assert done.text == heard


def test_done_bears_every_sentence_once_after_a_hold() -> None:
    bench = in_state(OutletState.SPEAKING)
    bench.hold()
    bench.release().end().wait(10_000)
    assert bench.sent[-1][1] == ReplyDone(epoch=2, status=ReplyStatus.COMPLETED, text="One. Two.")


def test_a_shown_sentence_is_not_shown_again() -> None:
    bench = Bench().begin().say("你好。", 0).say("Two.", 10).wait(200)
    bench.hold()
    bench.release().end().wait(5_000)
    assert bench.texts() == ["你好。", "Two.", "Two."]


def test_begun_is_from_the_first_sentence_on_and_survives_a_hold() -> None:
    bench = Bench().begin().say("One.", 10).wait(99)
    assert not bench.outlet.begun
    bench.wait(1)
    assert bench.outlet.begun
    bench.hold()
    assert bench.outlet.begun


def test_nothing_is_kept_of_sentences_that_were_played() -> None:
    bench = Bench().begin()
    for n in range(20):
        bench.say(str(n), 10).wait(600)
    kept = sum(len(sentence.frames) for sentence in bench.outlet._sentences)
    assert kept <= 3 * 10


# --- what was heard (rule 5.5) ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after_ms", "heard"),
    [
        (0, ""),
        (99, ""),
        (100, ""),
        (100 + 299, ""),  # 10 frames of 60 ms: half is 300
        (100 + 300, "One."),
        (100 + 600, "One."),
        (100 + 600 + 299, "One."),
        (100 + 600 + 300, "One. Two."),
        (5_000, "One. Two."),
    ],
)
def test_heard_is_what_was_played_and_the_one_in_progress_from_its_half_on(after_ms: float, heard: str) -> None:
    bench = Bench().begin().say("One.", 10).say("Two.", 10).wait(after_ms)
    assert bench.outlet.heard(bench.now_ns) == heard
    [done] = [message for message in bench.interrupt() if isinstance(message, ReplyDone)]
    assert done.text == heard


def test_audio_that_was_made_but_not_sent_was_not_heard() -> None:
    bench = Bench().begin()
    bench.writable = False
    bench.say("One.", 10).wait(60_000)
    assert bench.outlet.heard(bench.now_ns) == ""


def test_heard_counts_from_when_the_client_could_take_it() -> None:
    bench = Bench().begin()
    bench.room = 2
    bench.say("One.", 10).wait(10_000)
    assert bench.outlet.heard(bench.now_ns) == "", "two of ten frames"
    bench.room = None
    bench.pump().wait(299)
    assert bench.outlet.heard(bench.now_ns) == "One.", "2 + 5 of 10 frames"


def test_a_door_without_a_voice_counts_as_heard_what_was_sent() -> None:
    bench = Bench(None).begin().say("One.", 0).say("Two.", 0)
    assert bench.outlet.heard(bench.now_ns) == "One. Two."


def test_a_shown_sentence_between_spoken_ones_counts_with_them() -> None:
    bench = Bench().begin().say("One.", 2).say("你好。", 0).say("Two.", 10).wait(100 + 120)
    assert bench.outlet.heard(bench.now_ns) == "One. 你好。"


# --- any course of things ---------------------------------------------------------------------------------------------

OPERATIONS = st.one_of(
    st.tuples(st.just("say"), st.integers(0, 80)),
    st.tuples(st.just("broken"), st.integers(0, 3)),
    st.tuples(st.just("end"), st.sampled_from([ReplyStatus.COMPLETED, ReplyStatus.FAILED])),
    st.tuples(st.just("wait"), st.floats(0, 3_000)),
    st.tuples(st.just("sleep"), st.floats(0, 3_000)),
    st.tuples(st.just("writable"), st.booleans()),
    st.tuples(st.just("interrupt"), st.none()),
    st.tuples(st.just("hold"), st.none()),
    st.tuples(st.just("release"), st.none()),
    st.tuples(st.just("release"), st.none()),
    st.tuples(st.just("next"), st.none()),
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(OPERATIONS, max_size=25),
    st.integers(1, 10),
    st.sampled_from([0, 100, 130]),
    st.sampled_from([PACED, UNPACED]),
)
def test_any_course_of_things_pleases_the_device(  # noqa: PLR0912, PLR0915 - a row an operation
    operations: list[tuple[str, object]], lead: int, gap_ms: float, spec: AudioSpec
) -> None:
    """Every reply is whole: one start and one stop, all of its sentences and frames in their order unless it was
    interrupted; after a hold it begins with the first sentence that was not played in full."""
    bench = Bench(spec, PacingSettings(lead_frames=lead, start_gap_ms=gap_ms))
    witness = Witness(lead=lead, start_gap_ms=gap_ms, paced=spec is PACED)
    epoch, ended, said, mark, held = 1, False, 0, 0, False
    offered: list[tuple[str, int]] = []  # sentences of the present reply and their frames
    bench.begin(epoch)

    def look() -> None:
        for now_ms, message in bench.sent[len(witness.seen) :]:
            witness.see(message, now_ms)

    courses = [
        *operations,
        ("writable", True),
        ("release", None),
        ("end", ReplyStatus.COMPLETED),
        ("wait", 1_000_000.0),
    ]
    for what, value in courses:
        match what, value:
            case ("say" | "broken", int(frames)) if not ended:
                said += 1
                bench.say(f"s{said}", frames, end=what == "say")
                offered.append((f"s{said}", frames))
                if what == "broken":
                    bench.end(ReplyStatus.FAILED)
                    ended = True
            case "end", ReplyStatus() if not ended:
                bench.end(value)
                ended = True
            case "wait", float(ms):
                bench.wait(ms)
            case "sleep", float(ms):  # the loop was busy: nobody called at the deadline
                bench.now_ms += ms
                bench.pump()
            case "writable", bool(yes):
                bench.writable = yes
                bench.pump()
            case "interrupt" | "hold", None:
                look()
                if what == "interrupt":
                    bench.interrupt()
                elif bench.outlet.active:
                    bench.hold()
                    held = True
                witness.interrupt(epoch)
                epoch += 1
            case ("release", None) if held:
                epoch += 1
                held = False
                bench.release(epoch)
        look()
        if not bench.outlet.active:
            if what != "interrupt":
                assert whole(bench.sent[mark:]) == offered, "something of the reply was lost or out of order"
            assert not held or what == "interrupt"
            epoch += 1
            bench.begin(epoch)
            ended, offered, held, mark = False, [], False, len(bench.sent)
    assert witness.starts == witness.stops
    assert witness.started_ms is None


def whole(sent: list[tuple[float, OutputMessage]]) -> list[tuple[str, int]]:
    """The sentences of a reply with their frames, as one hears them: one that begins anew takes the place of itself
    and of all behind it; what is played in full stands once."""
    heard: list[tuple[str, int]] = []
    for _, message in sent:
        if isinstance(message, Sentence):
            texts = [text for text, _ in heard]
            if message.text in texts:
                heard = heard[: texts.index(message.text)]
            heard.append((message.text, 0))
        elif isinstance(message, Audio):
            heard[-1] = (heard[-1][0], heard[-1][1] + 1)
    return heard
