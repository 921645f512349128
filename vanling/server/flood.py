"""When a client sends more than anyone could mean."""

from __future__ import annotations


class FloodGate:
    """Lets ``rate`` messages a second through, and ``burst`` at once: what was sent while the network was down comes
    in one heap. Time is the caller's, in seconds."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._burst = burst
        self._left = float(burst)
        self._at_s = 0.0

    def admits(self, n_messages: int, now_s: float) -> bool:
        """Count them; False once they are too many."""
        self._left = min(self._burst, self._left + (now_s - self._at_s) * self._rate) - n_messages
        self._at_s = now_s
        return self._left >= 0
