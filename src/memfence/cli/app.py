"""The application that the verbs are added to, one file each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from memfence.cli import terminal
from memfence.cli.exit_codes import MEANINGS
from memfence.cli.spelling import spelled_out
from memfence.version import VERSION

VERBS = {
    "check": "check",
    "fix": "fix",
    "why": "why",
    "relax": "relax",
    "compare": "compare",
    "test": "test",
    "run": "run",
    "explore": "explore",
    "simulate": "simulate",
    "monitor": "monitor",
    "cc": "compile",
    "c++": "compile",
    "rustc": "compile",
    "translate": "translate",
    "verify": "verify",
    "reproduce": "reproduce",
    "conform": "conform",
    "cost": "cost",
    "ui": "ui",
    "lsp": "lsp",
    "mcp": "mcp",
    "bench": "bench",
    "examples": "examples",
    "explain": "explain",
    "help": "help_on",
}
"""The module of each verb, which adds its command to `app` when imported; in the order in which one needs them."""


class Commands(TyperGroup):
    """The commands in the order in which one needs them, not in that of the modules that define them."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=list(VERBS).index)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except Exception as wrong:
            if args and Path(args[0]).is_file() and hasattr(wrong, "message"):
                wrong.message += f" Did you mean `memfence check {args[0]}`?"
            raise


app = typer.Typer(
    name="memfence",
    cls=Commands,
    help="Does your lock-free code still work on real hardware, and where exactly do the fences go?\n\n"
    "Start with: memfence fix YOUR.c; or try it: memfence examples musl_unlock && memfence fix musl_unlock.c",
    epilog=f"Exit codes: {', '.join(f'{code:d} {meaning}' for code, meaning in MEANINGS.items())}.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(version: bool, color: str) -> None:
    terminal.COLOUR = color
    if version:
        sys.stdout.write(f"memfence {VERSION}\n")
        raise typer.Exit


app.callback(invoke_without_command=True)(spelled_out(main, ""))
