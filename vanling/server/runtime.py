"""The composition root: from a configuration to a running server, and down again."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable

from vanling.clock import Clock, MonotonicClock
from vanling.config import Config
from vanling.contracts.engines import EngineSet, Pcm, Priority, Tts
from vanling.dialogue.phrases import Phrase, phrase
from vanling.engines.batching import VadBatcher
from vanling.engines.registry import KINDS, BuiltEngines, build_engines
from vanling.engines.workers import Workers
from vanling.errors import StartError
from vanling.server.connection import Sessions, Shared
from vanling.server.http_server import HttpServer
from vanling.server.listening import bind
from vanling.server.settings import ServerSettings, WireLimits
from vanling.server.xiaozhi import PATHS
from vanling.session.metrics import TurnTimes
from vanling.session.wheel import TimerWheel

log = logging.getLogger(__name__)

TurnListener = Callable[[str, TurnTimes], None]


class Server:
    """One server in this event loop. ``report`` is told, in a few words, of steps that take a moment.

    ``engines`` takes the place of what the configuration names; whoever made them closes them.
    """

    def __init__(
        self, config: Config, report: Callable[[str], None] = lambda _: None, *, engines: EngineSet | None = None
    ) -> None:
        self._config = config
        self._report = report
        self._given = engines
        self._clock: Clock = MonotonicClock()
        self._listeners: list[TurnListener] = []
        self._built: BuiltEngines | None = None
        self._vad: VadBatcher | None = None
        self._encoder: Workers | None = None
        self._http: HttpServer | None = None
        self._sockets: list[socket.socket] = []

    @property
    def url(self) -> str:
        """Where this machine reaches the server over HTTP."""
        if self._http is None:
            raise StartError("the server has not been started")
        return self._http.url

    @property
    def ws_url(self) -> str:
        """The XiaoZhi WebSocket."""
        return self.url.replace("http", "ws", 1) + PATHS[0] + "/"

    def on_turn(self, listener: TurnListener) -> None:
        """Call ``listener(session id, times)`` for every turn, once its first audio is out or its reply is over."""
        self._listeners.append(listener)

    async def start(self) -> None:
        """Build the engines and listen; raises a ``VanlingError`` that says in one sentence what is in the way."""
        try:
            await self._start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Drain the connections, then stop the threads. May be called at any time and twice."""
        if self._http is not None:
            await self._http.stop()
        for sock in self._sockets:  # a start that failed before it could serve them
            sock.close()
        if self._vad is not None:
            self._vad.close()
        if self._encoder is not None:
            self._encoder.close()
        if self._built is not None:
            await asyncio.to_thread(self._built.close)
        self._http, self._vad, self._encoder, self._built, self._sockets = None, None, None, None, []

    async def _start(self) -> None:
        config = self._config
        settings = _settings(config)
        self._sockets = bind(settings.host, settings.port)
        engines = self._given
        if engines is None:
            self._report("loading the engines")
            self._built = await asyncio.to_thread(self._build)
            engines = self._built.engines
        self._vad = VadBatcher(engines.vad)
        self._encoder = Workers("encode", 1)
        shared = Shared(
            engines=engines,
            vad=self._vad,
            encoder=self._encoder,
            clock=self._clock,
            wheel=TimerWheel(self._clock, asyncio.get_running_loop()),
            apology=None if engines.tts is None else await _apology(engines.tts),
        )
        self._http = HttpServer(settings, Sessions(config, shared, self._turn), sockets=self._sockets)
        await self._http.start()

    def _build(self) -> BuiltEngines:
        data_dir = self._config.server.data_dir
        try:
            data_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StartError(f"server.data_dir={data_dir} cannot be made: {error.strerror or error}") from error
        sections = {kind: self._config.engine_section(kind) for kind in KINDS}
        return build_engines(
            sections, data_dir=data_dir, report=self._report, other_keys=self._config.conversation_keys
        )

    def _turn(self, session_id: str, times: TurnTimes) -> None:
        for listener in self._listeners:
            listener(session_id, times)


async def _apology(tts: Tts) -> tuple[str, tuple[Pcm, ...]] | None:
    """Speak the failure sentence now: later, the voice may be what fails."""
    text = phrase(Phrase.FAILURE, tts.language)
    try:
        return text, tuple([piece async for piece in tts.synthesize(text, priority=lambda: Priority.REST)])
    except Exception:
        log.exception("the failure sentence could not be spoken", extra={"component": "TTS", "event": "tts_error"})
        return None


def _settings(config: Config) -> ServerSettings:
    server = config.server
    return ServerSettings(
        host=server.host,
        port=server.port,
        public_url=server.public_url,
        tls_cert=server.tls_cert,
        tls_key=server.tls_key,
        forwarded_allow=tuple(server.forwarded_allow),
        allowed_origins=tuple(server.allowed_origins),
        auth_required=config.auth_required,
        tokens=config.tokens,
        limits=WireLimits(hello_timeout_s=config.session.hello_ms / 1000),
    )
