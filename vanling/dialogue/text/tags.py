"""What a tag in a model's output means for the ear: some are dropped, some hide what follows, some end a line.

``<think>``, ``<tool_call>``, ``<function=x>``, ``<|FunctionCallBegin|>``, DeepSeek's ``<｜tool▁calls▁begin｜>``,
gpt-oss's ``<|channel|>`` and HTML all look alike to a listener: angle brackets.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Does(Enum):
    NOTHING = "nothing"
    """The tag is dropped, its contents stay."""
    BREAK = "break"
    """So it is, and a line ends here."""
    HIDE = "hide"
    """All is hidden until one of ``ends``, or until the reply ends."""
    FORGET = "forget"
    """A closing tag without its opening one: what came before was hidden text."""
    KEEP = "keep"
    """Its contents are an address, written ``<me@example.org>``."""


@dataclass(frozen=True, slots=True)
class Meaning:
    does: Does
    ends: tuple[str, ...] = ()
    """Lower case, as :func:`key` gives them."""


_THINKING = frozenset(("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "analysis", "scratchpad"))
_TOOLS = frozenset(
    (
        *("tool", "tools", "tool_call", "tool_calls", "toolcall", "tool_use", "tool_response", "tool_result"),
        *("tool_code", "function", "functions", "function_call", "function_calls", "functioncall", "invoke"),
        *("parameter", "arg_key", "arg_value", "script", "style", "pre", "svg"),
    )
)
_LINES = frozenset(
    (
        *("br", "p", "div", "li", "ul", "ol", "tr", "table", "thead", "tbody", "hr", "blockquote", "section"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "dt", "dd"),
    )
)
_HARMONY_ENDS = ("|end", "|call", "|return", "|channel", "|start")
_NOTHING = Meaning(Does.NOTHING)


def key(tag: str) -> str:
    """``<tool_call id="1">`` → ``tool_call``, ``</think >`` → ``/think``, ``<|x|>`` and ``<｜x｜>`` → ``|x``."""
    inner = tag[1:-1].strip().lower().replace("｜", "|").replace("▁", "_")
    if inner.startswith("|"):
        return "|" + inner.strip("|").strip()
    name = inner.rstrip("/").split()[0] if inner.rstrip("/") else ""
    return name.split("=")[0]


def begins_hidden(text: str) -> bool:
    """Whether a reply that ends in ``text`` was cut within a tag of this kind."""
    if text.startswith(("<|", "<｜", "</")):
        return True
    name = text[1:].lower()
    return text[:1] == "<" and bool(name) and any(known.startswith(name) for known in _THINKING | _TOOLS)


def meaning(tag: str) -> Meaning:
    """What a complete tag, from ``<`` to ``>``, does to the text around it."""
    name = key(tag)
    if name.startswith("|"):
        return _special(name[1:])
    if name.startswith("/"):
        closed = name[1:]
        if closed in _THINKING:
            return Meaning(Does.FORGET)
        return Meaning(Does.BREAK) if closed in _LINES else _NOTHING
    bare = name.split(":")[-1]  # namespaces: <invoke>
    if bare in _THINKING or bare in _TOOLS:
        return _NOTHING if tag.endswith("/>") else Meaning(Does.HIDE, (f"/{name}",))
    if name in _LINES:
        return Meaning(Does.BREAK)
    return Meaning(Does.KEEP) if "@" in tag or "://" in tag[:12] else _NOTHING


def _special(name: str) -> Meaning:
    """Of the kind ``<|…|>``: tool sections, thinking, and the bare control tokens of chat templates."""
    plain = name.replace("_", "").replace(" ", "")
    if name == "channel":
        return Meaning(Does.HIDE, ("|message",))
    if name in {"start", "start_header_id"}:
        return Meaning(Does.HIDE, ("|channel", "|message", "|end_header_id"))
    speaks_not = any(word in plain for word in ("tool", "function", "call", "think", "thought", "python", "plugin"))
    if not speaks_not:
        return _NOTHING
    if name.startswith("/") or "end" in plain:
        return Meaning(Does.FORGET) if "think" in plain or "thought" in plain else _NOTHING
    ends = {f"|/{name}", f"|end_{name}", f"|{name}_end"}
    for begin in ("begin", "start"):
        if begin in name:
            ends.add("|" + name.replace(begin, "end"))
    return Meaning(Does.HIDE, tuple(sorted(ends)))


def after_channel(header: str) -> tuple[str, ...]:
    """gpt-oss: what ends the message of a channel; nothing where the channel is meant for the user."""
    return () if "final" in header else _HARMONY_ENDS
