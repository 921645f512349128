"""When the next audio frame may leave, on absolute deadlines (CONVERSATION rule 5.3).

The whole state is one instant: when the client will have played all that it was sent. A frame may leave while that
lies at most ``lead - 1`` frames ahead. Once it lies in the past the client has run dry, and its clock starts anew at
the next frame, so what was late is never sent in a burst beyond the lead.
"""

from libc.stdint cimport int64_t

from vanling.core.checks cimport real_number, value_error, whole_number

cdef enum:
    MAX_LEAD = 10

# A century in ns: sums with it stay inside int64.
cdef int64_t MAX_NS = 0x1FFFFFFFFFFFFFFF


cdef class Pacer:
    """Paces one stream of frames of equal duration. Reads no clock; not thread-safe.

    The first ``lead`` frames may leave at once, then one per frame duration: frame k at start + (k - lead + 1) frames.
    A frame that leaves late moves no later deadline, and what is late goes out together, but never more than ``lead``
    frames; when the client has played all it was sent, the clock starts anew with the next frame. In any span of time
    at most lead + span / frame frames leave, and the client never holds more than ``lead`` frames of audio.

    All times are ns of one monotonic clock of the caller's.
    """

    def __cinit__(self, frame_ms, lead=2):
        self.frame_ns = <int64_t>(real_number(frame_ms, "frame_ms", 2.5, 120.0) * 1e6 + 0.5)
        self.lead = <int>whole_number(lead, "lead", 1, MAX_LEAD)

    @property
    def next_ns(self):
        """When the next frame may leave; None before the first one: at once."""
        if not self._running:
            return None
        return self._end - (self.lead - 1) * self.frame_ns

    @property
    def played_ns(self):
        """When the client will have played all that was sent; None if nothing was."""
        return self._end if self._running else None

    def due(self, now_ns):
        """How many frames may leave now, 0 to lead."""
        return self._due(whole_number(now_ns, "now_ns", -MAX_NS, MAX_NS))

    def sent(self, n, now_ns):
        """n frames have left."""
        cdef int64_t now = whole_number(now_ns, "now_ns", -MAX_NS, MAX_NS)
        cdef int64_t count = whole_number(n, "n", 0, 0x7FFFFFFF)
        cdef int may = self._due(now)
        if count > may:
            raise value_error(f"{count} frames were sent where {may} were due: the client's buffer would overflow")
        if count == 0:
            return
        if not self._running or self._end < now:
            self._end = now
            self._running = True
        self._end += count * self.frame_ns

    def reset(self):
        """A new stream: the next frames are the first ones."""
        self._running = False

    def rebase(self, now_ns):
        """The queue is dry: time until now gives no right to send more later."""
        cdef int64_t now = whole_number(now_ns, "now_ns", -MAX_NS, MAX_NS)
        if self._running and self._end < now:
            self._end = now

    cdef int _due(self, int64_t now) noexcept:
        cdef int64_t ahead = self._end - now
        if not self._running or ahead <= 0:
            return self.lead
        cdef int64_t frames = (ahead + self.frame_ns - 1) // self.frame_ns
        return self.lead - <int>frames if frames < self.lead else 0
