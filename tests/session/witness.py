"""What a device could complain about, checked message by message (CONVERSATION §3.8 and §5)."""

from __future__ import annotations

from vanling.session.frame import (
    Audio,
    Emotion,
    Heard,
    OutputMessage,
    ReplyDone,
    ReplyStatus,
    Sentence,
    SentenceEnd,
    TtsStart,
    TtsStop,
)

CLOSING = (SentenceEnd, TtsStop, ReplyDone)


class Witness:
    """Reconstructs what a device hears. Times in ms; ``paced`` False: only the order is checked."""

    def __init__(self, *, lead: int = 2, start_gap_ms: float = 100, device_buffer_ms: float = 200, paced: bool = True):
        self.lead = lead
        self.start_gap_ms = start_gap_ms if paced else 0
        self.device_buffer_ms = device_buffer_ms if paced else 0
        self.paced = paced
        self.seen: list[tuple[float, OutputMessage]] = []
        self.started_ms: float | None = None
        self.sentence: str | None = None
        self.epoch = 0
        self.dead_epoch = 0
        self.play_end_ms = 0.0
        self.frames = 0
        self.early_stop = False
        self.replies: list[tuple[ReplyStatus, str]] = []
        self.starts = 0
        self.stops = 0

    def interrupt(self, epoch: int) -> None:
        """The reply of this epoch is interrupted, or held: only closing messages may follow; a reply that goes on does
        so under another."""
        self.dead_epoch = epoch

    def see(self, message: OutputMessage, now_ms: float) -> None:
        self.seen.append((now_ms, message))
        if isinstance(message, TtsStart | TtsStop | Emotion | Sentence | SentenceEnd | Audio | ReplyDone | Heard):
            assert message.epoch >= self.epoch, "the epoch fell"
            self.epoch = message.epoch
            if message.epoch <= self.dead_epoch:
                assert isinstance(message, CLOSING), f"{message} of an interrupted reply"
        match message:
            case TtsStart():
                assert self.started_ms is None, "two starts in a row"
                self.started_ms, self.play_end_ms, self.frames = now_ms, now_ms, 0
                self.early_stop = False  # it was held, and goes on
                self.starts += 1
            case Sentence(text=text):
                assert self.started_ms is not None, "a sentence outside start and stop"
                assert self.sentence is None, "the sentence before was not ended"
                self.sentence = text
            case SentenceEnd(text=text):
                assert self.sentence == text
                self.sentence = None
            case Audio():
                self._audio(message.duration_ms, now_ms)
            case TtsStop():
                self._stop(now_ms)
            case ReplyDone(status=status, text=text):
                assert self.started_ms is None, "the end of a reply before its stop"
                assert status is ReplyStatus.INTERRUPTED or not self.early_stop, "the end would be cut off"
                self.early_stop = False
                if status is ReplyStatus.INTERRUPTED:
                    self.dead_epoch = message.epoch
                self.replies.append((status, text))

    def _audio(self, duration_ms: float, now_ms: float) -> None:
        assert self.started_ms is not None, "audio outside start and stop"
        assert self.sentence is not None, "audio of no sentence"
        if self.frames == 0:
            [*_, (before_ms, before), _] = self.seen
            assert isinstance(before, Sentence), "sentence_start goes just before its first frame"
            assert before_ms == now_ms
        assert now_ms >= self.started_ms + self.start_gap_ms - 1e-6, "the device would flush it"
        self.play_end_ms = max(self.play_end_ms, now_ms) + duration_ms
        if self.paced:
            assert self.play_end_ms - now_ms <= self.lead * duration_ms + 1e-6, "more than the lead is early"
        self.frames += 1

    def _stop(self, now_ms: float) -> None:
        if self.started_ms is None:
            return  # a bare stop answers an abort
        assert self.sentence is None, "a stop inside a sentence"
        played_ms = self.play_end_ms + self.device_buffer_ms
        self.early_stop = self.paced and self.frames > 0 and now_ms < played_ms - 1e-3
        self.started_ms = None
        self.stops += 1
