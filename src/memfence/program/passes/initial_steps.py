"""Skip the local steps at the very start of a process: it begins where its first choice or access is.

Only steps that every run takes first and that nothing observes: the single transition that leaves the initial location,
with register work whose outcome the initial values decide. `skipped_steps` says which ones, for the way back to a run.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.program.expressions import EvaluationError, Expr, Register, evaluate
from memfence.program.ir import Assign, Assume, Process, Program, Transition
from memfence.program.passes.observed import Observed


def advance_initial_locations(program: Program, observed: Observed) -> Program:
    """`program` with every process started behind its initial local steps."""
    if any(location.committed for p in program.processes for location in p.locations):
        return program
    return replace(
        program, processes=tuple(_advance(process, p, observed) for p, process in enumerate(program.processes))
    )


def skipped_steps(loaded: Process, initial: int) -> tuple[int, ...]:
    """The transitions from the initial location of `loaded` to `initial`, where a reduced process starts."""
    steps: list[int] = []
    at = loaded.initial
    while at != initial:
        ((number, transition),) = loaded.leaving(at)
        steps.append(number)
        at = transition.target
    return tuple(steps)


def _advance(process: Process, number: int, observed: Observed) -> Process:
    seen = {process.initial}
    while True:
        leaving = [t for _, t in process.leaving(process.initial)]
        if len(leaving) != 1 or (number, process.initial) in observed.locations or leaving[0].target in seen:
            return without_unreachable(process)
        values = _run_locally(process, number, leaving[0], observed)
        if values is None:
            return without_unreachable(process)
        seen.add(leaving[0].target)
        registers = tuple(replace(r, init=v) for r, v in zip(process.registers, values, strict=True))
        process = replace(process, initial=leaving[0].target, registers=registers)


def without_unreachable(process: Process) -> Process:
    """`process` without the transitions that control never comes to; locations keep their numbers."""
    reached, todo = {process.initial}, [process.initial]
    while todo:
        here = todo.pop()
        for _, t in process.leaving(here):
            if t.target not in reached:
                reached.add(t.target)
                todo.append(t.target)
    return replace(process, transitions=tuple(t for t in process.transitions if t.source in reached))


def _run_locally(
    process: Process, number: int, transition: Transition, observed: Observed
) -> list[tuple[int, ...]] | None:
    """The initial values after the transition, or None where it is not decided by them alone."""
    if transition.locked or transition.sync is not None or (number, transition.target) in observed.locations:
        return None
    values = [r.init for r in process.registers]

    def value_of(expr: Expr) -> int:
        def leaf(node: object, index: int) -> int:
            if isinstance(node, Register) and len(values[node.index]) == 1:
                return values[node.index][0]
            raise EvaluationError("not known before the run")

        return evaluate(expr, leaf)

    try:
        for op in transition.ops:
            match op:
                case Assign(register, expr) if (number, register) not in observed.registers:
                    values[register] = (process.registers[register].domain.fit(value_of(expr)),)
                case Assume(condition) if value_of(condition):
                    pass
                case _:
                    return None
    except EvaluationError:
        return None
    return [(0,) if r.transient else v for r, v in zip(process.registers, values, strict=True)]
