"""What stands before every WebSocket door: token, path, origin."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from vanling.server.auth import Auth
from vanling.server.origin import origin_allowed
from vanling.server.settings import ServerSettings
from vanling.server.upgrade import Handler, Rejection, UpgradeRequest

log = logging.getLogger(__name__)

Door = Callable[[UpgradeRequest], "Handler | Rejection"]


class Gate:
    """Finds the door for an upgrade request. With auth on, whoever has no token learns nothing about paths: 401 comes
    before 404."""

    def __init__(self, settings: ServerSettings, auth: Auth, doors: Mapping[str, Door]) -> None:
        self._settings = settings
        self._auth = auth
        self._doors = {_trimmed(path): door for path, door in doors.items()}
        self._shut = False

    def shut(self) -> None:
        """Let nobody in any more: the server is stopping, and a kept-alive HTTP connection may still ask."""
        self._shut = True

    def __call__(self, request: UpgradeRequest) -> Handler | Rejection:
        if self._shut:
            return Rejection(503, "the server is stopping")
        if not self._auth.check(request.headers, request.query):
            return self._rejected(request, Rejection(401, "a valid token is required"), "no valid token")
        door = self._doors.get(_trimmed(request.path))
        if door is None:
            return self._rejected(request, Rejection(404, "no such path"), "no such path")
        if not self._auth.required and not self._origin_allowed(request):
            why = "page of another site; see server.allowed_origins"
            return self._rejected(request, Rejection(403, "this origin may not connect"), why)
        return door(request)

    def _origin_allowed(self, request: UpgradeRequest) -> bool:
        settings = self._settings
        origin, host = request.headers.get("origin"), request.headers.get("host", "")
        return origin_allowed(origin, host, settings.allowed_origins, settings.public_url)

    @staticmethod
    def _rejected(request: UpgradeRequest, rejection: Rejection, why: str) -> Rejection:
        log.warning(
            "connection refused (%d): %s",
            rejection.status,
            why,
            extra={"component": "WS", "event": "refused", "remote": request.remote},
        )
        return rejection


def _trimmed(path: str) -> str:
    return path.removesuffix("/")
