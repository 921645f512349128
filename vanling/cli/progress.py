"""What is going on, for somebody who waits at a terminal; nothing where stderr is a file or a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.markup import escape

from vanling.cli.common import err


@contextmanager
def progress(first: str) -> Iterator[Callable[[str], None]]:
    """A spinner with a line of text; yields what changes the text."""
    console = err()
    if not console.is_terminal:
        yield _silent
        return
    with console.status(escape(first)) as status:
        yield lambda text: status.update(escape(text))


def _silent(_text: str) -> None:
    """Show nothing."""
