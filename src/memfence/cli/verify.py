"""`memfence verify CERTIFICATE FILE`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from memfence.cli.exit_codes import Exit
from memfence.cli.option_groups import File, JsonOption, QuietOption
from memfence.cli.refusal import refusing
from memfence.cli.verb import verb


class CheckerChoice(StrEnum):
    auto = "auto"
    native = "native"
    python = "python"
    proved = "proved"


@verb("Check a certificate without trusting the engines.", example="verify proof.mfc examples/seqlock.pml")
def verify(
    certificate: Annotated[
        Path, typer.Argument(metavar="OUT.mfc", help="What --certificate has written.", show_default=False)
    ],
    file: File,
    checker: Annotated[
        CheckerChoice,
        typer.Option(help="In C++, in Python, the one that is itself proved (make proof), or C++ where it can judge."),
    ] = CheckerChoice.auto,
    include: Annotated[
        list[str] | None, typer.Option("-I", metavar="DIR", help="C: look for headers there.", show_default=False)
    ] = None,
    clang: Annotated[str | None, typer.Option(metavar="PATH", help="C: the compiler.")] = None,
    memory: Annotated[int | None, typer.Option(metavar="MB", min=1, help="Give up beyond MB megabytes.")] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Does the certificate prove what it claims about the program? Exit: 0 it does, 1 it does not, 3 it is none."""
    from memfence.api.verify import verify as judge
    from memfence.cli import terminal
    from memfence.reports.verification import verify_object, verify_text

    paths: dict[str, Any] = {"include": tuple(include)} if include else {}
    paths |= {"clang": clang} if clang else {}
    with refusing(json):
        result = judge(certificate, file, checker=checker.value, memory_megabytes=memory, **paths)
    if json:
        from memfence.reports.json import dump

        sys.stdout.write(dump(verify_object(result)))
    else:
        terminal.write(verify_text(result, quiet=quiet))
    raise typer.Exit(Exit.HOLDS if result.is_valid else Exit.VIOLATED)
