"""When the next audio frame may leave, on absolute deadlines (CONVERSATION rule 5.3)."""

from typing import final

@final
class Pacer:
    """Paces one stream of frames of equal duration. Reads no clock; not thread-safe.

    The first ``lead`` frames may leave at once, then one per frame duration: frame k at start + (k - lead + 1) frames.
    A frame that leaves late moves no later deadline, and what is late goes out together, but never more than ``lead``
    frames; when the client has played all it was sent, the clock starts anew with the next frame. In any span of time
    at most lead + span / frame frames leave, and the client never holds more than ``lead`` frames of audio.

    All times are ns of one monotonic clock of the caller's.
    """

    def __init__(self, frame_ms: float, lead: int = 2) -> None:
        """
        frame_ms: 2.5 to 120.
        lead: frames in advance, 1 to 10. Two are the firmware author's figure (78/xiaozhi-esp32#545).

        Raises AudioValueError, AudioTypeError.
        """

    @property
    def frame_ns(self) -> int:
        """Duration of a frame in ns."""

    @property
    def lead(self) -> int:
        """Frames in advance."""

    @property
    def next_ns(self) -> int | None:
        """When the next frame may leave, which may have passed; None before the first frame, that may leave at once."""

    @property
    def played_ns(self) -> int | None:
        """When the client will have played all that it was sent; None before the first frame."""

    def due(self, now_ns: int) -> int:
        """How many frames may leave now, 0 to lead. Changes nothing."""

    def sent(self, n: int, now_ns: int) -> None:
        """n frames have left; the first of a stream starts its clock.

        Raises AudioValueError for more than were due: they would overflow the client's buffer.
        """

    def reset(self) -> None:
        """A new stream (a client that has flushed its buffer): the next frames are the first ones again."""

    def rebase(self, now_ns: int) -> None:
        """The queue is dry: the time that has passed gives no right to send more later.

        Calling it is never wrong and never grants a frame; audio that the client still has goes on counting.
        """
