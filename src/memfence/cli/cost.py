"""`memfence cost`."""

from __future__ import annotations

import typer

from memfence.cli.exit_codes import exit_of_report
from memfence.cli.output import Output
from memfence.cli.verb import verb


@verb("What do fences cost on this processor?", example="cost --measure")
def cost(measure: bool, out: Output) -> None:
    """What mfence, `lock or`, xchg, sfence and a seq_cst store cost between a store and a load, with the spread."""
    from memfence.api.silicon import assumed_costs
    from memfence.api.silicon import cost as ask
    from memfence.report.describe.hardware import assumed_costs_report, cost_report

    out.require_places()
    if not measure:
        report = assumed_costs_report(dict(assumed_costs().items()))
    else:
        with out.refusing():
            report = cost_report(ask())
    out.publish(report)
    raise typer.Exit(exit_of_report(report))
