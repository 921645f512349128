"""``listen``: the microphone, wake words and typed text."""

from __future__ import annotations

from vanling.protocols.xiaozhi.limits import Limits
from vanling.protocols.xiaozhi.note import Note
from vanling.protocols.xiaozhi.refusal import Refused
from vanling.protocols.xiaozhi.wire import JsonObject, get_str
from vanling.session.frame import Detect, Frame, ListenMode, ListenStart, ListenStop, Text

_MODES = {mode.value: mode for mode in ListenMode}


def read_listen(message: JsonObject, limits: Limits, note: Note) -> Frame:
    """Read a ``listen`` message; raises :class:`Refused` where it has no state that we know, or no text where one
    is due."""
    state = get_str(message, "state")
    ref = f"listen/{state}"
    match state:
        case "start":
            return ListenStart(mode=_read_mode(message, note), ref=ref)
        case "stop":
            return ListenStop(ref=ref)
        case "detect":
            return Detect(text=read_words(message, ref, limits), ref=ref)
        case "text":
            return Text(text=read_words(message, ref, limits), ref=ref)
        case None:
            raise Refused("listen needs a state", "listen")
        case _:
            raise Refused("listen has an unknown state", "listen")


def read_words(message: JsonObject, ref: str, limits: Limits) -> str:
    """The ``text`` of a message, not blank and not longer than allowed; taken as words, never as a command."""
    text = get_str(message, "text")
    if text is None or not text.strip():
        raise Refused("text is missing or empty", ref)
    if len(text) > limits.text_chars:
        raise Refused(f"text is longer than {limits.text_chars} characters", ref)
    return text


def _read_mode(message: JsonObject, note: Note) -> ListenMode:
    name = get_str(message, "mode")
    mode = _MODES.get(name or "")
    if mode is None:
        note("mode_odd", "listen/start: mode missing or unknown; auto holds")
        return ListenMode.AUTO
    return mode
