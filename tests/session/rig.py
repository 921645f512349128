"""A whole session in virtual time: real Opus in and out, scripted engines, a device that watches what it gets."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from tests.fakes.engines import FakeAsr, FakeLlm, FakeTts, FakeVad
from tests.fakes.virtual import LoopClock
from tests.session.witness import Witness
from vanling.contracts.audio import AudioSpec
from vanling.contracts.engines import Pcm, Priority, Samples, Vad
from vanling.core.opus import Decoder, Encoder
from vanling.dialogue.conversation import Conversation
from vanling.dialogue.ling import Ling, LingLimits
from vanling.pipeline.nodes.asr import AsrSettings, AsrTemplate
from vanling.pipeline.nodes.encode import EncodeTemplate
from vanling.pipeline.nodes.ling import LingTemplate
from vanling.pipeline.nodes.opus import OpusTemplate
from vanling.pipeline.nodes.tts import TtsSettings, TtsTemplate
from vanling.pipeline.nodes.turn import TurnTemplate
from vanling.pipeline.nodes.vad import VadSettings, VadTemplate
from vanling.session.builder import SessionBuilder
from vanling.session.frame import (
    Abort,
    Audio,
    CloseOut,
    Detect,
    Error,
    Frame,
    Heard,
    Hello,
    ListenMode,
    ListenStart,
    ListenStop,
    Opus,
    OutputMessage,
    ReplyDone,
    ReplyStatus,
    Sentence,
    Text,
    TtsStop,
)
from vanling.session.machine import SessionSettings
from vanling.session.metrics import TurnTimes
from vanling.session.outlet import PacingSettings
from vanling.session.wheel import TimerWheel

T = TypeVar("T")
SPEC = AudioSpec()
WAKE = "Hi,Lexin"
APOLOGY = ("Sorry.", (Pcm(np.full(16_000, 0.25, np.float32), 16_000),))

QUIET = SessionSettings(no_activity_ms=None, wake_words=(WAKE,), greeting=False)
PACING = PacingSettings()
ASR = AsrSettings(partials_ms=0)
"""Without partials, which would take steps of a recogniser's script; their own tests switch them on."""
TTS = TtsSettings(apology=APOLOGY)
LIMITS = LingLimits()


def packets(ms: float, amplitude: float, frame_ms: float = 60.0) -> list[bytes]:
    """Opus packets of a tone, or of silence."""
    encoder = Encoder(16_000, frame_ms=frame_ms)
    tone = amplitude * np.sin(2 * np.pi * 200 * np.arange(int(16 * ms)) / 16_000)
    return encoder.encode((tone * 32767).astype(np.int16)) + encoder.flush()


VOICE = packets(60, 0.5)[0]
SILENCE = packets(60, 0.0)[0]


class LateVad:
    """A VadQueue whose verdicts come ``delay_ms`` later, in order, as from another thread."""

    def __init__(self, vad: Vad, delay_ms: float = 3.0) -> None:
        self.window_samples = vad.window_samples
        self.vad = vad
        self.delay_ms = delay_ms
        self.handles: list[_LateHandle] = []

    def open(self, on_window: Callable[[Samples, float], None], on_error: Callable[[Exception], None]) -> _LateHandle:
        self.handles.append(_LateHandle(self, on_window, on_error))
        return self.handles[-1]


class _LateHandle:
    dropped = 0

    def __init__(
        self, queue: LateVad, on_window: Callable[[Samples, float], None], on_error: Callable[[Exception], None]
    ) -> None:
        self._queue, self._on_window, self._on_error = queue, on_window, on_error
        self.stream = queue.vad.new()
        self.waiting: deque[Samples | None] = deque()
        self.closed = False

    def push(self, window: Samples) -> None:
        self.waiting.append(window)
        asyncio.get_running_loop().call_later(self._queue.delay_ms / 1000, self._deliver)

    def reset(self) -> None:
        self.waiting.append(None)

    def close(self) -> None:
        self.closed = True

    def _deliver(self) -> None:
        while (window := self.waiting.popleft()) is None:
            self.stream.reset()
        if self.closed:
            return
        try:
            probability = float(self._queue.vad.push([self.stream], window[np.newaxis])[0])
        except Exception as error:
            self._on_error(error)
            return
        self._on_window(window, probability)


class Inline:
    """An Offload that works in the loop, with one step of it in between."""

    def __init__(self) -> None:
        self.fail: Exception | None = None

    async def run(self, priority: Priority, function: Callable[..., T], *args: object) -> T:
        await asyncio.sleep(0)
        if self.fail is not None:
            raise self.fail
        return function(*args)


