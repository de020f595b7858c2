"""`memfence cost`."""

from __future__ import annotations

import sys

import typer

from memfence.cli.exit_codes import Exit
from memfence.cli.refusal import refusing
from memfence.cli.verb import verb


@verb("What do fences cost on this processor?", example="cost --measure")
def cost(
    measure: bool,
    json: bool,
) -> None:
    """What mfence, `lock or`, xchg, sfence and a seq_cst store cost between a store and a load, with the spread."""
    from memfence.report.formats.json import dump

    if not measure:
        from memfence.api.silicon import assumed_costs

        known: dict[str, int] = dict(assumed_costs().items())
        sys.stdout.write(dump({"costs": known}) if json else _default(known))
        raise typer.Exit(Exit.HOLDS)
    from memfence.api.silicon import cost as ask
    from memfence.report.describe.hardware import cost_object, cost_text

    with refusing(json):
        measured = ask()
    sys.stdout.write(dump(cost_object(measured)) if json else cost_text(measured))
    raise typer.Exit(Exit.HOLDS if all(one.is_steady for one in measured) else Exit.UNKNOWN)


def _default(costs: dict[str, int]) -> str:
    return "fix assumes: " + ", ".join(f"{kind} {number}" for kind, number in costs.items()) + " (a loop is times 10)\n"
