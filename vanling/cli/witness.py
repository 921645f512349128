"""What comes down to a simulated device, written down: texts, audio, and when. Pure: messages and clock readings in."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vanling.cli.connecting import DeviceError
from vanling.cli.conversation import Conversation
from vanling.cli.playback import Playback
from vanling.core.opus import Decoder
from vanling.errors import AudioValueError


class Witness:
    """Keeps the :class:`Conversation` of the turn that is going on, as the firmware would understand the server."""

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.hello: dict[str, Any] | None = None
        """The server's hello, as it came."""
        self._playback = Playback()
        self._decoder = Decoder(self.conversation.rate)
        self._audio: list[NDArray[np.int16]] = []

    def new_turn(self) -> None:
        """Start afresh; what belongs to the connection (session, rate, whether the device is speaking) stays."""
        old = self.conversation
        self.conversation = Conversation(session_id=old.session_id, rate=old.rate, frame_ms=old.frame_ms)
        self._playback = Playback(speaking=self._playback.speaking, played_until_ns=self._playback.played_until_ns)
        self._audio = []

    def take(self, message: str | bytes, now_ns: int) -> None:
        """One WebSocket message."""
        if isinstance(message, bytes):
            self._packet(message, now_ns)
        else:
            self._text(message, now_ns)

    def settle_hello(self) -> None:
        """Adopt what the hello says of the session and the audio.

        Raises DeviceError where a real device would crash or stay mute.
        """
        hello = self.hello or {}
        if hello.get("transport") != "websocket":
            raise DeviceError('the server\'s hello lacks "transport": "websocket", which crashes a real device')
        self.conversation.session_id = str(hello.get("session_id", ""))
        params = hello.get("audio_params")
        if isinstance(params, dict):
            rate, frame_ms = params.get("sample_rate", 24_000), params.get("frame_duration", 60)
            try:
                self._decoder = Decoder(rate)
                self.conversation.frame_ms = float(frame_ms)
            except (TypeError, ValueError):
                raise DeviceError(
                    f"the server's hello offers audio that is no Opus: {rate!r} Hz, {frame_ms!r} ms"
                ) from None
            self.conversation.rate = rate

    def result(self) -> Conversation:
        """The turn so far, with its audio joined."""
        seen, speaker = self.conversation, self._playback
        seen.audio = np.concatenate(self._audio) if self._audio else np.zeros(0, np.int16)
        seen.underruns, seen.underrun_ms = speaker.underruns, speaker.underrun_ms
        seen.dropped, seen.discarded = speaker.dropped, speaker.discarded
        return seen

    def _packet(self, packet: bytes, now_ns: int) -> None:
        if not self._playback.packet(now_ns, self.conversation.frame_ms):
            return
        self.conversation.arrivals_ns.append(now_ns)
        try:
            self._audio.append(self._decoder.decode(packet))
        except AudioValueError:
            self.conversation.bad_packets += 1

    def _text(self, text: str, now_ns: int) -> None:
        try:
            message = json.loads(text)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            self.conversation.errors.append("a message that is no JSON object")
            return
        match message.get("type"):
            case "hello":
                self.hello = message
            case "stt":
                self.conversation.heard = str(message.get("text", ""))
                self.conversation.stt_ns = now_ns
            case "llm":
                self.conversation.emotions.append(str(message.get("emotion", "")))
            case "tts":
                self._tts(message, now_ns)
            case "error" | "alert":
                self.conversation.errors.append(str(message.get("message", "an error without a message")))
            case _:
                pass  # the firmware logs and ignores what it does not know

    def _tts(self, message: dict[str, Any], now_ns: int) -> None:
        match message.get("state"):
            case "start":
                if self.conversation.tts_start_ns is None:
                    self.conversation.tts_start_ns = now_ns
                self.conversation.tts_stop_ns = None
                self._playback.start()
                self._decoder.reset()
            case "sentence_start":
                self.conversation.sentences.append(str(message.get("text", "")))
            case "stop":
                self.conversation.tts_stop_ns = now_ns
                self._playback.stop()
