"""Wire messages to frames and output messages to wire messages, for one XiaoZhi connection."""

from __future__ import annotations

from vanling.protocols.xiaozhi.binary import Packet, read_binary
from vanling.protocols.xiaozhi.hello import FRAMING_VERSIONS, read_hello
from vanling.protocols.xiaozhi.limits import Limits
from vanling.protocols.xiaozhi.listen import read_listen, read_words
from vanling.protocols.xiaozhi.note import Note
from vanling.protocols.xiaozhi.outbound import Outbound
from vanling.protocols.xiaozhi.refusal import Refusal, Refused
from vanling.protocols.xiaozhi.wire import JsonObject, dump_ascii, get_str, parse_object
from vanling.session.frame import Abort, ErrorCode, Frame, Mcp, Opus, OutputMessage, Text

IGNORED_TYPES = frozenset({"goodbye", "iot", "ping", "pong"})
"""Legitimate in other versions or transports of the protocol, and without meaning here."""


class XiaozhiTranslator:
    """One connection's translator. It reads no clock and owns no socket; nothing that a client sends makes it raise.

    ``framing_version`` (1, 2 or 3) is the ``Protocol-Version`` of the upgrade request, None where the client sent none:
    then the hello's ``version`` decides, and 1 holds until it comes. ``session_id`` goes into every JSON message.
    ``note`` is told of what is odd in a message that is taken.
    """

    def __init__(
        self,
        framing_version: int | None = None,
        limits: Limits | None = None,
        *,
        session_id: str = "",
        note: Note = lambda event, text: None,
    ) -> None:
        self._announced = framing_version if framing_version in FRAMING_VERSIONS else None
        self._version = self._announced or 1
        self._limits = limits or Limits()
        self._note = note
        self._greeted = False
        self._audio_refused = False
        self._out = Outbound(session_id)
        self.ignored_messages = 0
        """Messages of a type that has no meaning here."""
        self.dropped_packets = 0
        """Binary messages that came before the hello."""

    @property
    def framing_version(self) -> int:
        return self._version

    @property
    def greeted(self) -> bool:
        """True once the client has said hello."""
        return self._greeted

    @property
    def session_id(self) -> str:
        return self._out.session_id

    @session_id.setter
    def session_id(self, value: str) -> None:
        self._out.session_id = value

    def receive(self, message: str | bytes) -> list[Frame | Refusal]:
        """Take one WebSocket message, text or binary; never raises."""
        try:
            return self._read_text(message) if isinstance(message, str) else self._read_binary(message)
        except Refused as refused:
            return [refused.refusal]

    def encode(self, out: OutputMessage | Refusal) -> str | bytes | None:
        """The wire message for ``out``; None for what this protocol does not carry."""
        return self._out.encode(out, self._version)

    def _read_text(self, text: str) -> list[Frame | Refusal]:
        message = parse_object(text)
        kind = get_str(message, "type")
        match kind:
            case None:
                raise Refused("type is missing or not a string")
            case "hello":
                return self._read_hello(message)
            case "listen":
                return [read_listen(message, self._limits, self._note)]
            case "text":
                return [Text(text=read_words(message, "text", self._limits), ref="text")]
            case "abort":
                return [Abort(reason=get_str(message, "reason") or "", ref="abort")]
            case "mcp":
                return [_read_mcp(message)]
            case _:
                self._ignore(kind)
                return []

    def _read_hello(self, message: JsonObject) -> list[Frame | Refusal]:
        hello = read_hello(message, self._note)
        if not self._greeted:  # a second hello changes nothing: frames of the first framing are already under way
            self._greeted = True
            self._settle_version(hello.framing_version)
        return [hello.frame, hello.refusal] if hello.refusal else [hello.frame]

    def _settle_version(self, asked: int | None) -> None:
        if self._announced is None:
            self._version = asked or 1
        elif asked not in (None, self._announced):
            text = f"hello asks for framing {asked}, the upgrade request for {self._announced}; the latter holds"
            self._note("hello_odd", text)

    def _read_binary(self, message: bytes) -> list[Frame | Refusal]:
        if not message:  # the browser page ends a recording with one
            return []
        if len(message) > self._limits.packet_bytes:
            raise Refused(
                f"binary message is longer than {self._limits.packet_bytes} bytes", "binary", ErrorCode.BAD_AUDIO
            )
        content = read_binary(self._version, message)
        if not isinstance(content, Packet):
            return self._read_text(content)
        if not self._greeted:
            return self._refuse_early_audio()
        if not content.payload:
            return []
        return [Opus(packet=content.payload, timestamp_ms=content.timestamp_ms, ref="binary")]

    def _refuse_early_audio(self) -> list[Frame | Refusal]:
        self.dropped_packets += 1
        if self._audio_refused:  # once is enough: it may be fifty a second
            return []
        self._audio_refused = True
        raise Refused("binary message before hello; hello goes first, as a text message", "binary")

    def _ignore(self, kind: str) -> None:
        self.ignored_messages += 1
        if kind not in IGNORED_TYPES:
            self._note("message_ignored", "message of unknown type ignored")


def _read_mcp(message: JsonObject) -> Mcp:
    payload = message.get("payload")
    if not isinstance(payload, dict):
        raise Refused("mcp needs an object as payload", "mcp")
    return Mcp(payload=dump_ascii(payload), ref="mcp")
