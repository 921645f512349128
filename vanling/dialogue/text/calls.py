"""Whether bare JSON in a reply is a tool call that a server's parser has missed."""

from __future__ import annotations

import re

LONGEST_JSON = 4_000
"""Characters kept to be shown again; what is longer is never spoken."""

_NAMES = re.compile(r"""["'](?:name|function|tool|tool_name|tool_calls?|function_call|action|recipient_name)["']\s*:""")
_ARGUMENTS = re.compile(r"""["'](?:arguments|parameters|args|params|input|action_input|kwargs|tool_calls?)["']\s*:""")


class Braces:
    """Follows a JSON value, character by character, to its end."""

    def __init__(self, begin: str) -> None:
        self._kept: list[str] = []
        self._stack: list[str] = []
        self._quote = ""
        self._escaped = False
        self._length = 0
        self.over = False
        for char in begin:
            self.push(char)

    def push(self, char: str) -> None:
        self._length += 1
        if self._length <= LONGEST_JSON:
            self._kept.append(char)
        if self._quote:
            self._in_string(char)
        elif char in "\"'":
            self._quote = char
        elif char in "{[":
            self._stack.append(char)
        elif char in "}]":
            if self._stack:
                self._stack.pop()
            self.over = not self._stack

    def _in_string(self, char: str) -> None:
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == self._quote:
            self._quote = ""
        elif char == "\n":  # no JSON: text again
            self.over = self._length <= LONGEST_JSON

    def text(self) -> str:
        return "".join(self._kept)

    def is_call(self) -> bool:
        """It names a tool, or was too long to be anything that one says."""
        if self._length > LONGEST_JSON:
            return True
        text = self.text()
        return bool(_NAMES.search(text) and (_ARGUMENTS.search(text) or _lone_call(text)))


def _lone_call(text: str) -> bool:
    """``{"name": "stop"}`` and its like: a call without arguments."""
    return re.fullmatch(r"""\s*\[?\s*\{\s*["'][a-z_]+["']\s*:\s*["'][\w.-]+["']\s*\}\s*\]?\s*""", text) is not None
