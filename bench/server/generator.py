"""Simulated devices in a process of their own: they ask, listen, and note when each frame came.

Run as ``python generator.py URL DEVICES SECONDS``; prints one JSON document.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time

from websockets.asyncio.client import ClientConnection, connect

ASK = '{"type":"text","text":"tell me"}'


async def device(url: str, until: float) -> list[list[int]]:
    """Ask again and again until the time is over; the arrival times of every reply's frames in ns."""
    async with connect(url, proxy=None, compression=None, ping_interval=None) as socket:
        await socket.send('{"type":"hello"}')
        await socket.recv()
        replies = []
        while time.monotonic() < until:
            await socket.send(ASK)
            replies.append(await listen(socket))
        return replies


async def listen(socket: ClientConnection) -> list[int]:
    arrivals: list[int] = []
    async for message in socket:
        if isinstance(message, bytes):
            arrivals.append(time.monotonic_ns())
        elif '"stop"' in message:
            return arrivals
    return arrivals


async def main(url: str, devices: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    replies = await asyncio.gather(*(device(url, until) for _ in range(devices)))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    told = {
        "arrivals": [reply for of_device in replies for reply in of_device],
        "cpu_s": usage.ru_utime + usage.ru_stime,
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
