"""The simulated speaker: what a device would lose, and when it would run dry."""

from __future__ import annotations

from vanling.cli.playback import AFTER_DECODE_QUEUE, DECODE_QUEUE, Playback

MS = 1_000_000


def speaker() -> Playback:
    playback = Playback()
    playback.start()
    return playback


def test_packets_in_time_leave_no_gap() -> None:
    playback = speaker()
    assert all(playback.packet(max(0, frame - 2) * 60 * MS, 60) for frame in range(20))
    assert (playback.underruns, playback.dropped, playback.discarded) == (0, 0, 0)
    assert playback.played_until_ns == 20 * 60 * MS


def test_a_late_packet_is_a_gap_of_its_lateness() -> None:
    playback = speaker()
    playback.packet(0, 60)
    playback.packet(100 * MS, 60)
    assert (playback.underruns, playback.underrun_ms) == (1, 40.0)


def test_the_wait_for_the_first_packet_is_no_gap() -> None:
    playback = speaker()
    playback.packet(500 * MS, 60)
    assert playback.underruns == 0


def test_a_burst_beyond_the_queue_is_lost() -> None:
    playback = speaker()
    taken = [playback.packet(0, 60) for _ in range(60)]
    room = DECODE_QUEUE + AFTER_DECODE_QUEUE
    assert taken == [True] * (room + 1) + [False] * (60 - room - 1)
    assert playback.dropped == 60 - room - 1


def test_audio_outside_of_speaking_is_thrown_away() -> None:
    playback = Playback()
    assert not playback.packet(0, 60)
    playback.start()
    assert playback.packet(0, 60)
    playback.stop()
    assert not playback.packet(60 * MS, 60)
    assert playback.discarded == 2


def test_a_new_start_flushes_what_is_queued() -> None:
    playback = speaker()
    for _ in range(10):
        playback.packet(0, 60)
    playback.start()
    assert playback.played_until_ns is None
