"""`memfence verify CERTIFICATE FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memfence.cli.exit_codes import exit_of_report
from memfence.cli.keywords import keywords_of, understood
from memfence.cli.option_groups import File
from memfence.cli.output import Output
from memfence.cli.verb import verb


@verb("Check a certificate without trusting the engines.", example="verify proof.mfc examples/seqlock.pml")
def verify(
    context: typer.Context,
    certificate: Annotated[
        Path, typer.Argument(metavar="OUT.mfc", help="What --certificate has written.", show_default=False)
    ],
    file: File,
    checker: str,
    include: list[str] | None,
    clang: str | None,
    memory: int | None,
    timeout: float | None,
    out: Output,
) -> None:
    """Does the certificate prove what it claims about the program?

    Exit code 0: it does; 1: it does not; 3: it is no certificate; 4: it does, but only up to bounds.
    """
    from memfence.api.verify import verify as ask
    from memfence.report.described import report_of

    usage = understood(context, files=[file])
    out.require_places([("OUT.mfc", certificate), ("FILE", file)])
    with out.refusing(file):
        result = ask(certificate, file, **keywords_of(usage))
    out.publish(report := report_of(result))
    raise typer.Exit(exit_of_report(report))
