"""The engine for infinite runs: the product of a program with a generalised Büchi automaton, checked for emptiness.

What it gets is plain numbers: edges with bit masks over atoms, and acceptance conditions that are evaluated natively.
What it gives is a lasso, replayed by the reference model, whose loop really closes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import assert_never

from memfence import _core
from memfence.engines.native.encode import Encoded, encode
from memfence.engines.native.explicit import decode_step
from memfence.engines.native.limits import cost_of, for_core
from memfence.engines.native.policy import policy_of
from memfence.engines.native.searched import Searched
from memfence.engines.native.unreduce import original_steps
from memfence.execution.trace import Trace, UnreplayableWitness
from memfence.models.fairness import (
    BufferDrains,
    Condition,
    Fairness,
    ProcessRuns,
    ProcessRunsOften,
    Recurring,
    fairness_among,
    steps_of_runs,
)
from memfence.models.replay import replay
from memfence.models.spec import ModelSpec
from memfence.passes.orders import for_hardware
from memfence.passes.private_locations import private_locations
from memfence.passes.reductions import reduce
from memfence.program.expressions import Expr
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Program
from memfence.records import Record
from memfence.tasks.evidence import Lasso
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import NoAcceptedRun

SAFE_REDUCTIONS = frozenset({"dead"})
"""Those that keep every step a step: fusing would change what fairness and X mean. Ordering has conditions of its own:
`can_be_ordered`."""

MOST_ATOMS = MOST_MARKS = 64
"""The core keeps both in one machine word."""

ALONE_STATES = 50_000
"""So many states are searched in depth, by one thread. With more, all states come first, by as many as there are."""

NativeStep = tuple[int, int, int]
Query = tuple[int, int, int, list[list[tuple[int, int, int, int]]], int, list[int], list[NativeStep], bool]
_STUTTERS = -1
_RECURRING, _BUFFER_DRAINS, _PROCESS_RUNS, _PROCESS_RUNS_OFTEN = range(4)


def marks_of(marks: int, conditions: Collection[Condition]) -> int:
    """How many marks the core needs: one each, and for strong fairness one more, that the process could move."""
    return marks + len(conditions) + sum(isinstance(one, ProcessRunsOften) for one in conditions)


class Emptiness(Searched):
    """`lasso`: a run that the automaton accepts. Without one, `complete` tells whether there is none.

    `refused`: a bound kept some store waiting, so the answer is about the bounded model only.
    """

    refused: int
    lasso: Lasso | None

    @property
    def complete(self) -> bool:
        return self.saw_everything


def find_accepted_run(
    program: Program,
    model: ModelSpec,
    goal: NoAcceptedRun,
    *,
    limits: Limits | None = None,
    reductions: frozenset[str] = SAFE_REDUCTIONS | {"order"},
) -> Emptiness:
    """Look for an infinite run of `program` that the automaton accepts and that meets all conditions for ever.

    At most MOST_ATOMS atoms, and as many marks and conditions together.
    """
    limits = limits or Limits()
    plan = plan_of(program, model, goal, reductions)
    encoded = plan.encoded()
    result = _core.find_accepted_run(
        encoded.machine,
        *plan.query(encoded),
        ALONE_STATES,
        limits.threads,
        limits.most_states,
        **for_core(limits),
    )
    stop = Stop(result.stop)
    lasso = None
    if stop is Stop.FOUND:
        lasso = lasso_of(program, model, encoded, result.start, result.prefix, result.cycle)
    return Emptiness(program, stop, cost_of(result.stats), result.stats.refused, lasso)


def can_be_ordered(goal: NoAcceptedRun) -> bool:
    """Whether private steps may come first. Strong fairness searches parts of components, which would miss their last
    state that is left by all its steps."""
    return goal.stutters and fairness_among(goal.conditions) is not Fairness.STRONG


class CyclePlan(Record):
    """A search for an accepted run before it is encoded for the core: plain values, that can be sent to others.

    `ordered`: private locations are left alone first.
    """

    model: ModelSpec
    goal: NoAcceptedRun
    reduced: Program
    expressions: tuple[Expr, ...]
    ordered: bool

    def encoded(self) -> Encoded:
        if not self.ordered:
            return encode(self.reduced, self.expressions)
        observed = observed_by(self.reduced, self.expressions, blocking=True)
        moves = fairness_among(self.goal.conditions) is not Fairness.NONE
        private = private_locations(self.reduced, self.model, observed, failing=False, stores=moves)
        return encode(self.reduced, self.expressions, private=private)

    def query(self, encoded: Encoded) -> Query:
        """Which memory model, and which automaton, in the core's numbers."""
        goal, atoms = self.goal, len(self.goal.atoms)
        return (
            *policy_of(self.model),
            goal.initial,
            [[(e.target, e.positive, e.negative, e.marks) for e in leaving] for leaving in goal.edges],
            goal.marks,
            list(encoded.expressions[:atoms]),
            _native_conditions(goal.conditions, encoded.expressions[atoms:]),
            self.ordered,
        )


