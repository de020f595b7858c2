"""`memfence cost`."""

from __future__ import annotations

import typer

from memfence.cli.exit_codes import Exit
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
        out.publish(assumed_costs_report(dict(assumed_costs().items())))
        raise typer.Exit(Exit.HOLDS)
    with out.refusing():
        measured = ask()
    out.publish(cost_report(measured))
    raise typer.Exit(Exit.HOLDS if all(one.is_steady for one in measured) else Exit.UNKNOWN)
