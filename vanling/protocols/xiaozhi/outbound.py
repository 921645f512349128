"""Output messages as a device reads them (firmware ``Application::InitializeProtocol``)."""

from __future__ import annotations

import logging

from vanling.protocols.xiaozhi.binary import write_binary
from vanling.protocols.xiaozhi.emotions import EMOJI, known_face
from vanling.protocols.xiaozhi.refusal import Refusal, Refused
from vanling.protocols.xiaozhi.wire import Json, JsonObject, dump, dump_ascii, parse_object
from vanling.session.frame import (
    Audio,
    AudioSpec,
    Emotion,
    Error,
    ErrorCode,
    Heard,
    HelloReply,
    McpOut,
    OutputMessage,
    Sentence,
    SentenceEnd,
    TtsStart,
    TtsStop,
)

log = logging.getLogger(__name__)

ERROR_CODES = {
    ErrorCode.BAD_MESSAGE: 504_001,
    ErrorCode.BAD_AUDIO: 504_001,
    ErrorCode.TTS_FAILED: 504_002,
    ErrorCode.ASR_FAILED: 504_004,
    ErrorCode.LLM_FAILED: 504_005,
    ErrorCode.INTERNAL: 504_006,
    ErrorCode.LLM_EMPTY: 504_007,
}
"""The numbers that devices and the test page know. 504001 is "what was sent could not be taken"."""


class Outbound:
    """Writes the messages of one connection; keeps the audio time that framing 2 stamps on packets."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self._audio_ms = 0.0

    def encode(self, out: OutputMessage | Refusal, version: int) -> str | bytes | None:
        if isinstance(out, Audio):
            return self._audio(out, version)
        if isinstance(out, HelloReply):
            self.session_id = out.session_id
        if isinstance(out, McpOut):
            return self._mcp(out)
        body = _body(out, version)
        return None if body is None else dump({"session_id": self.session_id, **body})

    def _audio(self, out: Audio, version: int) -> bytes:
        # A device echoes the time of the packet it has just played, and takes 0 for "none": the end is never 0.
        self._audio_ms += out.duration_ms
        return write_binary(version, out.packet, int(self._audio_ms) % 0x1_0000_0000)

    def _mcp(self, out: McpOut) -> str | None:
        try:
            payload = dict(parse_object(out.payload))
            return dump_ascii({"session_id": self.session_id, "type": "mcp", "payload": payload})
        except Refused:
            log.error("mcp message is not a JSON object; not sent", extra={"component": "WS", "event": "mcp_bad"})
            return None


def _body(out: OutputMessage | Refusal, version: int) -> JsonObject | None:
    match out:
        case HelloReply():
            return {
                "type": "hello",
                "version": version,
                # The firmware crashes on a hello without it.
                "transport": "websocket",
                "audio_params": None if out.downlink is None else _audio_params(out.downlink),
            }
        case Heard():
            return {"type": "stt", "text": out.text}
        case Emotion():
            face = known_face(out.name)
            return {"type": "llm", "emotion": face, "text": EMOJI[face]}
        case TtsStart():
            return {"type": "tts", "state": "start"}
        case Sentence():
            return {"type": "tts", "state": "sentence_start", "text": out.text}
        case SentenceEnd():
            return {"type": "tts", "state": "sentence_end", "text": out.text}
        case TtsStop():
            return {"type": "tts", "state": "stop"}
        case Error() | Refusal():
            return {"type": "error", "code": ERROR_CODES[out.code], "message": out.message}
        case _:  # ReplyDone and CloseOut have no message here
            return None


def _audio_params(spec: AudioSpec) -> dict[str, Json]:
    frame_ms = int(spec.frame_ms) if spec.frame_ms == int(spec.frame_ms) else spec.frame_ms
    return {
        "format": spec.codec.value,
        "sample_rate": spec.rate,
        "channels": spec.channels,
        "frame_duration": frame_ms,
    }