def plan_of(program: Program, model: ModelSpec, goal: NoAcceptedRun, reductions: frozenset[str]) -> CyclePlan:
    """What `find_accepted_run` searches."""
    if len(goal.atoms) > MOST_ATOMS or marks_of(goal.marks, goal.conditions) > MOST_MARKS:
        raise ValueError("too many atoms or acceptance conditions")
    recurring = tuple(c.condition for c in goal.conditions if isinstance(c, Recurring))
    hardware = for_hardware(program, model)
    observed = observed_by(hardware, (*goal.atoms, *recurring), blocking=True)
    reduced = reduce(hardware, observed, reductions & SAFE_REDUCTIONS, model=model)
    ordered = "order" in reductions and can_be_ordered(goal)
    return CyclePlan(model, goal, reduced, (*goal.atoms, *recurring), ordered)


def _native_conditions(conditions: tuple[Condition, ...], expressions: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """Kind, number (of the expression or process) and buffer."""
    numbers = iter(expressions)
    native: list[tuple[int, int, int]] = []
    for condition in conditions:
        match condition:
            case Recurring():
                native.append((_RECURRING, next(numbers), 0))
            case BufferDrains(process, buffer):
                native.append((_BUFFER_DRAINS, process, buffer))
            case ProcessRuns(process):
                native.append((_PROCESS_RUNS, process, 0))
            case ProcessRunsOften(process):
                native.append((_PROCESS_RUNS_OFTEN, process, 0))
            case _:
                assert_never(condition)
    return native


def lasso_of(
    program: Program,
    spec: ModelSpec,
    encoded: Encoded,
    start: int,
    prefix: Sequence[NativeStep],
    cycle: Sequence[NativeStep],
) -> Lasso:
    """The lasso of `program` that native steps stand for, replayed by the reference model; its loop really closes."""

    def steps_of(native: Sequence[NativeStep]) -> list[NativeStep]:
        return [step for step in native if step[0] != _STUTTERS]

    model = spec.definition  # the bound is part of the meaning here
    prefix, cycle = steps_of(prefix), steps_of(cycle)
    steps = [decode_step(encoded, spec, step) for step in (*prefix, *cycle)]
    begin, whole = original_steps(program, encoded.program, model, start, steps)
    lasso = Lasso(Trace(program, model, begin, whole), len(prefix))
    _check_that_it_closes(lasso)
    return lasso


def _check_that_it_closes(lasso: Lasso) -> None:
    """The loop can be taken from its own end, and then ends there again: so it can be taken for ever."""
    trace = lasso.trace
    loop = [taken.step for taken in trace.steps[lasso.loop_start :]]
    if not loop and steps_of_runs(trace.program, trace.memory_model, trace.end)[0][0] is not None:
        raise UnreplayableWitness("the lasso ends where the program can go on")
    again = replay(trace.program, trace.memory_model, trace.end, loop)
    if again.stop is not None or again.end != trace.end:
        raise UnreplayableWitness("the loop of the lasso does not close")
