"""The sections of the configuration: every key with its default, unit, range and what it does.

``vanling config example`` is written from these fields, so a description here is what a user reads there.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from vanling.config.secret import MASK, is_secret

WAKE_WORDS = [
    "你好小智", "小智小智", "嗨小智", "嘿小智", "小爱同学", "你好喵伴", "小龙小龙", "喵喵同学", "Hi,喵喵", "你好小鑫",
    "小美同学", "Hi,小星", "你好东东", "Hi,乐鑫", "小土豆", "Hi,ESP", "Hi,Lexin", "Hi,Jason", "Hey,Willow",
    "Hi,XiaoZhi", "Alexa", "Jarvis", "Computer", "Sophia", "Mycroft", "Hi,Joy", "Hey,Wanda", "Hi,Jolly", "Hi,Fairy",
    "Blue Chip", "Astrolabe",
]  # fmt: skip
"""What the firmware's wake word models report (esp-sr WakeNet 9, xiaozhi-esp32's own and its default custom word)."""

PERSONA = (
    "You are a friendly voice assistant in somebody's home. Your answer is spoken aloud: say it in one to three short "
    "sentences of plain words, without lists, links or symbols. Answer in the language of the question."
)

Milliseconds = Annotated[int, Field(ge=0, le=600_000)]
Timeout = Annotated[int, Field(ge=100, le=600_000)]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]


class Section(BaseModel):
    """A table of the configuration file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def __repr_args__(self) -> Any:
        for name, value in super().__repr_args__():
            yield name, MASK if name and is_secret(name) and value else value


