"""Puts a session together from an id, node templates and settings."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from vanling.clock import Clock
from vanling.dialogue.conversation import Conversation
from vanling.pipeline.node import AsyncTemplate, SyncTemplate, Template
from vanling.session.machine import SessionMachine, SessionSettings
from vanling.session.outlet import Outlet, PacingSettings
from vanling.session.round import find_spec
from vanling.session.session import Session, SessionParts, TurnHook
from vanling.session.transport import Outbound
from vanling.session.wheel import TimerWheel


@dataclass(frozen=True, slots=True)
class SessionBuilder:
    """A recipe; every ``with_`` gives a changed copy.

    A door leaves out the nodes that it has no use for: without encode and tts the session is text-only and its hello
    announces no audio; without opus, vad, asr and turn it cannot hear.
    """

    clock: Clock
    wheel: TimerWheel
    settings: SessionSettings = field(default_factory=SessionSettings)
    pacing: PacingSettings = field(default_factory=PacingSettings)
    session_id: str = ""
    templates: Sequence[Template] = ()
    conversation: Conversation | None = None
    on_turn: TurnHook | None = None

    def with_id(self, session_id: str) -> SessionBuilder:
        return replace(self, session_id=session_id)

    def with_node_templates(self, templates: Sequence[Template]) -> SessionBuilder:
        return replace(self, templates=tuple(templates))

    def with_config(self, settings: SessionSettings, pacing: PacingSettings) -> SessionBuilder:
        return replace(self, settings=settings, pacing=pacing)

    def with_conversation(self, conversation: Conversation) -> SessionBuilder:
        return replace(self, conversation=conversation)

    def with_turn_hook(self, on_turn: TurnHook | None) -> SessionBuilder:
        return replace(self, on_turn=on_turn)

    def build(self, outbound: Outbound) -> Session:
        """A live session that talks to ``outbound``; it hears nothing before its first Hello."""
        session_id = self.session_id or uuid.uuid4().hex
        spec = find_spec(self.templates)
        return Session(
            SessionParts(
                session_id=session_id,
                machine=SessionMachine(session_id, spec, self.settings, self.clock.now_ns()),
                new_outlet=lambda: Outlet(spec, self.pacing),
                hearing=[node for node in self.templates if isinstance(node, SyncTemplate)],
                reply=[node for node in self.templates if isinstance(node, AsyncTemplate)],
                conversation=self.conversation or Conversation(session_id),
                outbound=outbound,
                clock=self.clock,
                wheel=self.wheel,
                start_gap_ms=self.pacing.start_gap_ms if spec is not None else 0.0,
                on_turn=self.on_turn,
            )
        )
