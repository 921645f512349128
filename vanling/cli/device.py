"""A simulated XiaoZhi device: hello, listening, real-time Opus up, replies down, as the firmware does it.

    conversation = await converse("ws://127.0.0.1:8080/xiaozhi/v1/", audio=pcm_16k)

For tests that need more than one turn, :class:`Device` can be driven by hand.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from vanling.cli.connecting import DeviceError, connection_failure, reason_of_close
from vanling.cli.conversation import Conversation
from vanling.cli.identity import DeviceIdentity
from vanling.cli.microphone import FRAME_MS, RATE, Clip, Microphone
from vanling.cli.witness import Witness
from vanling.core.opus import Encoder

HELLO_S = 10.0
"""How long the firmware waits for a connection, and then for the server's hello."""
TURN_S = 60.0
TURN_PAUSE_MS = 300
"""No server ends a turn after less silence than this."""
REALTIME_GRACE_S = 1.0
"""In realtime mode a reply may be held and go on: only this long after ``tts stop`` is it over."""

HELLO = {
    "type": "hello",
    "version": 1,
    "features": {"mcp": False},
    "transport": "websocket",
    "audio_params": {"format": "opus", "sample_rate": RATE, "channels": 1, "frame_duration": FRAME_MS},
}


class Mode(StrEnum):
    """Who ends the turn: the server (auto, realtime with the microphone open all along) or the button (manual)."""

    AUTO = "auto"
    MANUAL = "manual"
    REALTIME = "realtime"


def _quiet(_stage: str) -> None:
    """Tell nobody."""


async def converse(
    url: str,
    *,
    audio: NDArray[np.int16] | None = None,
    text: str | None = None,
    microphone: Microphone | None = None,
    mode: Mode = Mode.AUTO,
    token: str = "",
    device_id: str = "",
    deadline_s: float = TURN_S,
    stage: Callable[[str], None] = _quiet,
) -> Conversation:
    """Open a connection, say one thing, hear the reply to its end.

    What is said is one of ``audio`` (int16 mono 16 kHz), ``microphone`` and typed ``text``. ``stage`` is told what is
    going on, for people who wait.

    Raises:
        DeviceError: no connection, refused, closed early, or no reply within ``deadline_s`` after the speech.
    """
    device = Device(url, DeviceIdentity.make(device_id, token), stage)
    try:
        await device.open()
        if text is not None:
            await device.type(text)
        elif microphone is not None:
            await device.speak(microphone, mode)
        else:
            await device.speak(Clip(np.zeros(0, np.int16) if audio is None else audio), mode)
        return await device.reply(deadline_s)
    finally:
        await device.close()