class EngineSection(Section):
    """A section whose further keys are options of the chosen engine; the engine registry checks them."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    engine: str


class Server(Section):
    """Where vanling listens and keeps its files."""

    host: str = Field(
        default="127.0.0.1", min_length=1, description="Address to listen on; 0.0.0.0 for all of this machine's"
    )
    port: int = Field(
        default=8080, ge=0, le=65535, description="Port of every HTTP and WebSocket door; 0 takes a free one"
    )
    public_url: str = Field(
        default="",
        description="URL by which devices reach this server, where it is not the one they ask: http(s)://host[:port]",
    )
    data_dir: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("vanling"),
        strict=False,
        description="Folder for everything that vanling writes",
    )
    tls_cert: str = Field(default="", description="Certificate chain (PEM file); with tls_key it makes https and wss")
    tls_key: str = Field(default="", description="Private key of the certificate (PEM file)")
    allowed_origins: list[str] = Field(
        default=[],
        description='Other web pages that may connect: "http://test.local:8006"; "null": pages from disk, "*": all',
    )
    forwarded_allow: list[str] = Field(
        default=[], description='Addresses or networks of proxies whose X-Forwarded headers are believed; "*": any'
    )

    @field_validator("data_dir")
    @classmethod
    def _expand(cls, value: Path) -> Path:
        return value.expanduser()

    @field_validator("public_url")
    @classmethod
    def _url(cls, value: str) -> str:
        if value and not _is_http(value):
            raise ValueError("a URL such as http://192.168.1.10:8080, or empty")
        return value.rstrip("/")

    @field_validator("allowed_origins")
    @classmethod
    def _origins(cls, value: list[str]) -> list[str]:
        for origin in value:
            if origin not in ("*", "null") and not (_is_http(origin) and urlsplit(origin).path == ""):
                raise ValueError('origins such as "http://test.local:8006" (no path), or "*"')
        return value

    @field_validator("forwarded_allow")
    @classmethod
    def _networks(cls, value: list[str]) -> list[str]:
        for network in value:
            if network == "*":
                continue
            try:
                ip_network(network, strict=False)
            except ValueError:
                raise ValueError('addresses or networks such as "10.0.0.0/8"') from None
        return value

    @model_validator(mode="after")
    def _tls_both(self) -> Server:
        if bool(self.tls_cert) != bool(self.tls_key):
            missing = "tls_key" if self.tls_cert else "tls_cert"
            raise ValueError(f"server.{missing} is missing: TLS needs both tls_cert and tls_key, or neither")
        return self

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"


class Auth(Section):
    """Who may connect."""

    required: Literal["auto"] | bool = Field(
        default="auto", description="Whether a token is asked for; auto: unless only this machine can reach the server"
    )
    tokens: list[SecretStr] = Field(default=[], description="Tokens that devices and clients may connect with")

    @field_validator("tokens")
    @classmethod
    def _sendable(cls, value: list[SecretStr]) -> list[SecretStr]:
        for token in value:
            text = token.get_secret_value()
            if not text or not text.isascii() or not text.isprintable() or " " in text:
                raise ValueError("tokens of printable ASCII characters without spaces")
        return value


class Vad(EngineSection):
    """Telling voice from silence."""

    engine: str = Field(default="silero", description="Voice detector")
    threshold: Probability = Field(default=0.5, description="Probability from which a window counts as voice")
    deactivation: Probability = Field(default=0.35, description="Probability below which voice ends; at most threshold")
    min_speech_ms: Milliseconds = Field(default=120, description="Shorter voice is a noise, in ms")
    min_silence_ms: Milliseconds = Field(
        default=300, description="Silence after which speech is held to be over, in ms"
    )
    pre_roll_ms: int = Field(
        default=600, ge=0, le=5_000, description="Audio kept from before the voice was detected, in ms"
    )

    @model_validator(mode="after")
    def _hysteresis(self) -> Vad:
        if self.deactivation > self.threshold:
            raise ValueError(
                f"vad.deactivation = {self.deactivation} lies above vad.threshold = {self.threshold}: "
                "it must be the same or lower"
            )
        return self


class Asr(EngineSection):
    """Speech to text."""

    engine: str = Field(default="whisper", description="Recogniser")
    timeout_ms: Timeout = Field(default=10_000, description="Longest wait for a recognition, in ms")


class Llm(EngineSection):
    """The model that answers."""

    engine: str = Field(default="echo", description="Language model")
    system_prompt: str = Field(default=PERSONA, description="Who the model is and how it should answer")
    first_event_ms: Timeout = Field(default=30_000, description="Longest wait for the beginning of an answer, in ms")
    next_event_ms: Timeout = Field(default=10_000, description="Longest pause within an answer, in ms")
    history_tokens: int = Field(
        default=2_000,
        ge=0,
        le=10_000_000,
        description="How much of a conversation the model is reminded of, in tokens (estimated); 0: the last turn only",
    )


class Tts(EngineSection):
    """Text to speech."""

    engine: str = Field(default="piper", description="Voice; mute for text only")
    first_chunk_ms: Timeout = Field(default=8_000, description="Longest wait for a sentence's first sound, in ms")
    next_chunk_ms: Timeout = Field(default=35_000, description="Longest wait for more of a sentence, in ms")


class Turn(Section):
    """When the speaker is done."""

    silence_confirm_ms: Milliseconds = Field(
        default=200, description="Silence after vad.min_silence_ms that ends a turn, in ms"
    )
    stall_ms: Milliseconds = Field(
        default=1_200, description="An open turn also ends after this long without any audio, in ms"
    )
    speculate: Literal["auto", "reply", "asr", "off"] = Field(
        default="auto",
        description="What is begun before the turn is confirmed: recognition (asr), the reply too (reply), nothing "
        "(off); auto: the reply in realtime mode, else recognition",
    )
    hold: bool = Field(
        default=True,
        description="Voice makes a reply wait for its words; false: in realtime mode it interrupts at once",
    )
    merge: bool = Field(
        default=True, description="What follows before the answer is heard becomes one turn with what was said before"
    )
    echo: bool = Field(default=True, description="Our own words that come back through the microphone are ignored")
    false_interruption_ms: Milliseconds = Field(
        default=2_000, description="A reply that was made to wait goes on without words after, in ms"
    )
    partials_ms: Milliseconds = Field(
        default=1_000, description="Recognise speech that goes on this often, in ms; 0: only at its end"
    )


class Session(Section):
    """One connection of a device."""

    no_activity_ms: Milliseconds = Field(
        default=30_000, description="A connection without activity is closed after, in ms; 0: never"
    )
    hello_ms: Timeout = Field(default=10_000, description="Longest wait for a client's hello, in ms")
    resume_ms: int = Field(
        default=600_000,
        ge=0,
        le=86_400_000,
        description="A device that returns within this time goes on with its conversation, in ms; 0: always a new one",
    )
    barge_in_lockout_ms: Milliseconds = Field(
        default=250, description="Voice does not interrupt this soon after a reply begins or ends, in ms"
    )
    wake_words: list[str] = Field(
        default=WAKE_WORDS,
        description="What devices report when they are called; any other such text is taken as typed",
    )
    language: str = Field(
        default="auto", pattern=r"^(auto|[a-z]{2,3})$", description="Language spoken: auto or a code such as en or zh"
    )


class Pacing(Section):
    """How audio leaves towards a device."""

    lead_frames: int = Field(default=2, ge=1, le=10, description="Frames sent ahead of real time")
    start_gap_ms: int = Field(
        default=100, ge=0, le=2_000, description="Pause between tts start and the first audio, in ms"
    )
    device_buffer_ms: int = Field(
        default=200, ge=0, le=5_000, description="tts stop follows the end of the audio after, in ms"
    )


class Audio(Section):
    """The Opus audio that devices play."""

    rate: Literal[8000, 12000, 16000, 24000, 48000] = Field(default=24_000, description="Sample rate in Hz")
    frame_ms: Literal[5, 10, 20, 40, 60, 80, 100, 120] = Field(default=60, description="Length of a frame in ms")
    bitrate: int = Field(default=24_000, ge=6_000, le=510_000, description="Bits per second")
    complexity: int = Field(default=5, ge=0, le=10, description="Effort of the encoder")


class Log(Section):
    """What vanling tells about itself."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least level that is logged; what people say appears at debug only"
    )
    format: Literal["text", "json"] = Field(default="text", description="Form of the lines on the console")
    file: str = Field(default="", description="Also write JSON lines to this file, kept to 5 files of 10 MB")


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
