"""Which values must never be shown."""

from __future__ import annotations

import re

MASK = "********"

_SECRET = re.compile(r"(^|[_-])(tokens?|authorization|passwords?|passwd|secrets?|api[_-]?keys?|cookie)$", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether a key of this name holds something that must not be shown (``max_tokens`` does not)."""
    return bool(_SECRET.search(name)) and not name.lower().startswith(("max_", "min_", "n_", "num_", "history_"))
