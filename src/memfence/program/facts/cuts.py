"""Where runs of a program are cut off at a bound, and what it means that one was."""

from __future__ import annotations

from memfence.program.expressions import At, Expr, disjunction
from memfence.program.ir import Program

CUT = "bound"
"""The name of the locations at which a run is cut off. No location of a function's text has this name."""


def is_cut(program: Program) -> Expr:
    """True in states of a run that reached a bound."""
    marked = (
        (number, frozenset(at for at, location in enumerate(process.locations) if location.name == CUT))
        for number, process in enumerate(program.processes)
    )
    return disjunction(*(At(number, locations) for number, locations in marked if locations))
