"""Ours beside a peer, measured so that a noisy machine hits both alike.

The two take turns in short rounds; the ratio is the median over the rounds of one divided by the other. A burst of
other work then spoils a few rounds of both instead of all the rounds of one.
"""

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat

import pytest

SMOKE = os.environ.get("VANLING_BENCH_SMOKE", "") not in ("", "0")
"""Run everything once or twice, to see that it runs, and compare nothing with its bar."""

LINES: list[str] = []
"""What the run reports at its end."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Best times of one call each, and the median ratio of ours to the peer's (below 1: ours is faster)."""

    ours_ns: float
    peer_ns: float
    value: float


def interleaved(
    ours: Callable[[], object], peer: Callable[[], object], rounds: int = 41, round_ns: float = 2_000_000
) -> Ratio:
    """Time two calls against each other, each for about ``round_ns`` a round.

    Pass bound methods with their arguments by functools.partial rather than a lambda: for calls of less than 10 µs a
    lambda's own cost counts.
    """
    return interleaved_ns(_timer(ours, round_ns), _timer(peer, round_ns), rounds)


def interleaved_ns(ours: Callable[[], float], peer: Callable[[], float], rounds: int = 41) -> Ratio:
    """The same for two that measure themselves and return their ns per call or frame."""
    pairs = []
    for i in range(2 if SMOKE else rounds):
        # The order alternates as well, so that a cache left warm by the other favours both.
        if i % 2:
            first, second = ours(), peer()
        else:
            second, first = peer(), ours()
        pairs.append((first, second))
    return Ratio(min(p[0] for p in pairs), min(p[1] for p in pairs), statistics.median(a / b for a, b in pairs))


def best_ns(call: Callable[[], object], rounds: int = 41, round_ns: float = 2_000_000) -> float:
    """The best time of one call, without a peer."""
    timer = _timer(call, round_ns)
    return min(timer() for _ in range(2 if SMOKE else rounds))


def report(benchmark: object, name: str, value: float, bar: float | None = None, **figures: float) -> None:
    """Note a ratio (or a figure in the bar's unit) with the benchmark, print it at the end, hold it to its bar.

    bar: the most it may be; None only reports.
    figures: other numbers worth keeping beside it.
    """
    benchmark.extra_info.update({name: round(value, 4), **figures})  # type: ignore[attr-defined]
    limit = "none" if bar is None else f"{bar:g}"
    more = "".join(f" {key}={figure:.4g}" for key, figure in figures.items())
    LINES.append(f"ratio {name}={value:.3f} bar={limit}{more}")
    if bar is not None and not SMOKE and value > bar:
        pytest.fail(f"{name} is {value:.3f}; at most {bar:g} is wanted", pytrace=False)


def _timer(call: Callable[[], object], round_ns: float) -> Callable[[], float]:
    def once(calls: int) -> float:
        start = time.perf_counter_ns()
        for _ in repeat(None, calls):
            call()
        return (time.perf_counter_ns() - start) / calls

    once(1)
    calls = 3 if SMOKE else max(1, int(round_ns / max(once(3), 1.0)))
    return lambda: once(calls)
