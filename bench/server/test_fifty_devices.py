"""Fifty devices are spoken to at once: how late do frames leave, beside timers that do nothing else?"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from bench.ratio import SMOKE, report
from bench.stubs import stub_engines
from vanling.config import load_config
from vanling.server import xiaozhi
from vanling.server.runtime import Server
from vanling.session.frame import Audio, OutputMessage, TtsStart

DEVICES = 5 if SMOKE else 50
SECONDS = 2.0 if SMOKE else 20.0
FRAME_MS = 60
LEAD = 2
SWITCH_MS = 10.0
"""The pacer reads the clock a moment before its frame is noted here. A thread switch in between (5 ms each) makes the
next frame, which keeps to the grid, look early by as much; one beyond the lead would be early by a whole frame."""
GENERATOR = Path(__file__).with_name("generator.py")


def test_fifty_devices(benchmark, tmp_path, monkeypatch):
    """Real sockets, Opus and pacing; stub recogniser and voice. The devices run in a process of their own."""
    sent = _watch(monkeypatch)
    figures = benchmark.pedantic(lambda: _run(_measure(tmp_path)), rounds=1)
    server = np.array([late for reply in sent for late in _lateness_ms(reply)])
    early = min((early for reply in sent for early in _earliness_ms(reply)), default=0.0)
    bare_p99 = float(np.percentile(figures["bare"], 99))
    p99 = float(np.percentile(server, 99))
    assert early > -SWITCH_MS, f"a frame left {-early:.1f} ms before its time"
    report(
        benchmark,
        "pacing_lateness_p99_ms",
        p99,
        2 * bare_p99 + 1,
        bare_p99_ms=bare_p99,
        p50_ms=float(np.percentile(server, 50)),
        frames=len(server),
        server_cpu_s=figures["server_cpu_s"],
        generator_cpu_s=figures["generator_cpu_s"],
    )


def _watch(monkeypatch) -> list[list[int]]:
    """Note when each audio frame of each reply is handed to its connection."""
    replies: list[list[int]] = []
    open_reply: dict[int, list[int]] = {}
    send = xiaozhi.XiaozhiConnection.send

    def noting(self: xiaozhi.XiaozhiConnection, message: OutputMessage) -> None:
        if isinstance(message, Audio):
            open_reply[id(self)].append(time.monotonic_ns())
        elif isinstance(message, TtsStart):
            open_reply[id(self)] = []
            replies.append(open_reply[id(self)])
        send(self, message)

    monkeypatch.setattr(xiaozhi.XiaozhiConnection, "send", noting)
    return replies


def _lateness_ms(sent_ns: list[int]) -> list[float]:
    """Each frame against the grid that the first one set; the lead may go before its time."""
    grid = [sent_ns[0] + max(0, k - LEAD + 1) * FRAME_MS * 1_000_000 for k in range(len(sent_ns))] if sent_ns else []
    return [(at - due) / 1e6 for at, due in zip(sent_ns, grid, strict=True)]


def _earliness_ms(sent_ns: list[int]) -> list[float]:
    """By how much each frame came before the moment that lets the client hold the lead at most; negative: too early."""
    early, playing_until = [], 0
    for at in sent_ns:
        if playing_until:
            early.append((at - (playing_until - (LEAD - 1) * FRAME_MS * 1_000_000)) / 1e6)
        playing_until = max(playing_until, at) + FRAME_MS * 1_000_000
    return early


def _run(work):
    if sys.platform == "linux":
        import uvloop

        return uvloop.run(work)
    return asyncio.run(work)


async def _measure(data_dir: Path) -> dict[str, object]:
    bare = await _bare_timers()
    config = load_config(None, ["server.port=0", f"server.data_dir={data_dir}"], {})
    server = Server(config, engines=stub_engines())
    await server.start()
    try:
        before = _cpu_s()
        generator = await asyncio.create_subprocess_exec(
            sys.executable, str(GENERATOR), server.ws_url, str(DEVICES), str(SECONDS), stdout=asyncio.subprocess.PIPE
        )
        out, _ = await generator.communicate()
        assert generator.returncode == 0
        server_cpu_s = _cpu_s() - before
    finally:
        await server.stop()
    bare += await _bare_timers()
    told = json.loads(out)
    assert sum(len(reply) for reply in told["arrivals"]) > 0
    return {"bare": bare, "server_cpu_s": server_cpu_s, "generator_cpu_s": told["cpu_s"]}


async def _bare_timers() -> list[float]:
    """The peer: as many tasks that sleep to absolute deadlines and do nothing; their lateness in ms."""
    late: list[float] = []

    async def one(frames: int) -> None:
        loop = asyncio.get_running_loop()
        began = time.monotonic_ns()
        for k in range(1, frames):
            due = began + k * FRAME_MS * 1_000_000
            woken = loop.create_future()
            loop.call_later(max(0.0, (due - time.monotonic_ns()) / 1e9), woken.set_result, None)
            await woken
            late.append((time.monotonic_ns() - due) / 1e6)

    await asyncio.gather(*(one(10 if SMOKE else 80) for _ in range(DEVICES)))
    return late


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
