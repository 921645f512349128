"""Who may come in. Static tokens only; users and their tokens are a matter of the store."""

from __future__ import annotations

import hmac
from collections.abc import Mapping


class Auth:
    """Checks the token of a request. Where none is required, any is accepted: py-xiaozhi sends a made-up one when it
    has been given none."""

    def __init__(self, required: bool, tokens: frozenset[str] = frozenset()) -> None:
        self.required = required
        self._tokens = tuple(token.encode() for token in tokens if token)

    def check(self, headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
        """``headers`` has lower-case names. Browsers cannot set headers on a WebSocket: their token is in the query,
        as ``authorization=Bearer+…``."""
        if not self.required:
            return True
        given = bearer(headers.get("authorization") or query.get("authorization") or "").encode("utf-8", "replace")
        # Every token is compared, in constant time each: which one nearly matched is nobody's business.
        matches = [hmac.compare_digest(given, token) for token in self._tokens]
        return bool(given) and any(matches)


def bearer(value: str) -> str:
    """The token of an ``Authorization`` value; the scheme's name is optional, as the firmware sends a stored token
    that contains a space verbatim."""
    scheme, _, token = value.strip().partition(" ")
    return token.strip() if token and scheme.lower() == "bearer" else value.strip()
