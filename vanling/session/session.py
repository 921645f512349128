"""The session: the asyncio shell around the machine, the outlet and the rounds. It decides nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from vanling.clock import Clock
from vanling.dialogue.conversation import Conversation
from vanling.dialogue.ling import Act, UserSaid
from vanling.pipeline.chain import HearingHalf
from vanling.pipeline.events import AudioFrame, Event
from vanling.pipeline.node import AsyncTemplate, NodeContext, SyncTemplate
from vanling.session.actions import (
    Action,
    End,
    Hear,
    HoldRunning,
    ReleaseRunning,
    Send,
    StopRunning,
    ThinkAgain,
    ThinkAhead,
    Upgrade,
)
from vanling.session.frame import (
    Abort,
    Audio,
    Close,
    CloseOut,
    Error,
    ErrorCode,
    Frame,
    Opus,
    OutputMessage,
    ReplyDone,
    ReplyStatus,
    TtsStop,
)
from vanling.session.machine import SessionMachine
from vanling.session.metrics import TurnTimes
from vanling.session.outlet import Outlet
from vanling.session.round import ReplyRun, Round
from vanling.session.transport import Outbound
from vanling.session.wheel import TimerWheel

log = logging.getLogger(__name__)

STOP_LIMIT_S = 5.0
"""A task of the session that has not ended that long after its cancellation is given up (rule 7.2)."""

TurnHook = Callable[[str, TurnTimes], None]
"""Called with (session id, times) when the first audio of a turn has gone out, or its reply ended without any."""


@dataclass(frozen=True, slots=True)
class SessionParts:
    """What a builder puts together."""

    session_id: str
    machine: SessionMachine
    new_outlet: Callable[[], Outlet]
    hearing: Sequence[SyncTemplate]
    reply: Sequence[AsyncTemplate]
    conversation: Conversation
    outbound: Outbound
    clock: Clock
    wheel: TimerWheel
    start_gap_ms: float
    on_turn: TurnHook | None = None


class Session:
    """One connection's conversation. All of its methods are called in the event loop; none but :meth:`close` awaits."""

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts
        self._machine = parts.machine
        self._outlet = parts.new_outlet()
        self._outbound = parts.outbound
        self._clock = parts.clock
        self._slot = parts.wheel.slot(self._on_time)
        self._tasks: set[asyncio.Task[None]] = set()
        self._run: ReplyRun | None = None
        self._guess: ReplyRun | None = None
        self._waits_for_writable = False
        self._pumping = False
        self._ended = False
        self._context = NodeContext(parts.session_id, parts.clock, self._spawn)
        self._running: Round | None = None
        self._shadow = Round(1, parts.session_id, HearingHalf(parts.hearing, self._context, self._on_hearing))
        parts.conversation.when_lost(self._conversation_lost)
        self._log(logging.INFO, "session started", "session_started")

    @property
    def id(self) -> str:
        return self._parts.session_id

    def feed(self, frame: Frame) -> None:
        """Take one frame of the client. Returns at once; never raises for what a client may send."""
        now_ns = self._clock.now_ns()
        if type(frame) is Opus:
            actions = self._machine.on_audio(now_ns)
            if actions is None:
                return
            if actions:
                self._perform(actions)
            self._shadow.hearing.push(AudioFrame(frame.packet, now_ns))
            if actions:
                self._pump()
            elif self._slot.when_ns is None:
                self._arm()
            return
        self._perform(self._machine.on_frame(frame, now_ns))
        self._pump()

    async def close(self, reason: str) -> None:
        """End the session and wait until its tasks are gone, :data:`STOP_LIMIT_S` at most."""
        if not self._ended:
            self._perform(self._machine.on_frame(Close(reason=reason), self._clock.now_ns()))
        pending = {task for task in self._tasks if task is not asyncio.current_task()}
        for task in pending:
            task.cancel()
        if pending:
            _, late = await asyncio.wait(pending, timeout=STOP_LIMIT_S)
            for task in late:
                self._log(logging.ERROR, "task did not end", "round_stop_timeout", reason=task.get_name())

    def _conversation_lost(self) -> None:
        """Another connection goes on with our conversation: nothing that is said here from now on would be in it."""
        self.feed(Abort(reason="conversation_lost"))

    # --- events ---------------------------------------------------------------------------------------------------

    def _on_hearing(self, event: Event) -> None:
        self._perform(self._machine.on_hearing(event, self._clock.now_ns()))
        self._pump()

    def _on_time(self, now_ns: int) -> None:
        self._perform(self._machine.on_time(now_ns))
        self._pump()

    def _on_writable(self) -> None:
        self._waits_for_writable = False
        self._pump()

    # --- actions --------------------------------------------------------------------------------------------------

    def _perform(self, actions: Sequence[Action]) -> None:
        for action in actions:
            match action:
                case Hear(event):
                    self._shadow.hearing.push(event)
                case Send(message):
                    self._outbound.send(message)
                case Upgrade():
                    self._upgrade(action)
                case StopRunning(reason):
                    self._stop_running(reason)
                case ThinkAhead(act):
                    self._think_ahead(act)
                case ThinkAgain():
                    self._think_again()
                case HoldRunning(reason):
                    self._hold_running(reason)
                case ReleaseRunning(epoch, reason):
                    self._outlet.release(epoch)
                    self._log(logging.INFO, "reply goes on", "reply_released", reason=reason, epoch=epoch)
                case End(reason):
                    self._end(reason)

    def _upgrade(self, upgrade: Upgrade) -> None:
        """The shadow speaks, and a fresh one takes over the hearing half with all of its state."""
        now_ns = self._clock.now_ns()
        self._note_words(upgrade)
        guess, self._guess = self._guess, None
        if guess is not None:  # the machine drops a guess that is not adopted before it upgrades
            assert upgrade.thought_ahead
            self._outlet = guess.outlet
            self._outlet.release(upgrade.epoch)
        else:
            self._outlet.begin(upgrade.epoch)
        run = guess or self._begin(self._outlet, upgrade.act, now_ns)
        self._run, self._running = run, run.round
        self._machine.counts.saved_ms += run.adopt(upgrade.turn, now_ns, self._parts.start_gap_ms)
        self._shadow = Round(self._shadow.number + 1, self.id, self._shadow.hearing)
        self._log(logging.INFO, "round upgraded", "round_upgraded", round_id=run.round.id, epoch=upgrade.epoch)

    def _note_words(self, upgrade: Upgrade) -> None:
        """Into the history now, not when Ling gets round to it: a guess must leave no trace there, and a reply may be
        stopped before its task has begun."""
        if not isinstance(upgrade.act, UserSaid):
            return
        if upgrade.goes_on:
            self._parts.conversation.user_went_on(upgrade.act.text)
        else:
            self._parts.conversation.user_said(upgrade.act.text)

    def _begin(self, outlet: Outlet, act: Act, now_ns: int) -> ReplyRun:
        round_ = Round(self._shadow.number, self.id, self._shadow.hearing)
        run = ReplyRun(round_, outlet, self._pump, self._send_error)
        context = replace(self._context, backlog_ms=lambda: outlet.backlog_ms, thought_only=lambda: not round_.upgraded)
        self._own(round_.begin(run.run(self._parts.reply, context, act), now_ns))
        return run

    def _think_ahead(self, act: Act) -> None:
        outlet, now_ns = self._parts.new_outlet(), self._clock.now_ns()
        outlet.begin(0)
        outlet.hold(now_ns)
        self._guess = self._begin(outlet, act, now_ns)
        self._log(logging.DEBUG, "thinking ahead", "speculation_started")

    def _think_again(self) -> None:
        guess, self._guess = self._guess, None
        if guess is not None:
            guess.round.stop()
            self._log(logging.DEBUG, "thought ahead in vain", "speculation_dropped")

    def _stop_running(self, reason: str) -> None:
        running, self._running = self._running, None
        if running is None:
            return
        running.stop()
        for message in self._outlet.interrupt(self._clock.now_ns()):
            self._emit(message, running)
        self._log(logging.INFO, "round stopped", "round_stopped", round_id=running.id, reason=reason)

    def _hold_running(self, reason: str) -> None:
        for message in self._outlet.hold(self._clock.now_ns()):
            self._emit(message, self._running)
        self._log(logging.INFO, "reply held", "reply_held", reason=reason)

    def _end(self, reason: str) -> None:
        if self._ended:
            return
        self._ended = True
        self._slot.arm(None)
        self._shadow.hearing.close()
        for task in self._tasks:
            task.cancel()
        self._parts.conversation.release()
        self._outbound.send(CloseOut(reason=reason))
        counts = {name: round(n) for name, n in asdict(self._machine.counts).items()}
        rounds = self._shadow.number - 1
        self._log(logging.INFO, "session ended", "session_ended", reason=reason, rounds=rounds, **counts)

    # --- output ---------------------------------------------------------------------------------------------------

    def _pump(self) -> None:
        """Hand over everything that is due, then arm the timer for what comes next."""
        if self._ended or self._pumping:
            return  # what a message brings about while it is handed over must not overtake those behind it
        self._pumping = True
        try:
            while messages := self._outlet.step(self._clock.now_ns(), self._outbound.writable()):
                running = self._running
                for message in messages:
                    self._emit(message, running)
        finally:
            self._pumping = False
        if self._run is not None:
            self._run.make_room()
        self._arm()

    def _emit(self, message: OutputMessage, running: Round | None) -> None:
        self._outbound.send(message)
        now_ns = self._clock.now_ns()
        if isinstance(message, Audio):
            self._note_first_audio(running, now_ns)
        elif isinstance(message, ReplyDone):
            self._note_reply_done(message, running)
        if not isinstance(message, Audio | TtsStop):
            self._perform(self._machine.on_output(message, now_ns))

    def _note_first_audio(self, running: Round | None, now_ns: int) -> None:
        if running is not None and running.times is not None and running.times.first_audio_ns is None:
            running.times.first_audio_ns = now_ns
            self._report_turn(running)

    def _note_reply_done(self, message: ReplyDone, running: Round | None) -> None:
        interrupted = message.status is ReplyStatus.INTERRUPTED
        self._parts.conversation.assistant_said(message.text, interrupted=interrupted)
        if running is None:
            return
        if running.times is not None and running.times.first_audio_ns is None:
            self._report_turn(running)
        if self._running is running:
            self._running = None
        self._log(logging.INFO, "round complete", "round_complete", round_id=running.id, status=message.status.value)

    def _report_turn(self, running: Round) -> None:
        assert running.times is not None
        latency = {f"{name}_ms": round(ms, 1) for name, ms in running.times.latency_ms().items() if ms is not None}
        self._log(logging.INFO, "turn times", "turn_times", round_id=running.id, **latency)
        if self._parts.on_turn is not None:
            self._parts.on_turn(self.id, running.times)

    def _send_error(self, code: ErrorCode, message: str) -> None:
        self._outbound.send(Error(epoch=self._machine.epoch, code=code, message=message))

    def _arm(self) -> None:
        """The one deadline of this session: the machine's or the outlet's, whichever is sooner."""
        if self._ended:
            return
        deadline_ns = self._machine.deadline_ns()
        outlet_ns = self._outlet.next_ns
        if outlet_ns is not None and not self._outbound.writable():
            outlet_ns = None
            if not self._waits_for_writable:
                self._waits_for_writable = True
                self._outbound.when_writable(self._on_writable)
        if deadline_ns is None or (outlet_ns is not None and outlet_ns < deadline_ns):
            deadline_ns = outlet_ns
        self._slot.arm(deadline_ns)

    # --- tasks ----------------------------------------------------------------------------------------------------

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._own(asyncio.create_task(work))

    def _own(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._task_done)

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log(logging.ERROR, "task died", "task_error", reason=repr(error))

    def _log(self, level: int, message: str, event: str, **fields: object) -> None:
        if log.isEnabledFor(level):
            extra = {"component": "SESSION", "event": event, "session_id": self.id, **fields}
            log.log(level, message, extra=extra)
