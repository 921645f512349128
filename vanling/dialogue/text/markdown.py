"""Third stage: markdown becomes the words in it; emotion tags become signs.

Kept are the contents of emphasis, links and code within a line, headings, list items (with their numbers) and table
cells, which are separated by commas. Pictures, rules, footnote marks and addresses of links are dropped.
"""

from __future__ import annotations

from collections.abc import Callable

from vanling.dialogue.text.brackets import Brackets
from vanling.dialogue.text.chars import is_cjk
from vanling.dialogue.text.line_start import PREFIX_CHARS, after_prefix
from vanling.dialogue.text.signs import FORGET

_ESCAPABLE = frozenset("\\`*_{}[]()#+-.!|>~<\"'$&,/:;=?@^%")


class Markdown:
    """Feed characters, get the words."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._state: Callable[[str], str] = self._line_start
        self._prefix: list[str] = []
        self._run = ""
        self._last = ""
        self._cell_ended = False
        self._blank = False
        self._brackets = Brackets(image=False)

    def push(self, char: str) -> str:
        if char == FORGET:
            self._reset()
            return char
        return self._state(char)

    def finish(self) -> str:
        out = ""
        state = self._state
        self._state = self._inline
        if state == self._in_brackets:
            out = self._words(self._brackets.finish())
        elif state == self._after_backslash:
            out = self._words("\\")
        elif state == self._after_bang:
            out = self._words("!")
        if self._run:
            out += self._end_run("\n")
        return out

    # --- states -------------------------------------------------------------------------------------------------------

    def _line_start(self, char: str) -> str:
        if char in PREFIX_CHARS:
            self._prefix.append(char)
            return ""
        prefix, self._prefix = "".join(self._prefix), []
        start = after_prefix(prefix, char)
        self._cell_ended = self._blank = False
        self._last = ""
        self._state = self._inline
        return self._words(start) + self.push(char)

    def _inline(self, char: str) -> str:
        if char in "*_~":
            if self._run and char != self._run[0]:
                return self._end_run(char) + self._inline(char)
            self._run += char
            return ""
        out = self._end_run(char) if self._run else ""
        if char == "\n":
            self._state = self._line_start
            self._last = ""
            return out + "\n"
        if char == "\\":
            self._state = self._after_backslash
            return out
        if char == "!":
            self._state = self._after_bang
            return out
        if char == "[":
            self._state = self._in_brackets
            self._brackets = Brackets(image=False)
            return out
        if char == "|":
            return out + self._bar()
        return out + self._word(char)

    def _after_backslash(self, char: str) -> str:
        self._state = self._inline
        if char in _ESCAPABLE:
            return self._word(char)
        return self._word("\\") + self.push(char)

    def _after_bang(self, char: str) -> str:
        if char == "[":
            self._state = self._in_brackets
            self._brackets = Brackets(image=True)
            return ""
        self._state = self._inline
        return self._word("!") + self.push(char)

    def _in_brackets(self, char: str) -> str:
        text = self._brackets.push(char)
        if text is None:
            return ""
        self._state = self._inline
        again = self._brackets.again
        out = self._words(text)
        return out + self.push(again) if again else out

    # --- helpers ------------------------------------------------------------------------------------------------------

    def _words(self, text: str) -> str:
        """Text whose brackets have been looked at: only emphasis is left to be found in it."""
        out = []
        for char in text:
            if char in "*_~":
                out.append(self._inline(char))
            else:
                out.append((self._end_run(char) if self._run else "") + self._word(char))
        return "".join(out)

    def _word(self, char: str) -> str:
        """A character of the text itself. Blanks wait for what follows them: a cell's border swallows them."""
        if char == " ":
            self._blank = True
            return ""
        before = ""
        if self._cell_ended:
            before = "，" if is_cjk(self._last) else ", "
        elif self._blank and self._last:
            before = " "
        self._cell_ended = self._blank = False
        self._last = char
        return before + char

    def _bar(self) -> str:
        """The border of two cells, or a bar between words."""
        self._cell_ended = bool(self._last)
        return ""

    def _end_run(self, following: str) -> str:
        """Marks of emphasis vanish; stars between numbers, underscores within a word and single tildes are text."""
        run, self._run = self._run, ""
        before, kind = " " if self._blank else self._last, run[0]
        if kind == "*":
            numbers = before.isdigit() and following.isdigit() and len(run) <= 2
            alone = before == " " and following == " " and len(run) == 1
            keep = numbers or alone
        elif kind == "_":
            keep = before.isalnum() and following.isalnum()
        else:
            keep = len(run) == 1
        return "".join(self._word(char) for char in run) if keep else ""
