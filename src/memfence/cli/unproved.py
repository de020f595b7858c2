"""Verbs whose answers no certificate can be about: `--verify` is refused there, by name and with the reason."""

from __future__ import annotations

import inspect
from typing import Annotated

import typer

_MEASURED = "what a processor did is measured, not proved"
_NO_ANSWER = "this verb answers no question that could be proved"
REASONS = {
    "why": "a needed fence is shown by a run, which was replayed; to prove that another is not needed, remove it and "
    "use `memfence check --verify`",
    "run": "runs of a compiled program are no proof about its states; use `memfence check --verify` on the source",
    "simulate": "a walk is replayed step by step, and claims nothing about other runs",
    "monitor": "one recorded execution is judged, and nothing is claimed about others",
    "reproduce": _MEASURED,
    "conform": _MEASURED,
    "cost": _MEASURED,
    "translate": _NO_ANSWER,
    "examples": _NO_ANSWER,
    "explain": _NO_ANSWER,
    "ui": _NO_ANSWER,
    "lsp": _NO_ANSWER,
}


def refused_verify(verb: str) -> inspect.Parameter:
    """An option that nobody sees, and that says why it is none."""

    def refuse(given: bool) -> None:
        if given:
            raise typer.BadParameter(REASONS[verb], param_hint="--verify")

    option = typer.Option("--verify", hidden=True, callback=refuse)
    kind = Annotated[bool, option]
    return inspect.Parameter("verify", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
