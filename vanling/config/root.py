"""The whole configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import PrivateAttr

from vanling.config.sections import (
    Asr,
    Audio,
    Auth,
    EngineSection,
    Llm,
    Log,
    Pacing,
    Section,
    Server,
    Session,
    Tts,
    Turn,
    Vad,
)

ENGINE_KINDS = ("vad", "asr", "llm", "tts")
"""Sections that choose an engine and take its options."""


class Config(Section):
    """Everything vanling was told, checked; ``Config()`` is all defaults."""

    server: Server = Server()
    auth: Auth = Auth()
    vad: Vad = Vad()
    asr: Asr = Asr()
    llm: Llm = Llm()
    tts: Tts = Tts()
    turn: Turn = Turn()
    session: Session = Session()
    pacing: Pacing = Pacing()
    audio: Audio = Audio()
    log: Log = Log()

    _origins: dict[str, str] = PrivateAttr(default_factory=dict)

    def engine_section(self, kind: str) -> dict[str, Any]:
        """``{"engine": name, **options}`` of one of :data:`ENGINE_KINDS`, without the keys the conversation reads."""
        section = self._engine(kind)
        return {"engine": section.engine, **(section.__pydantic_extra__ or {})}

    def conversation_keys(self, kind: str) -> tuple[str, ...]:
        """Keys of an engine's section that are not the engine's options; a wrong option may have meant one of them."""
        return tuple(type(self._engine(kind)).model_fields)

    @property
    def auth_required(self) -> bool:
        """Whether clients need a token, ``auto`` resolved."""
        return not self.server.loopback if self.auth.required == "auto" else self.auth.required

    @property
    def tokens(self) -> frozenset[str]:
        """The tokens in the clear, for comparison only."""
        return frozenset(token.get_secret_value() for token in self.auth.tokens)

    def origin(self, key: str) -> str:
        """Where a value (``section.key``) came from; empty for a default."""
        return self._origins.get(key, "")

    def with_origins(self, origins: Mapping[str, str]) -> Config:
        self._origins.update(origins)
        return self

    def _engine(self, kind: str) -> EngineSection:
        section = getattr(self, kind) if kind in ENGINE_KINDS else None
        if not isinstance(section, EngineSection):
            raise ValueError(f"{kind!r} is no kind of engine: one of {', '.join(ENGINE_KINDS)}")
        return section
