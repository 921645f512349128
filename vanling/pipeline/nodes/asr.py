"""asr: windows to utterances, and what the recogniser makes of them."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass

from vanling.clock import Clock
from vanling.contracts.engines import MODEL_RATE, Asr, AsrResult, AsrStream, Outcome, Priority
from vanling.errors import EngineTimeoutError, VanlingError
from vanling.pipeline.events import (
    Answered,
    Event,
    FinishTurn,
    GuessHeard,
    PartialHeard,
    Rejoin,
    SetMode,
    SpeechEnded,
    SpeechPaused,
    SpeechStarted,
    TurnOutcome,
    TurnOver,
    Window,
)
from vanling.pipeline.node import NodeContext, Out, SyncNode, SyncTemplate

log = logging.getLogger(__name__)

MIN_VOICED_MS = 64.0
"""A turn with less voice than this holds nothing to recognise (CONVERSATION rule 1.3)."""


@dataclass(frozen=True, slots=True)
class AsrSettings:
    """Times in ms; ``language`` None leaves it to the engine."""

    language: str | None = None
    pre_roll_ms: float = 600
    """Audio kept from before speech was sure, so that its first syllable is not lost."""
    timeout_ms: float = 10_000
    speculate: bool = True
    """Recognise at the falling edge already, so that the silence confirm hides the work."""
    max_turn_ms: float = 60_000
    """A turn that goes on longer is ended here, so that a running television does not fill the memory."""
    partials_ms: float = 1_000
    """While speech goes on, what it sounds like so far is told this often; 0: never."""


class AsrNode(SyncNode):
    """Collects the audio of one turn after the other and asks the recogniser.

    Every turn that ends gives one ``TurnOver`` at once and one ``TurnOutcome`` when the recogniser has answered;
    hearing goes on meanwhile.
    """

    def __init__(self, asr: Asr, settings: AsrSettings, context: NodeContext) -> None:
        self._asr = asr
        self._settings = settings
        self._spawn = context.spawn
        self._clock: Clock = context.clock
        self._session_id = context.session_id
        self._longest_samples = settings.max_turn_ms * MODEL_RATE / 1000
        self._partial_samples = settings.partials_ms * MODEL_RATE / 1000
        self._most_pre_roll_samples = settings.pre_roll_ms * MODEL_RATE / 1000
        self._pre_roll: deque[Window] = deque()
        self._pre_roll_samples = 0
        self._turn = _Turn()
        self._joinable: dict[int, _Turn] = {}
        self._number = 0
        self._hands_free = True
        self._listening = False
        self._speaking = False
        self._closed = False
        self._at_work = asyncio.Lock()
        """One recognition of ended turns at a time: however much a client sends, others wait for one job of its."""

    def push(self, event: Event, out: Out) -> None:
        if type(event) is Window:
            self._hear(event, out)
            return
        if isinstance(event, SpeechStarted):
            self._speaking = True
            if self._listening:
                self._open()
        elif isinstance(event, SpeechPaused):
            self._speculate(out)
        elif isinstance(event, SetMode):
            self._set_mode(event)
        elif isinstance(event, SpeechEnded):
            self._speaking = False
            if self._turn.stream is not None:
                self._finish("silence", out)
        elif isinstance(event, FinishTurn):
            self._finish(event.reason, out)
            return
        elif isinstance(event, Rejoin):
            self._rejoin(event, out)
            return
        elif isinstance(event, Answered):
            self._joinable.clear()
        out(event)

    def close(self) -> None:
        self._closed = True
        self._turn.drop()

    def _hear(self, window: Window, out: Out) -> None:
        turn = self._turn
        turn.last = window
        if turn.stream is None:
            self._keep(window)
        elif turn.samples <= self._longest_samples:
            turn.take(turn.stream, window)
            self._tell_partial(turn, turn.stream, out)
        elif self._hands_free:
            turn.take(turn.stream, window)
            self._finish("length", out)
        # Only its release ends a press (rule 1.3); of one that is held for ever, the beginning is kept.

    def _keep(self, window: Window) -> None:
        """Into the pre-roll; the oldest falls out."""
        self._pre_roll.append(window)
        self._pre_roll_samples += len(window.pcm)
        while self._pre_roll_samples > self._most_pre_roll_samples:
            self._pre_roll_samples -= len(self._pre_roll.popleft().pcm)

    def _open(self) -> None:
        if self._turn.stream is None:
            self._turn.stream = stream = self._asr.new(self._settings.language)
            for window in self._pre_roll:
                self._turn.take(stream, window)
            self._clear_pre_roll()

    def _clear_pre_roll(self) -> None:
        self._pre_roll.clear()
        self._pre_roll_samples = 0

    def _set_mode(self, event: SetMode) -> None:
        self._hands_free = event.hands_free
        self._listening = event.listening
        if event.fresh:
            self._turn.drop()
            self._turn = _Turn()
            self._clear_pre_roll()
            self._speaking = False
        # A press is recognised whole, whatever the detector thinks of its first syllable; and hands-free, somebody
        # may have begun to speak before the client said that it listens.
        if event.listening and (self._speaking or (event.fresh and not event.hands_free)):
            self._open()

    def _speculate(self, out: Out) -> None:
        turn = self._turn
        if self._settings.speculate and turn.stream is not None:
            turn.drop()
            turn.guess = asyncio.get_running_loop().create_future()
            turn.guess.add_done_callback(lambda guess: self._tell_guess(turn, guess, out))
            turn.guess_voiced_samples = turn.voiced_samples
            self._spawn(_guess(turn.stream, turn.guess))

    def _tell_guess(self, turn: _Turn, guess: asyncio.Future[AsrResult], out: Out) -> None:
        """A guess came back; one that was withdrawn must not leave a "never retrieved" warning behind."""
        if guess.cancelled() or guess.exception() is not None or self._closed:
            return
        still_true = turn is self._turn and turn.guess_voiced_samples == turn.voiced_samples
        if still_true and guess.result().outcome is Outcome.TEXT:
            out(GuessHeard(guess.result().text))

    def _tell_partial(self, turn: _Turn, stream: AsrStream, out: Out) -> None:
        step = self._partial_samples
        if step and self._speaking and not turn.partial_runs and turn.samples - turn.partial_samples >= step:
            turn.partial_runs = True
            turn.partial_samples = turn.samples
            self._spawn(self._partial(turn, stream, out))

    async def _partial(self, turn: _Turn, stream: AsrStream, out: Out) -> None:
        voiced_ms = turn.voiced_ms
        try:
            async with asyncio.timeout(self._settings.timeout_ms / 1000):
                result = await stream.hypothesis(Priority.REST)
        except Exception as error:  # the turn's own recognition will tell
            extra = {"component": "ASR", "event": "partial_failed", "session_id": self._session_id}
            log.debug("no partial: %r", error, extra=extra)
            return
        finally:
            turn.partial_runs = False
        if turn is self._turn and not self._closed:
            out(PartialHeard(result.text, voiced_ms))

    def _rejoin(self, event: Rejoin, out: Out) -> None:
        """One sample range out of two turns; where one's audio is gone, their words are joined."""
        first = self._joinable.pop(event.first.over.number, None)
        second = self._joinable.pop(event.second.over.number, None)
        self._number += 1
        over, now_ns = event.second.over, self._clock.now_ns()
        voiced_ms = event.first.over.voiced_ms + over.voiced_ms
        out(TurnOver(self._number, "merged", over.speech_end_ns, over.decided_ns, over.silence_ms, voiced_ms))
        words = join_words(event.first.outcome.result.text, event.second.outcome.result.text)
        apart = AsrResult(Outcome.TEXT, words, audio_ms=event.second.outcome.result.audio_ms)
        if first is None or second is None or first.stream is None:
            out(TurnOutcome(self._number, apart, now_ns, 0.0))
            return
        for window in second.windows:
            first.take(first.stream, window)
        self._joinable[self._number] = first
        self._spawn(self._resolve(self._number, first, now_ns, out, apart))

    def _finish(self, reason: str, out: Out) -> None:
        turn, self._turn = self._turn, _Turn()
        self._clear_pre_roll()
        self._number += 1
        now_ns = self._clock.now_ns()
        decided_ns = turn.last.arrived_ns if turn.last is not None and reason == "silence" else now_ns
        speech_end_ns = turn.voiced_end_ns if turn.voiced_end_ns is not None else decided_ns
        voiced_ms = turn.voiced_ms
        silence_ms = (decided_ns - speech_end_ns) / 1e6
        out(TurnOver(self._number, reason, speech_end_ns, decided_ns, silence_ms, voiced_ms))
        if turn.stream is None or voiced_ms < MIN_VOICED_MS:
            turn.drop()
            out(TurnOutcome(self._number, AsrResult(Outcome.NOTHING), now_ns, 0.0))
        else:
            self._joinable = {number: kept for number, kept in self._joinable.items() if number == self._number - 1}
            self._joinable[self._number] = turn
            self._spawn(self._resolve(self._number, turn, now_ns, out))
        if reason == "length":
            self._open()

    async def _resolve(
        self, number: int, turn: _Turn, asked_ns: int, out: Out, instead: AsrResult | None = None
    ) -> None:
        """Wait for the words of an ended turn: the guess of its last falling edge where nothing was said since.

        ``instead`` takes the place of no words, and of a failure.
        """
        failure = ""
        result = AsrResult(Outcome.EMPTY)
        try:
            async with asyncio.timeout(self._settings.timeout_ms / 1000):
                async with self._at_work:
                    result = await self._words(turn)
        except TimeoutError:
            failure = str(EngineTimeoutError(f"no words from the recogniser within {self._settings.timeout_ms:g} ms"))
        except Exception as error:  # whatever the engine raises, the turn must get its outcome
            failure = str(error) or type(error).__name__
            if not isinstance(error, VanlingError):
                extra = {"component": "ASR", "event": "asr_error", "session_id": self._session_id}
                log.exception("recogniser failed", extra=extra)
        finally:
            turn.drop()
        if instead is not None and result.outcome is not Outcome.TEXT:
            result, failure = instead, ""
        if not self._closed:
            now_ns = self._clock.now_ns()
            out(TurnOutcome(number, result, now_ns, (now_ns - asked_ns) / 1e6, failure))

    async def _words(self, turn: _Turn) -> AsrResult:
        if turn.guess is not None and turn.guess_voiced_samples == turn.voiced_samples:
            try:
                return await asyncio.shield(turn.guess)
            except Exception:
                pass  # a guess that failed is asked again, now that the turn is certain
        assert turn.stream is not None
        return await turn.stream.hypothesis(Priority.CONFIRMED)


