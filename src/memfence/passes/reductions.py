"""The reductions of programs, in the order in which they are applied: each preserves everything that is observed.

`order` (partial order reduction) belongs to the search, not to the program; the names are those of `--reduce`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from memfence.models.spec import ModelSpec
from memfence.passes.fusion import fuse_local_steps
from memfence.passes.initial_steps import advance_initial_locations
from memfence.passes.liveness import reset_dead_registers
from memfence.passes.slicing import slice_program
from memfence.program.facts.observation import Observed
from memfence.program.ir import Program, Transition

Reduction = Callable[[Program, Observed, ModelSpec], Program]

REDUCTIONS: dict[str, Reduction] = {
    "slice": lambda program, observed, model: slice_program(program, observed),
    "fuse": lambda program, observed, model: fuse_local_steps(
        advance_initial_locations(program, observed), observed, model
    ),
    "dead": lambda program, observed, model: reset_dead_registers(program, observed),
}


def reduce(program: Program, observed: Observed, names: Collection[str], *, model: ModelSpec) -> Program:
    """Apply the reductions in `names`; other names are ignored.

    The numbers of processes, variables, registers and locations stay. Every transition of the result says in `origin`
    which transitions of `program` it stands for.
    """
    reduced = with_origins(program)
    for name, apply in REDUCTIONS.items():
        if name in names:
            reduced = apply(reduced, observed, model)
    return reduced


def with_origins(program: Program) -> Program:
    """`program` with every transition its own origin, where it has none yet."""
    processes = (tuple(_with_origin(t, n) for n, t in enumerate(p.transitions)) for p in program.processes)
    marked = (replace(p, transitions=ts) for p, ts in zip(program.processes, processes, strict=True))
    return replace(program, processes=tuple(marked))


def _with_origin(t: Transition, number: int) -> Transition:
    """Written out: `replace` looks at every field by its name, and this is asked of every transition."""
    if t.origin:
        return t
    return Transition(t.source, t.target, t.ops, t.locked, t.span, t.sync, t.point, (number,), t.calls)
