"""The engine for infinite runs: the product of a program with a generalised Büchi automaton, checked for emptiness.

What it gets is plain numbers: edges with bit masks over atoms, and acceptance conditions that are evaluated natively.
What it gives is a lasso, replayed by the reference model, whose loop really closes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memfence import _core
from memfence.engines.encode import Encoded, encode
from memfence.engines.engine import Cost, Limits, Stop
from memfence.engines.explicit import Bounded, cost_of, decode_step
from memfence.engines.trace import Trace, UnreplayableWitness
from memfence.engines.witness import original_steps
from memfence.models import memory_model
from memfence.program.expressions import Expr
from memfence.program.ir import Program, stored_variables
from memfence.program.passes.observed import observed_by
from memfence.program.passes.reductions import reduce

SAFE_REDUCTIONS = frozenset({"dead"})
"""Those that keep every step a step: fusing and ordering would change what fairness and X mean."""

_STUTTERS = -1


@dataclass(frozen=True, slots=True)
class BuchiEdge:
    """Possible where all atoms in `positive` and none in `negative` hold (bit masks)."""

    target: int
    positive: int
    negative: int
    marks: int


@dataclass(frozen=True, slots=True)
class Fairness:
    """One acceptance condition of the product: `recurring` has an expression, the others a process."""

    kind: Literal["recurring", "buffer drains", "process runs"]
    expr: Expr | None = None
    process: int = 0


@dataclass(frozen=True, slots=True)
class Lasso:
    """`trace` up to step `loop_start`, then the rest of it for ever; equal to its length: nothing happens any more."""

    trace: Trace
    loop_start: int


@dataclass(frozen=True, slots=True)
class Emptiness:
    """`lasso`: a run that the automaton accepts. Without one, `complete` tells whether there is none.

    `refused`: a bound kept some store waiting, so the answer is about the bounded model only.
    """

    stop: Stop
    cost: Cost
    refused: int
    lasso: Lasso | None

    @property
    def complete(self) -> bool:
        return self.stop is Stop.NOTHING_LEFT


def find_accepted_run(
    program: Program,
    memory: Bounded,
    edges: tuple[tuple[BuchiEdge, ...], ...],
    initial: int,
    marks: int,
    atoms: tuple[Expr, ...],
    conditions: tuple[Fairness, ...],
    *,
    limits: Limits | None = None,
    reductions: frozenset[str] = SAFE_REDUCTIONS,
) -> Emptiness:
    """Look for an infinite run of `program` that the automaton accepts and that is fair."""
    limits = limits or Limits()
    recurring = tuple(c.expr for c in conditions if c.expr is not None)
    observed = observed_by(program, (*atoms, *recurring), blocking=True)
    encoded = encode(reduce(program, observed, reductions & SAFE_REDUCTIONS, model=memory.model), (*atoms, *recurring))
    result = _core.find_accepted_run(
        encoded.machine,
        memory.core_kind,
        memory.bound,
        initial,
        [[(e.target, e.positive, e.negative, e.marks) for e in leaving] for leaving in edges],
        marks,
        list(encoded.expressions[: len(atoms)]),
        _native_conditions(program, memory, conditions, encoded.expressions[len(atoms) :]),
        **limits.for_core(),
    )
    stop = Stop(result.stop)
    lasso = _lasso(program, memory, encoded, result) if stop is Stop.FOUND else None
    return Emptiness(stop, cost_of(result.stats), result.stats.refused, lasso)


def _native_conditions(
    program: Program, memory: Bounded, conditions: tuple[Fairness, ...], expressions: tuple[int, ...]
) -> list[tuple[int, int, int]]:
    """One condition a buffer: under PSO a process has several."""
    numbers = iter(expressions)
    native: list[tuple[int, int, int]] = []
    for condition in conditions:
        match condition.kind:
            case "recurring":
                native.append((0, next(numbers), 0))
            case "buffer drains":
                several = memory.model == "pso"
                buffers = len(stored_variables(program.processes[condition.process])) if several else 1
                native += [(1, condition.process, buffer) for buffer in range(buffers)]
            case "process runs":
                native.append((2, condition.process, 0))
    return native


def _lasso(program: Program, memory: Bounded, encoded: Encoded, result: _core.BuchiResult) -> Lasso:
    def steps_of(native: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        return [step for step in native if step[0] != _STUTTERS]

    bound = memory.bound if memory.model != "sc" else None
    model = memory_model(memory.model, bound=bound, per_variable=memory.per_variable)
    prefix, cycle = steps_of(result.prefix), steps_of(result.cycle)
    steps = [decode_step(encoded, memory, step) for step in (*prefix, *cycle)]
    begin, whole = original_steps(program, encoded.program, model, result.start, steps)
    trace = Trace(program, model, begin, whole)
    knot = trace.state_before(len(prefix))
    if not _same_to_the_reduced(program, encoded, knot, trace.end):
        raise UnreplayableWitness("the loop of the lasso does not close")
    return Lasso(trace, len(prefix))


def _same_to_the_reduced(program: Program, encoded: Encoded, a: object, b: object) -> bool:
    """Equal, but for registers that are dead: those may differ from one round to the next."""
    from memfence.models.state import State

    assert isinstance(a, State) and isinstance(b, State)
    return (a.locations, a.memory, a.buffers, a.lock_owner) == (b.locations, b.memory, b.buffers, b.lock_owner)
