"""The speaker of a simulated device: what its queues would take, and when it would have run dry.

Sizes are the firmware's (xiaozhi-esp32 ``audio_service.h``): 40 packets wait for the decoder, two decoded frames wait
for the codec, one is being decoded. A packet that finds the queue full is lost without a word, one that comes while the
device is not speaking is thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass

DECODE_QUEUE = 40
AFTER_DECODE_QUEUE = 3


@dataclass(slots=True)
class Playback:
    """Pure: packets and clock readings in, counts out. Times are monotonic nanoseconds."""

    speaking: bool = False
    underruns: int = 0
    """Packets that came after everything before them had been played."""
    underrun_ms: float = 0.0
    """Silence heard in all because of them."""
    dropped: int = 0
    """Packets that found the queue full."""
    discarded: int = 0
    """Packets that came while the device was not speaking."""
    played_until_ns: int | None = None
    """When the last packet so far will have been played; None before the first of a reply."""

    def start(self) -> None:
        """``tts start``: the decoder is reset and everything queued is flushed."""
        self.speaking = True
        self.played_until_ns = None

    def stop(self) -> None:
        """``tts stop``: what is queued plays on, what comes later is not taken."""
        self.speaking = False

    def packet(self, now_ns: int, duration_ms: float) -> bool:
        """Whether the device would play this packet."""
        if not self.speaking:
            self.discarded += 1
            return False
        duration_ns = int(duration_ms * 1e6)
        begin_ns = now_ns if self.played_until_ns is None else self.played_until_ns
        if begin_ns < now_ns:
            self.underruns += 1
            self.underrun_ms += (now_ns - begin_ns) / 1e6
            begin_ns = now_ns
        if begin_ns - now_ns > (DECODE_QUEUE + AFTER_DECODE_QUEUE) * duration_ns:
            self.dropped += 1
            return False
        self.played_until_ns = begin_ns + duration_ns
        return True
