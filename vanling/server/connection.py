"""The one place where a session is put together: engines, node templates and limits meet here."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from vanling.clock import Clock
from vanling.config import Config
from vanling.contracts.audio import AudioSpec
from vanling.contracts.engines import EngineSet, Llm, Pcm, VadQueue
from vanling.contracts.offload import Offload
from vanling.dialogue.conversation import Conversation
from vanling.dialogue.conversation_book import ConversationBook
from vanling.dialogue.ling import Ling, LingLimits
from vanling.filters.chain import FilterFactory, no_filters
from vanling.pipeline.node import Template
from vanling.pipeline.nodes.asr import AsrSettings, AsrTemplate
from vanling.pipeline.nodes.encode import EncodeTemplate
from vanling.pipeline.nodes.ling import LingTemplate
from vanling.pipeline.nodes.opus import OpusTemplate
from vanling.pipeline.nodes.tts import TtsSettings, TtsTemplate
from vanling.pipeline.nodes.turn import TurnTemplate
from vanling.pipeline.nodes.vad import VadSettings, VadTemplate
from vanling.server.door_session import DoorSession, Identity
from vanling.server.filtered import FilteredSession
from vanling.session.builder import SessionBuilder
from vanling.session.frame import ListenMode
from vanling.session.machine import SessionSettings
from vanling.session.outlet import PacingSettings
from vanling.session.session import TurnHook
from vanling.session.settings import HoldSettings
from vanling.session.transport import Outbound
from vanling.session.wheel import TimerWheel


@dataclass(frozen=True, slots=True)
class Shared:
    """What all sessions of a server share."""

    engines: EngineSet
    vad: VadQueue
    encoder: Offload
    """Worker threads of the encode nodes."""
    clock: Clock
    wheel: TimerWheel
    apology: tuple[str, tuple[Pcm, ...]] | None = None
    """Text and cached audio of the failure sentence; None without a voice."""


class Sessions:
    """The :class:`SessionFactory` of a server: every door's sessions are put together here, and what they remember
    outlives them here."""

    def __init__(
        self, config: Config, shared: Shared, on_turn: TurnHook | None = None, filters: FilterFactory = no_filters
    ) -> None:
        self._config = config
        self._shared = shared
        self._filters = filters
        self.conversations = ConversationBook(
            shared.clock, resume_ms=config.session.resume_ms, history_tokens=config.llm.history_tokens
        )
        self._builder = SessionBuilder(
            shared.clock, shared.wheel, _session_settings(config, shared.engines.llm), _pacing(config), on_turn=on_turn
        )

    def open(self, outbound: Outbound, who: Identity) -> DoorSession:
        session_id = uuid.uuid4().hex
        book = self.conversations
        conversation = book.claim(who.device_id) if who.device_id else book.anonymous(session_id)
        templates = [*self._hearing(), *self._reply(conversation)]
        builder = self._builder.with_id(session_id).with_conversation(conversation).with_node_templates(templates)
        filtered = FilteredSession(outbound, self._filters, session_id, who)
        return filtered.attach(builder.build(filtered)) if filtered.needed else builder.build(outbound)

    def _hearing(self) -> Sequence[Template]:
        config, shared = self._config, self._shared
        asr = AsrSettings(
            language=None if config.session.language == "auto" else config.session.language,
            pre_roll_ms=config.vad.pre_roll_ms,
            timeout_ms=config.asr.timeout_ms,
            speculate=config.turn.speculate != "off",
            partials_ms=config.turn.partials_ms,
        )
        return [
            OpusTemplate(),
            VadTemplate(shared.vad, _vad_settings(config)),
            AsrTemplate(shared.engines.asr, asr),
            TurnTemplate(),
        ]

    def _reply(self, conversation: Conversation) -> Sequence[Template]:
        config, shared = self._config, self._shared
        tts = shared.engines.tts
        language = config.session.language
        if tts is not None:
            language = tts.language
        elif language == "auto":
            language = "en"
        ling = Ling(
            shared.engines.llm,
            conversation,
            system_prompt=config.llm.system_prompt,
            language=language,
            limits=LingLimits(config.llm.first_event_ms, config.llm.next_event_ms),
        )
        if tts is None:
            return [LingTemplate(ling)]
        voice = TtsSettings(
            first_chunk_ms=config.tts.first_chunk_ms, next_chunk_ms=config.tts.next_chunk_ms, apology=shared.apology
        )
        audio = config.audio
        spec = AudioSpec(rate=audio.rate, frame_ms=audio.frame_ms)
        encode = EncodeTemplate(spec, shared.encoder, bitrate=audio.bitrate, complexity=audio.complexity)
        return [LingTemplate(ling), TtsTemplate(tts, voice), encode]


def _session_settings(config: Config, llm: Llm) -> SessionSettings:
    session = config.session
    return SessionSettings(
        no_activity_ms=session.no_activity_ms or None,
        stall_ms=config.turn.stall_ms,
        barge_in_lockout_ms=session.barge_in_lockout_ms,
        wake_words=tuple(session.wake_words),
        hold=HoldSettings(
            hold=config.turn.hold,
            merge=config.turn.merge,
            echo=config.turn.echo,
            think_ahead=_thinks_ahead(config, llm),
            false_interruption_ms=config.turn.false_interruption_ms,
        ),
    )


def _thinks_ahead(config: Config, llm: Llm) -> frozenset[ListenMode]:
    """Modes in which a reply is begun on a guess; an engine whose asking has effects is never asked on one."""
    if not llm.pure:
        return frozenset()
    match config.turn.speculate:
        case "reply":
            return frozenset({ListenMode.AUTO, ListenMode.REALTIME})
        case "auto":
            return frozenset({ListenMode.REALTIME})
    return frozenset()


def _vad_settings(config: Config) -> VadSettings:
    return VadSettings(
        threshold=config.vad.threshold,
        deactivation=config.vad.deactivation,
        min_speech_ms=config.vad.min_speech_ms,
        min_silence_ms=config.vad.min_silence_ms,
        silence_confirm_ms=config.turn.silence_confirm_ms,
    )


def _pacing(config: Config) -> PacingSettings:
    pacing = config.pacing
    return PacingSettings(pacing.lead_frames, pacing.start_gap_ms, pacing.device_buffer_ms)
