"""What a device says of itself when it knocks."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeviceIdentity:
    device_id: str
    """A MAC address, lower case."""
    client_id: str
    """A UUID."""
    token: str = ""

    @classmethod
    def make(cls, device_id: str = "", token: str = "") -> DeviceIdentity:
        """A locally administered MAC address where none is given, so that two simulated devices never collide."""
        mac = device_id or "02:" + ":".join(f"{byte:02x}" for byte in secrets.token_bytes(5))
        return cls(mac, str(uuid.uuid4()), token)

    def headers(self) -> dict[str, str]:
        """Of the WebSocket upgrade, as the firmware sends them."""
        headers = {"Protocol-Version": "1", "Device-Id": self.device_id, "Client-Id": self.client_id}
        if self.token:
            headers["Authorization"] = self.token if " " in self.token else f"Bearer {self.token}"
        return headers
