"""What the decisions of each window and frame cost: at most 1 µs a call."""

from functools import partial

from bench.ratio import best_ns, report
from vanling.core.endpoint import Endpointer
from vanling.core.framing import pack, unpack
from vanling.core.pacer import Pacer

BAR_US = 1.0


def test_endpointer_push(benchmark):
    push = partial(Endpointer(16000, 0.5, 0.35, 120, 300, 200).push, 512, 0.7)
    benchmark(push)
    report(benchmark, "endpoint_push_us", best_ns(push) / 1000, BAR_US)


def test_pacer_frame(benchmark):
    """One frame's life: is it due, it is sent, when is the next."""
    pacer = Pacer(60)
    now = 0

    def frame() -> int | None:
        nonlocal now
        now += 60_000_000
        pacer.sent(min(1, pacer.due(now)), now)
        return pacer.next_ns

    benchmark(frame)
    report(benchmark, "pacer_frame_us", best_ns(frame) / 1000, BAR_US)


def test_framing(benchmark):
    packet = bytes(180)
    wire = pack(3, packet)
    benchmark(unpack, 3, wire)
    report(benchmark, "framing_pack_us", best_ns(partial(pack, 3, packet)) / 1000, BAR_US)
    report(benchmark, "framing_unpack_us", best_ns(partial(unpack, 3, wire)) / 1000, BAR_US)