class _Turn:
    """The turn that is being heard."""

    __slots__ = (
        "guess",
        "guess_voiced_samples",
        "last",
        "partial_runs",
        "partial_samples",
        "samples",
        "stream",
        "voiced_end_ns",
        "voiced_samples",
        "windows",
    )

    def __init__(self) -> None:
        self.stream: AsrStream | None = None
        self.samples = 0
        self.voiced_samples = 0
        self.voiced_end_ns: int | None = None
        self.last: Window | None = None
        self.guess: asyncio.Future[AsrResult] | None = None
        self.guess_voiced_samples = -1
        self.windows: list[Window] = []
        self.partial_runs = False
        self.partial_samples = 0

    @property
    def voiced_ms(self) -> float:
        return 1000 * self.voiced_samples / MODEL_RATE

    def take(self, stream: AsrStream, window: Window) -> None:
        stream.feed(window.pcm)
        self.windows.append(window)
        self.samples += len(window.pcm)
        if window.voiced:
            self.voiced_samples += len(window.pcm)
            self.voiced_end_ns = window.end_ns

    def drop(self) -> None:
        """Withdraw a guess that nobody waits for."""
        if self.guess is not None and not self.guess.done():
            self.guess.cancel()
        self.guess = None


async def _guess(stream: AsrStream, guess: asyncio.Future[AsrResult]) -> None:
    """Recognise for ``guess``, in a task that the session owns; a guess that is withdrawn ends the work."""
    task = asyncio.current_task()
    assert task is not None
    guess.add_done_callback(lambda _: task.cancel() if guess.cancelled() else None)
    if guess.cancelled():
        return
    try:
        result = await stream.hypothesis(Priority.SPECULATION)
    except asyncio.CancelledError:
        guess.cancel()
        raise
    except Exception as error:
        if not guess.done():
            guess.set_exception(error)
    else:
        if not guess.done():
            guess.set_result(result)


def join_words(first: str, second: str) -> str:
    """Two pieces of one sentence; a script without spaces is joined without one."""
    if not first or not second:
        return first or second
    return first + second if ord(first[-1]) >= 0x2E80 and ord(second[0]) >= 0x2E80 else f"{first} {second}"


class AsrTemplate(SyncTemplate):
    def __init__(self, asr: Asr, settings: AsrSettings) -> None:
        self._asr = asr
        self._settings = settings

    def new_instance(self, context: NodeContext) -> AsrNode:
        return AsrNode(self._asr, self._settings, context)
