"""What vanling can be told: one TOML file, the environment and the command line, in typed sections.

    config = load_config(Path("vanling.toml"), ["server.port=9000"], os.environ)
    config.server.port

A key exists only if something reads it, and a key that does not exist is an error that names the nearest one.
"""

from vanling.config.render import EngineOptions, example_toml, show
from vanling.config.root import ENGINE_KINDS, Config
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
from vanling.config.sources import FILE_VARIABLE, PREFIX, load_config

__all__ = [
    "ENGINE_KINDS",
    "FILE_VARIABLE",
    "PREFIX",
    "Asr",
    "Audio",
    "Auth",
    "Config",
    "EngineOptions",
    "EngineSection",
    "Llm",
    "Log",
    "Pacing",
    "Section",
    "Server",
    "Session",
    "Tts",
    "Turn",
    "Vad",
    "example_toml",
    "load_config",
    "show",
]