class Device:
    """One device with one open connection; drive it with :meth:`speak`, :meth:`type`, :meth:`abort`, :meth:`reply`."""

    def __init__(self, url: str, identity: DeviceIdentity, stage: Callable[[str], None] = _quiet) -> None:
        self.url = url
        self.identity = identity
        self._stage = stage
        self._witness = Witness()
        self._changed = asyncio.Event()
        """Set whenever something that somebody may wait for has happened."""
        self._socket: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._uplink: asyncio.Task[None] | None = None
        self._mode = Mode.AUTO
        self._microphone: Microphone | None = None

    @property
    def conversation(self) -> Conversation:
        """What was seen since the last :meth:`speak` or :meth:`type`; its audio is joined by :meth:`reply`."""
        return self._witness.conversation

    async def open(self) -> None:
        """Connect, say hello, wait for the server's."""
        self._stage("connecting")
        try:
            self._socket = await connect(
                self.url,
                additional_headers=self.identity.headers(),
                compression=None,
                # A device asks no proxy for the way to a machine in the same house.
                proxy=None,
                open_timeout=HELLO_S,
                close_timeout=1.5,
                # The device itself never pings (it answers).
                ping_interval=None,
            )
        except Exception as error:
            raise connection_failure(self.url, error) from error
        self._reader = asyncio.create_task(self._read(self._socket))
        await self._send(HELLO)
        await self._until(lambda: self._witness.hello is not None, HELLO_S, "no hello came back within 10 s")
        self._witness.settle_hello()

    async def speak(self, microphone: Microphone, mode: Mode = Mode.AUTO) -> None:
        """Open the microphone and stream it in the background until the reply starts (manual: until all is said)."""
        self._witness.new_turn()
        self._mode, self._microphone = mode, microphone
        await self._listen("start", mode=mode.value)
        self._stage("speaking")
        self._uplink = asyncio.create_task(self._stream(microphone))

    async def type(self, text: str) -> None:
        """Typed text, as py-xiaozhi sends it: a manual listen and a detect that carries the text."""
        self._witness.new_turn()
        self._mode, self._microphone = Mode.MANUAL, None
        await self._listen("start", mode="manual")
        await self._listen("detect", text=text)
        self.conversation.speech_end_ns = time.monotonic_ns()

    async def abort(self, reason: str = "") -> None:
        """The user interrupts the reply."""
        more = {"reason": reason} if reason else {}
        await self._send({"session_id": self.conversation.session_id, "type": "abort", **more})

    async def wait_for(self, condition: Callable[[Conversation], bool], limit_s: float = TURN_S) -> None:
        """Until ``condition`` holds for what was seen; for tests that act in the middle of a reply."""
        await self._until(lambda: condition(self.conversation), limit_s, f"that did not happen within {limit_s:g} s")

    async def reply(self, deadline_s: float = TURN_S) -> Conversation:
        """Wait for the end of the reply; the deadline runs from the end of the speech."""
        await self._until(lambda: self._all_said() or self._replied(), None, "")
        self._stage("waiting for the reply")
        complaint = f"no reply within {deadline_s:g} s"
        await self._until(lambda: self.conversation.tts_start_ns is not None, deadline_s, complaint)
        self._stage("listening to the reply")
        complaint = f"the reply did not end within {deadline_s:g} s"
        await self._until(self._replied, deadline_s, complaint)
        while self._mode is Mode.REALTIME and await self._goes_on():
            await self._until(self._replied, deadline_s, complaint)
        await self._stop_uplink()
        if self.conversation.speech_end_ns is None:
            self._note_speech_end()
        return self._witness.result()

    async def close(self) -> None:
        """Hang up."""
        await self._stop_uplink()
        if self._socket is not None:
            await self._socket.close()
        if self._reader is not None:
            await asyncio.gather(self._reader, return_exceptions=True)

    # --- up -------------------------------------------------------------------------------------------------------

    async def _stream(self, microphone: Microphone) -> None:
        encoder = Encoder(RATE, frame_ms=FRAME_MS, complexity=0)
        try:
            while not self._microphone_closed():
                for packet in encoder.encode(await microphone.frame()):
                    await self._connected().send(packet)
                if self._mode is Mode.MANUAL and microphone.finished:
                    await self._listen("stop")
                    break
                self._changed.set()
        except ConnectionClosed:
            pass  # the reader sees it too, and says why
        finally:
            self._changed.set()

    def _microphone_closed(self) -> bool:
        """The firmware closes the microphone when the reply starts, unless it can hear itself out (realtime)."""
        return self._mode is not Mode.REALTIME and self.conversation.tts_start_ns is not None

    def _all_said(self) -> bool:
        return self._microphone is None or self._microphone.finished or self._microphone_closed()

    async def _stop_uplink(self) -> None:
        if self._uplink is not None:
            self._uplink.cancel()
            with suppress(asyncio.CancelledError):
                await self._uplink
            self._uplink = None

    async def _listen(self, state: str, **more: str) -> None:
        await self._send({"session_id": self.conversation.session_id, "type": "listen", "state": state, **more})

    async def _send(self, message: dict[str, Any]) -> None:
        try:
            await self._connected().send(json.dumps(message, ensure_ascii=False, separators=(",", ":")))
        except ConnectionClosed as error:
            raise DeviceError(f"{self.url} closed the connection: {reason_of_close(error)}") from error

    def _connected(self) -> ClientConnection:
        if self._socket is None:
            raise DeviceError("the device is not connected: call open() first")
        return self._socket

    # --- down -----------------------------------------------------------------------------------------------------

    async def _read(self, socket: ClientConnection) -> None:
        try:
            async for message in socket:
                told_ns = self.conversation.stt_ns
                self._witness.take(message, time.monotonic_ns())
                if self.conversation.stt_ns != told_ns:
                    self._note_speech_end()
                self._changed.set()
        finally:
            self._changed.set()

    def _note_speech_end(self) -> None:
        """What is heard was said up to now; a pause may have ended the turn before everything was said."""
        if self._microphone is not None:
            pause_ms = 0 if self._mode is Mode.MANUAL else TURN_PAUSE_MS
            self.conversation.speech_end_ns = self._microphone.speech_end_ns(pause_ms)

    def _replied(self) -> bool:
        """A bare stop (an abort while silent) ends nothing, and neither does one while there is more to say."""
        seen = self.conversation
        return seen.tts_start_ns is not None and seen.tts_stop_ns is not None and self._all_said()

    async def _goes_on(self) -> bool:
        """Whether a reply that stopped starts again within the grace."""
        try:
            await self._until(lambda: not self._replied(), REALTIME_GRACE_S, "")
        except DeviceError:
            return False
        return True

    async def _until(self, condition: Callable[[], bool], limit_s: float | None, complaint: str) -> None:
        try:
            async with asyncio.timeout(limit_s):
                while not condition():
                    self._fail_if_over()
                    await self._changed.wait()
                    self._changed.clear()
        except TimeoutError:
            raise DeviceError(f"{self.url}: {complaint}{self._last_words()}") from None

    def _fail_if_over(self) -> None:
        """Nothing more will come from a reader that has ended, nor from an uplink that broke."""
        if self._uplink is not None and self._uplink.done() and (failure := self._uplink.exception()):
            raise failure
        if self._reader is None or not self._reader.done():
            return
        failure = self._reader.exception()
        if failure is not None and not isinstance(failure, ConnectionClosed):
            raise failure
        socket = self._connected()
        normal = " ".join(filter(None, (f"code {socket.close_code}", socket.close_reason)))
        reason = reason_of_close(failure) if failure is not None else normal
        what = "before it had answered"
        if "no_activity" in reason and self._microphone is not None:
            what = "because it heard no speech"
        raise DeviceError(f"{self.url} closed the connection {what}: {reason}{self._last_words()}")

    def _last_words(self) -> str:
        errors = self.conversation.errors
        return f"; the server said: {errors[-1]}" if errors else ""
