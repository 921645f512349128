"""How commands describe themselves, and what they say about wrong usage where typer would speak of types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

FLAG = ""
"""``metavar`` of an option without a value: typer would show ``<bool>``."""


class Command(TyperCommand):
    """A command whose ``--help`` is shown as the flag that it is."""

    def get_help_option(self, ctx: Any) -> Any:
        return _as_flag(super().get_help_option(ctx))


class Group(TyperGroup):
    """Commands under one name; alone, that name is wrong usage that says what is missing."""

    def get_help_option(self, ctx: Any) -> Any:
        return _as_flag(super().get_help_option(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args and not self.no_args_is_help and not ctx.resilient_parsing:
            names = " or ".join(f"'{ctx.command_path} {name}'" for name in self.list_commands(ctx))
            ctx.fail(f"A command is missing: {names}.")
        return super().parse_args(ctx, args)


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """Parser of an option that takes a whole number from ``low`` to ``high``."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise typer.BadParameter(f"{text} is not allowed, it takes a whole number from {low} to {high}")
        return number

    return parse


def one_of(*words: str) -> Callable[[str], str]:
    """Parser of an option that takes one of ``words``."""

    def parse(text: str) -> str:
        if text not in words:
            raise typer.BadParameter(f"{text} is not allowed, it takes one of {', '.join(words)}")
        return text

    return parse


def _as_flag(option: Any) -> Any:
    if option is not None:
        option.metavar = FLAG
    return option