@dataclass
class Rig:
    """A session and its device. Made inside the virtual loop."""

    asr: FakeAsr = field(default_factory=FakeAsr)
    llm: FakeLlm = field(default_factory=FakeLlm)
    tts: FakeTts | None = field(default_factory=FakeTts)
    vad: FakeVad = field(default_factory=FakeVad)
    settings: SessionSettings = QUIET
    pacing: PacingSettings = PACING
    asr_settings: AsrSettings = ASR
    tts_settings: TtsSettings = TTS
    limits: LingLimits = LIMITS
    full_after: int | None = None
    """Audio frames after which the connection is full."""

    def __post_init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.clock = LoopClock(self.loop)
        self.messages: list[OutputMessage] = []
        self.times: list[float] = []
        self.turns: list[TurnTimes] = []
        self.witness = Witness(lead=self.pacing.lead_frames, paced=self.tts is not None)
        self.encoder = Inline()
        self.conversation = Conversation("device")
        self.waiters: list[Callable[[], None]] = []
        self._news = asyncio.Event()
        ling = Ling(self.llm, self.conversation, system_prompt="", language="en", limits=self.limits)
        voice = (
            [] if self.tts is None else [TtsTemplate(self.tts, self.tts_settings), EncodeTemplate(SPEC, self.encoder)]
        )
        self.wheel = TimerWheel(self.clock, self.loop)
        self.session = (
            SessionBuilder(self.clock, self.wheel, self.settings, self.pacing)
            .with_id("s1")
            .with_conversation(self.conversation)
            .with_turn_hook(lambda _, times: self.turns.append(times))
            .with_node_templates(
                [
                    OpusTemplate(),
                    VadTemplate(LateVad(self.vad), VadSettings()),
                    AsrTemplate(self.asr, self.asr_settings),
                    TurnTemplate(),
                    LingTemplate(ling),
                    *voice,
                ]
            )
            .build(self)
        )

    # --- the way out ---

    def send(self, message: OutputMessage) -> None:
        self.messages.append(message)
        self.times.append(self.now_ms)
        self.witness.see(message, self.now_ms)
        if isinstance(message, Audio) and self.full_after is not None:
            self.full_after -= 1
        self._news.set()

    def writable(self) -> bool:
        return self.full_after is None or self.full_after > 0

    def when_writable(self, callback: Callable[[], None]) -> None:
        self.waiters.append(callback)

    def drain(self, frames: int | None = None) -> None:
        """The client reads again."""
        self.full_after = frames
        waiters, self.waiters = self.waiters, []
        for callback in waiters:
            callback()

    # --- the device ---

    @property
    def now_ms(self) -> float:
        return self.loop.time() * 1000

    def feed(self, frame: Frame) -> None:
        self.session.feed(frame)

    def hello(self) -> None:
        self.feed(Hello())

    def start(self, mode: ListenMode = ListenMode.AUTO) -> None:
        self.feed(ListenStart(mode=mode))

    def stop(self) -> None:
        self.feed(ListenStop())

    def text(self, text: str) -> None:
        self.feed(Text(text=text))

    def wake(self) -> None:
        self.feed(Detect(text=WAKE))

    def abort(self) -> None:
        self.feed(Abort())

    async def voice(self, ms: float) -> None:
        await self.stream(VOICE, ms)

    async def silence(self, ms: float) -> None:
        await self.stream(SILENCE, ms)

    async def stream(self, packet: bytes, ms: float) -> None:
        """Packets in real time: each arrives when its last sample has been spoken."""
        for _ in range(round(ms / 60)):
            await asyncio.sleep(0.06)
            self.feed(Opus(packet=packet))

    async def utter(self, ms: float = 1_200) -> None:
        """Speech, and silence until the turn is over."""
        await self.voice(ms)
        await self.silence(660)

    async def half_a_turn(self) -> None:
        """Speech, and silence up to its falling edge and no further."""
        await self.voice(600)
        await self.silence(360)

    async def until(self, kind: type[OutputMessage], nth: int = 1) -> OutputMessage:
        """The nth message of this kind, counted from the beginning."""
        while len(found := self.all(kind)) < nth:
            self._news.clear()
            await self._news.wait()
        return found[nth - 1]

    async def done(self, nth: int = 1) -> ReplyDone:
        message = await self.until(ReplyDone, nth)
        assert isinstance(message, ReplyDone)
        return message

    def all(self, kind: type[OutputMessage]) -> list[OutputMessage]:
        return [message for message in self.messages if isinstance(message, kind)]

    def names(self) -> list[str]:
        """Kinds of messages, audio once a run."""
        names: list[str] = []
        for message in self.messages:
            name = type(message).__name__
            if name != "Audio" or names[-1:] != ["Audio"]:
                names.append(name)
        return names

    @property
    def heard(self) -> list[str]:
        return [message.text for message in self.all(Heard) if isinstance(message, Heard)]

    @property
    def sentences(self) -> list[str]:
        return [message.text for message in self.all(Sentence) if isinstance(message, Sentence)]

    @property
    def statuses(self) -> list[ReplyStatus]:
        return [message.status for message in self.all(ReplyDone) if isinstance(message, ReplyDone)]

    @property
    def errors(self) -> list[Error]:
        return [message for message in self.messages if isinstance(message, Error)]

    @property
    def closed(self) -> list[str]:
        return [message.reason for message in self.all(CloseOut) if isinstance(message, CloseOut)]

    def audio_ms(self) -> float:
        return sum(message.duration_ms for message in self.all(Audio) if isinstance(message, Audio))

    def pcm(self) -> np.ndarray:
        """All audio as the device's decoder makes it."""
        decoder = Decoder(16_000)
        frames = [decoder.decode(message.packet) for message in self.all(Audio) if isinstance(message, Audio)]
        return np.concatenate(frames) if frames else np.zeros(0, np.int16)

    async def close(self) -> None:
        """The device goes; the session must be gone too, at once and whole."""
        await self.session.close("test_over")
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"left by the session: {left}"
        assert len(self.all(TtsStop)) >= self.witness.starts
