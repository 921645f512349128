"""What is odd about a message and still taken: for the log of whoever runs the server, not for the client."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Note: TypeAlias = Callable[[str, str], None]
"""Called with (event, text). The text never echoes a value: it is whatever the client likes to write into our log. How
many notes of one client are logged is up to the caller; the client decides how many there are."""
