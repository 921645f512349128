"""The error tree. Every message says what happened, to what, and what to do about it.

Each class that stands for a misuse also inherits the Python builtin that a caller expects, so code that knows
nothing of vanling can catch ``ValueError`` or ``TypeError``.
"""


class VanlingError(Exception):
    """Root of everything that vanling raises on purpose."""


class AudioValueError(VanlingError, ValueError):
    """A rate, duration, shape or size that this audio object does not take."""


class AudioTypeError(VanlingError, TypeError):
    """A dtype or object that is not the audio that was asked for."""


class OpusError(AudioValueError):
    """libopus refused a packet or a setting; ``code`` is its (negative) return value.

    A refused packet leaves the decoder usable: the next good packet decodes as if this one had been lost.
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class FramingError(AudioValueError):
    """A binary device frame whose header does not fit its payload."""


class ConfigError(VanlingError, ValueError):
    """A configuration that cannot be used; names the key and, where one is near, the key that was meant."""


class EngineError(VanlingError):
    """An engine failed at its work (recognition, synthesis, generation)."""


class EngineUnavailableError(EngineError):
    """An engine cannot be built here: a library or model is missing or broken; says how to mend it."""


class EngineTimeoutError(EngineError):
    """An engine did not answer within its limit (CONVERSATION rule 7.2)."""


class StartError(VanlingError):
    """The server cannot start: port in use, missing model, unsafe combination of options."""
