"""Second stage: what a model writes for machines. Thinking, tool calls, tags and code are taken out of the text.

Each is recognised by how it begins; what has begun and never ends hides the rest of the reply. A ``<``, ``{`` or ``[``
that turns out to be none of these is text.
"""

from __future__ import annotations

from collections.abc import Callable

from vanling.dialogue.text.calls import Braces
from vanling.dialogue.text.signs import FORGET
from vanling.dialogue.text.tags import Does, after_channel, begins_hidden, key, meaning

LONGEST_TAG = 300
LONGEST_END = 60
FENCE = 3
"""That many backticks begin or end a block of code; fewer mark code within a line, which is spoken."""

_BRACKETED = {"[TOOL_CALLS]": "", "[THINK]": "[/THINK]", "[/THINK]": FORGET}
"""Mistral's spellings, each with what ends it; nothing does for the first."""


class Hidden:
    """Feed characters, get the text among the markup."""

    def __init__(self) -> None:
        self._state: Callable[[str], str] = self._text
        self._held: list[str] = []
        self._quote = ""
        self._blank_attribute = False
        self._ticks = 0
        self._fence = ""
        self._line_blank = True
        self._ends: tuple[str, ...] = ()
        self._literal_end = ""
        self._inner = ""
        self._header: list[str] | None = None
        self._braces: Braces | None = None
        self._no_json = False

    def push(self, char: str) -> str:
        return self._state(char)

    def finish(self) -> str:
        """What was held back and is no markup after all."""
        state, held = self._state, "".join(self._held)
        braces = self._braces
        self._state, self._held, self._braces = self._text, [], None
        if state in (self._angle, self._bracket):
            return "" if begins_hidden(held) else held
        if braces is not None:
            return "" if braces.is_call() else braces.text()
        return ""

    # --- states -------------------------------------------------------------------------------------------------------

    def _text(self, char: str) -> str:
        if char == "<":
            return self._hold(self._angle, char)
        if char in "{[" and not self._no_json:
            return self._hold(self._bracket, char)
        if char == "`" or (char == "~" and self._line_blank):
            self._fence, self._ticks = char, 1
            self._state = self._opening
            return ""
        return self._plain(char)

    def _plain(self, char: str) -> str:
        if char == "\n":
            self._line_blank = True
        elif char != " ":
            self._line_blank = False
        return char

    def _hold(self, state: Callable[[str], str], char: str) -> str:
        self._state = state
        self._held = [char]
        self._quote = ""
        self._blank_attribute = False
        return ""

    def _release(self, char: str) -> str:
        """What was held is text, and ``char`` is looked at afresh."""
        held, self._held = "".join(self._held), []
        self._state = self._text
        self._line_blank = False
        return held + self._text(char)

    def _angle(self, char: str) -> str:
        held = self._held
        if char == ">" and len(held) > 1 and not self._quote:
            tag = "".join(held) + char
            self._held = []
            self._state = self._text
            return self._tag(tag)
        if not self._may_be_tag(char):
            return self._release(char)
        held.append(char)
        return ""

    def _may_be_tag(self, char: str) -> bool:
        held = self._held
        if char in "<\n" or len(held) >= LONGEST_TAG:
            return False
        if len(held) == 1:
            return char in "/|!?｜" or (char.isascii() and char.isalpha())
        special = held[1] in "|｜"
        if not char.isascii():
            return special and char in "｜▁"
        if special or self._quote:
            if char == self._quote:
                self._quote = ""
            return True
        if char == " ":
            # "a <b and c" is no tag: a name and then words without "=" or the end.
            was_blank, self._blank_attribute = self._blank_attribute, True
            return not was_blank or held[-1] == " " or held[-1] in "\"'"
        if char in "\"'" and held[-1] == "=":
            self._quote = char
        elif char == "=":
            self._blank_attribute = False
        return True

    def _tag(self, tag: str) -> str:
        means = meaning(tag)
        match means.does:
            case Does.HIDE:
                self._ends = means.ends
                self._header = [] if key(tag) == "|channel" else None
                self._hold(self._hiding, "")
            case Does.FORGET:
                return FORGET
            case Does.BREAK:
                return self._plain("\n")
            case Does.KEEP:
                return tag[1:-1]
        return ""

    def _hiding(self, char: str) -> str:
        held = self._held
        if self._header is not None and len(self._header) < LONGEST_END:
            self._header.append(char)
        if char == "<":
            self._held = [char]
        elif held and held[0] == "<":
            held.append(char)
            if char == ">":
                return self._hidden_tag("".join(held))
            if len(held) > LONGEST_END:
                self._held = []
        return ""

    def _hidden_tag(self, tag: str) -> str:
        self._held = []
        name = key(tag)
        if name not in self._ends:
            return ""
        self._state = self._text
        header, self._header = self._header, None
        if header is not None:
            ends = after_channel("".join(header))
            if ends:
                self._ends = ends
                self._hold(self._hiding, "")
            return ""
        # gpt-oss: the end of one channel may be the start of the next.
        return self._tag(tag) if name in {"|channel", "|start"} else ""

    def _bracket(self, char: str) -> str:
        held = self._held
        text = "".join(held) + char
        if any(known.startswith(text) for known in _BRACKETED):
            held.append(char)
            if text not in _BRACKETED:
                return ""
            self._held = []
            self._state = self._text
            end = _BRACKETED[text]
            if end == FORGET:
                return FORGET
            self._literal_end, self._inner = end, ""
            self._state = self._until_literal
            return ""
        if char in " \n" and len(held) < LONGEST_END:
            held.append(char)
            return ""
        if (held[0] == "{" and char in "\"'}") or (held[0] == "[" and char == "{"):
            self._braces = Braces(text)
            self._held = []
            self._state = self._json
            return self._json("")
        if len(held) > 1:  # blanks were held: they are text, too
            self._held, rest = held[:1], held[1:]
            return self._release(rest[0]) + "".join(self.push(c) for c in [*rest[1:], char])
        return self._release(char)

    def _until_literal(self, char: str) -> str:
        end = self._literal_end
        self._inner = (self._inner + char)[-len(end) :] if end else ""
        if end and self._inner == end:
            self._state = self._text
        return ""

    def _json(self, char: str) -> str:
        assert self._braces is not None
        if char:
            self._braces.push(char)
        if not self._braces.over:
            return ""
        braces, self._braces = self._braces, None
        self._state = self._text
        if braces.is_call():
            return ""
        self._no_json = True  # looked at once is enough: no text is read twice
        text = "".join(self.push(c) for c in braces.text())
        self._no_json = False
        return text

    def _opening(self, char: str) -> str:
        """A run of backticks, or of tildes at the start of a line."""
        if char == self._fence:
            self._ticks += 1
            return ""
        if self._ticks >= FENCE:
            self._state = self._code
            self._inner = ""
            return self._plain("\n") + self._code(char)
        self._state = self._text
        tildes = "".join(self._plain(c) for c in "~" * self._ticks) if self._fence == "~" else ""
        return tildes + self._text(char)

    def _code(self, char: str) -> str:
        """In a block of code until as many of the same marks come again."""
        self._inner = self._inner + char if char == self._fence else ""
        if len(self._inner) == self._ticks:
            self._state = self._closing
        return ""

    def _closing(self, char: str) -> str:
        if char == self._fence:
            return ""
        self._state = self._text
        return self._plain("\n") + self._text(char)
