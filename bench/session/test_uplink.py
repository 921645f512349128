"""One uplink packet from the door to the recogniser's intake, beside the decoding alone."""

from __future__ import annotations

import asyncio
from functools import partial
from time import perf_counter_ns

import numpy as np
import pytest

from bench.ratio import interleaved_ns, report
from bench.stubs import StubAsr, StubVad
from vanling.clock import MonotonicClock
from vanling.core.opus import Decoder, Encoder
from vanling.engines.batching import InlineVad
from vanling.pipeline.nodes.asr import AsrSettings, AsrTemplate
from vanling.pipeline.nodes.opus import OpusTemplate
from vanling.pipeline.nodes.turn import TurnTemplate
from vanling.pipeline.nodes.vad import VadSettings, VadTemplate
from vanling.protocols.xiaozhi import XiaozhiTranslator
from vanling.session.builder import SessionBuilder
from vanling.session.frame import OutputMessage
from vanling.session.wheel import TimerWheel

BAR = 2.0


class Nowhere:
    """A client that takes everything."""

    def send(self, message: OutputMessage) -> None:
        pass

    def writable(self) -> bool:
        return True

    def when_writable(self, callback: object) -> None:
        pass


def test_uplink_packet(benchmark, speech):
    """Translator, session, Opus, a stub detector inline, endpointing and the turn's buffer; 60 ms packets."""
    packets = Encoder(16_000, frame_ms=60, complexity=0).encode(speech)
    loop = asyncio.new_event_loop()
    try:
        receive = _open(loop)
        decode = Decoder(16_000).decode
        benchmark.pedantic(_each, (packets, receive), rounds=3, warmup_rounds=1)
        ratio = interleaved_ns(
            partial(_per_packet, packets, receive), partial(_per_packet, packets, decode), rounds=61
        )
    finally:
        loop.close()
    report(benchmark, "uplink_over_decode", ratio.value, BAR, ours_us=ratio.ours_ns / 1e3, peer_us=ratio.peer_ns / 1e3)


def _open(loop: asyncio.AbstractEventLoop):
    clock = MonotonicClock()
    templates = [
        OpusTemplate(),
        VadTemplate(InlineVad(StubVad()), VadSettings()),
        # Partials are recognitions, one a second, off this path; and there is no loop here to run them in.
        AsrTemplate(StubAsr(), AsrSettings(max_turn_ms=1e12, partials_ms=0)),
        TurnTemplate(),
    ]
    session = SessionBuilder(clock, TimerWheel(clock, loop)).with_node_templates(templates).build(Nowhere())
    translator = XiaozhiTranslator(1)

    def receive(message: str | bytes) -> None:
        for frame in translator.receive(message):
            session.feed(frame)

    receive('{"type":"hello"}')
    receive('{"type":"listen","state":"start","mode":"auto"}')
    return receive


def _each(packets, call) -> None:
    for packet in packets:
        call(packet)


def _per_packet(packets, call) -> float:
    began = perf_counter_ns()
    for packet in packets:
        call(packet)
    return (perf_counter_ns() - began) / len(packets)


@pytest.fixture
def speech() -> np.ndarray:
    """3 s of a voice-like buzz, int16 at 16 kHz."""
    t = np.arange(16_000 * 3) / 16_000
    buzz = sum(np.sin(2 * np.pi * 130 * k * t) / k for k in range(1, 20)) * (0.5 + 0.5 * np.sin(2 * np.pi * 4 * t))
    noise = np.random.default_rng(1).normal(0, 50, len(t))
    return (buzz / np.abs(buzz).max() * 12_000 + noise).astype(np.int16)
