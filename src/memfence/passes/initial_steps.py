"""Skip the local steps at the very start of a process: it begins where its first choice or access is.

Only steps that every run takes first and that nothing observes: the only transition that is possible at the initial
location, with register work whose outcome the initial values decide. `skipped_steps` says which ones, for the way back
to a run.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.program.expressions import EvaluationError, Expr, Register, evaluate
from memfence.program.facts.observation import Observed
from memfence.program.ir import Assign, Assume, Process, Program, Transition
from memfence.program.traversal import reachable_locations


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
    process = loaded
    while process.initial != initial:
        step = _first_step(process, 0, Observed(), choosing=True)
        if step is None:  # a step that only a reduced process makes without being seen: it has no choice there
            ((number, transition),) = process.leaving(process.initial)
            step = number, replace(process, initial=transition.target)
        steps.append(step[0])
        process = step[1]
    return tuple(steps)


def _advance(process: Process, number: int, observed: Observed) -> Process:
    seen = {process.initial}
    while (
        step := _first_step(process, number, observed, choosing=observed.accesses and not observed.fences)
    ) is not None:
        if step[1].initial in seen:
            break
        process = step[1]
        seen.add(process.initial)
    return without_unreachable(process)


def _first_step(process: Process, number: int, observed: Observed, *, choosing: bool) -> tuple[int, Process] | None:
    """The transition that has to be the first one, and the process behind it; with `choosing`, of several one that the
    initial values leave. None where there is none, or it can be seen."""
    if (number, process.initial) in observed.locations:
        return None
    leaving = list(process.leaving(process.initial))
    if choosing:
        leaving = [(n, t) for n, t in leaving if not _is_impossible(process, t)]
    if len(leaving) != 1:
        return None
    ((position, transition),) = leaving
    values = _run_locally(process, number, transition, observed)
    if values is None:
        return None
    registers = tuple(replace(r, init=v) for r, v in zip(process.registers, values, strict=True))
    return position, replace(process, initial=transition.target, registers=registers)


def _is_impossible(process: Process, transition: Transition) -> bool:
    """Whether the guard that the transition begins with is false for the initial values."""
    first = transition.ops[0] if transition.ops else None
    if not isinstance(first, Assume) or transition.sync is not None:
        return False
    try:
        return not _value_at_start(process, first.condition)
    except EvaluationError:
        return False


def _value_at_start(process: Process, expr: Expr) -> int:
    """The value of `expr` where the initial values decide it; EvaluationError elsewhere."""

    def leaf(node: object, index: int) -> int:
        if isinstance(node, Register) and len(process.registers[node.index].init) == 1:
            return process.registers[node.index].init[0]
        raise EvaluationError("not known before the run")

    return evaluate(expr, leaf)


def without_unreachable(process: Process) -> Process:
    """`process` without the transitions that control never comes to; locations keep their numbers."""
    reached = reachable_locations(process)
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
