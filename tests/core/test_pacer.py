"""Pacer: deadlines, lateness, and the two bounds that hold whatever the caller's clock does."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.core.pacer import Pacer
from vanling.errors import AudioTypeError, AudioValueError

MS = 1_000_000


def send_due(pacer, now):
    n = pacer.due(now)
    pacer.sent(n, now)
    return n


@pytest.mark.parametrize("lead", [1, 2, 5, 10])
@pytest.mark.parametrize("frame_ms", [2.5, 20, 60, 120])
def test_the_lead_at_once_then_one_per_frame(lead, frame_ms):
    pacer = Pacer(frame_ms, lead)
    frame = int(frame_ms * MS)
    start = 123_456_789
    assert pacer.next_ns is None
    assert send_due(pacer, start) == lead
    for k in range(1, 50):
        deadline = start + k * frame
        assert pacer.next_ns == deadline
        assert pacer.due(deadline - 1) == 0
        assert send_due(pacer, deadline) == 1
    assert pacer.played_ns == start + (lead + 49) * frame


def test_a_late_frame_moves_no_later_deadline():
    pacer = Pacer(60)
    send_due(pacer, 0)
    assert send_due(pacer, 100 * MS) == 1
    assert pacer.next_ns == 120 * MS
    assert send_due(pacer, 121 * MS) == 1
    assert pacer.next_ns == 180 * MS


def test_lateness_within_the_lead_is_caught_up():
    pacer = Pacer(60, 5)
    send_due(pacer, 0)
    assert send_due(pacer, 185 * MS) == 3
    assert pacer.next_ns == 240 * MS


def test_lateness_beyond_the_lead_starts_the_clock_anew():
    pacer = Pacer(60)
    send_due(pacer, 0)
    assert send_due(pacer, 1000 * MS) == 2, "not the sixteen that are late"
    assert pacer.next_ns == 1060 * MS


def test_the_first_frames_may_come_one_by_one():
    pacer = Pacer(60, 3)
    pacer.sent(1, 0)
    assert pacer.next_ns == -60 * MS
    assert pacer.due(0) == 2
    pacer.sent(1, 0)
    assert pacer.next_ns == 0
    pacer.sent(1, 10 * MS)
    assert pacer.next_ns == 60 * MS
    assert pacer.due(59 * MS) == 0


def test_a_dry_queue_gives_no_right_to_a_burst():
    pacer = Pacer(60)
    send_due(pacer, 0)
    pacer.rebase(5000 * MS)
    assert pacer.due(5000 * MS) == 2
    pacer.sent(1, 5000 * MS)
    pacer.sent(1, 5010 * MS)
    assert pacer.next_ns == 5060 * MS


def test_rebase_does_not_forget_what_the_client_still_has():
    pacer = Pacer(60)
    send_due(pacer, 0)
    pacer.rebase(10 * MS)
    assert pacer.due(10 * MS) == 0
    assert pacer.next_ns == 60 * MS


def test_rebase_and_due_before_the_first_frame_start_nothing():
    pacer = Pacer(60)
    pacer.rebase(77)
    assert pacer.due(5) == 2
    pacer.sent(0, 5)
    assert pacer.next_ns is None
    assert pacer.played_ns is None


def test_reset_is_a_new_stream():
    pacer = Pacer(60)
    send_due(pacer, 0)
    pacer.reset()
    assert pacer.next_ns is None
    assert send_due(pacer, 1 * MS) == 2
    assert pacer.next_ns == 61 * MS


def test_more_than_is_due_is_refused():
    pacer = Pacer(60)
    with pytest.raises(AudioValueError, match="3 frames were sent where 2 were due"):
        pacer.sent(3, 0)
    assert pacer.next_ns is None
    send_due(pacer, 0)
    with pytest.raises(AudioValueError, match="1 frames were sent where 0 were due"):
        pacer.sent(1, 59 * MS)


STEPS = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 5), st.integers(0, 70 * MS), st.integers(0, 700 * MS)),
        st.integers(0, 10),
        st.sampled_from(["send", "send", "send", "rebase", "look"]),
    ),
    max_size=80,
)


@given(STEPS, st.integers(1, 10), st.sampled_from([2.5, 20, 60, 120]), st.integers(-(10**15), 10**15))
def test_no_window_holds_more_than_its_frames_and_the_lead(steps, lead, frame_ms, now):
    pacer = Pacer(frame_ms, lead)
    frame = pacer.frame_ns
    log = []
    for wait, wish, act in steps:
        now += wait
        if act == "rebase":
            pacer.rebase(now)
        due = pacer.due(now)
        assert 0 <= due <= lead
        if act == "send":
            n = min(wish, due)
            pacer.sent(n, now)
            log.append((now, n))
        if pacer.played_ns is not None:
            assert pacer.played_ns - now <= lead * frame, "the client never holds more than the lead"
        if pacer.next_ns is not None:
            assert (pacer.due(now) > 0) == (pacer.next_ns <= now)
            assert pacer.due(max(now, pacer.next_ns)) >= 1
    for i, (start, _) in enumerate(log):
        total = 0
        for end, n in log[i:]:
            total += n
            assert total * frame <= (end - start) + lead * frame


@given(st.integers(1, 10), st.lists(st.integers(0, 50 * MS), min_size=1, max_size=60))
def test_a_timer_that_is_a_little_late_does_not_drift(lead, jitter):
    """Each wake-up may be late by less than a frame: frame k is still out before deadline k + 1."""
    pacer = Pacer(60, lead + 1 if lead < 10 else 10)
    first = send_due(pacer, 0)
    sent = first
    for k, late in enumerate(jitter, 1):
        sent += send_due(pacer, k * 60 * MS + late)
        assert sent == first + k


def test_due_is_monotonic_and_changes_nothing():
    pacer = Pacer(20, 4)
    send_due(pacer, 0)
    seen = [pacer.due(t * MS) for t in range(200)]
    assert all(a <= b for a, b in itertools.pairwise(seen))
    assert pacer.next_ns == 20 * MS


@pytest.mark.parametrize(
    ("arguments", "named"),
    [((0,), "frame_ms"), ((2,), "frame_ms"), ((121,), "frame_ms"), ((float("nan"),), "frame_ms"), ((60, 0), "lead"),
     ((60, 11), "lead"), ((60, -1), "lead")],
)  # fmt: skip
def test_settings_out_of_range_are_named(arguments, named):
    with pytest.raises(AudioValueError, match=named):
        Pacer(*arguments)


def test_times_and_counts_are_ints():
    pacer = Pacer(60)
    for call in (
        lambda: pacer.due(0.5),
        lambda: pacer.due(None),
        lambda: pacer.sent(1.0, 0),
        lambda: pacer.rebase("0"),
    ):
        with pytest.raises(AudioTypeError, match="wanted an int"):
            call()
    for call in (lambda: pacer.due(10**30), lambda: pacer.sent(-1, 0)):
        with pytest.raises(AudioValueError, match="wanted"):
            call()
    with pytest.raises(AudioTypeError):
        Pacer("60")
