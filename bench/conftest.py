"""Makes ``bench.ratio`` importable and prints what it gathered."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.ratio import LINES, SMOKE


def pytest_configure(config: pytest.Config) -> None:
    if SMOKE:  # each benchmark runs once
        config.option.benchmark_disable = True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if LINES:
        terminalreporter.section("ratios")
        for line in LINES:
            terminalreporter.write_line(line)
