"""Square brackets: an emotion tag, a link, a picture, a footnote, a box to tick, or just brackets."""

from __future__ import annotations

import re

from vanling.dialogue.emotion import emotion_named
from vanling.dialogue.text.signs import tag

LONGEST_TEXT = 300
LONGEST_ADDRESS = 2_000

_TAG = re.compile(r"(?:(?:emotion|emo|mood)\s*[:=]\s*)([A-Za-z_ -]{1,24})", re.IGNORECASE)
_BARE = re.compile(r"[A-Za-z_ -]{2,24}")


class Brackets:
    """Follows one pair from ``[`` on; :meth:`push` gives the text that it stands for, None while that is open."""

    def __init__(self, *, image: bool) -> None:
        self._image = image
        self._text: list[str] = []
        self._address = 0
        self._depth = 0
        self._state = "text"
        self._close = ")"
        self.again = ""
        """The last character pushed, where it is not part of this."""

    def push(self, char: str) -> str | None:
        self.again = ""
        if self._state == "text":
            return self._in_text(char)
        if self._state == "closed":
            return self._after(char)
        return self._in_address(char)

    def finish(self) -> str:
        """The reply ended within or right behind the brackets."""
        if self._state == "text":
            return self._literal(closed=False)
        return self._alone() if self._state == "closed" else self._linked()

    def _in_text(self, char: str) -> str | None:
        if char == "]":
            self._state = "closed"
            return None
        if char in "[\n" or len(self._text) >= LONGEST_TEXT:
            self.again = char
            return self._literal(closed=False)
        self._text.append(char)
        return None

    def _after(self, char: str) -> str | None:
        if char in "([" and self._meaning() is None:
            self._close = ")" if char == "(" else "]"
            self._state, self._depth = "address", 1
            return None
        self.again = char
        return self._alone()

    def _in_address(self, char: str) -> str | None:
        self._address += 1
        if char == "\n" or self._address > LONGEST_ADDRESS:
            self.again = char
            return self._linked()
        if char == "(" and self._close == ")":
            self._depth += 1
        elif char == self._close:
            self._depth -= 1
            if not self._depth:
                return self._linked()
        return None

    def _linked(self) -> str:
        return "" if self._image else "".join(self._text)

    def _alone(self) -> str:
        sign = self._meaning()
        if sign is None:
            return self._literal(closed=True)
        return ("!" if self._image else "") + sign

    def _literal(self, *, closed: bool) -> str:
        return ("![" if self._image else "[") + "".join(self._text) + ("]" if closed else "")

    def _meaning(self) -> str | None:
        """What it stands for without an address: a tag's sign, nothing, or None for brackets as brackets."""
        text = "".join(self._text).strip()
        if text in {"", "x", "X"} or text.startswith("^"):
            return ""
        prefixed = _TAG.fullmatch(text)
        if prefixed:
            named = emotion_named(prefixed[1])
            return tag(named) if named else ""
        named = emotion_named(text) if _BARE.fullmatch(text) else None
        return tag(named) if named else None
