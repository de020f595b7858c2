"""Runs and final states by `twins.reference_search`, as the tests like to see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from memfence.execution.trace import Trace
from memfence.models.readings import is_locked
from memfence.models.spec import ModelName
from memfence.models.state import ProcessStep, State
from memfence.models.steps import MemoryModel, evaluate_in, is_final, starts, successors
from memfence.program.expressions import Expr
from memfence.program.facts.effects import is_local
from memfence.program.ir import Final, Program, Store
from support.models import memory_model
from twins.reference_search import breadth_first, shortest_steps


def shortest_run(program: Program, model: MemoryModel, goal: Callable[[State], bool]) -> Trace | None:
    """A shortest run to a state that satisfies `goal`, or to a failure; None where there is neither."""
    found = shortest_steps(program, model, goal)
    return None if found is None else Trace(program, model, *found)


def fails(program: Program, model: MemoryModel) -> bool:
    """Whether an assertion fails, or something else goes wrong, in some run."""
    return shortest_steps(program, model, lambda state: False) is not None


def final_states(program: Program, model_name: ModelName) -> set[tuple[int, ...]]:
    """What the condition of a loop-free litmus test observes in its final states.

    Where some process can do something that no other process can see or prevent, only that is done: final states stay
    the same, most others are never visited.
    """
    model = memory_model(model_name)
    (condition,) = (p for p in program.properties if isinstance(p, Final))
    observed = [expr for _, expr in condition.observed]

    def follow(state: State) -> Iterator[State]:
        steps = [(step, after) for step, after in successors(program, model, state) if isinstance(after, State)]
        private = [(s, after) for s, after in steps if isinstance(s, ProcessStep) and _is_private(program, model, s)]
        return (after for _, after in (private[:1] or steps))

    states = breadth_first(starts(program, model), follow)
    return {values_of(program, state, observed) for state in states if is_final(program, state)}


def _is_private(program: Program, model: MemoryModel, step: ProcessStep) -> bool:
    """Whether a step only does register work or puts stores into its own buffer, and has no alternative."""
    process = program.processes[step.process]
    transition = process.transitions[step.transition]
    buffered = model.buffering.delays_stores and not is_locked(model, transition)
    only_way = sum(1 for _ in process.leaving(transition.source)) == 1
    return only_way and all(is_local(op) or (buffered and isinstance(op, Store)) for op in transition.ops)


def values_of(program: Program, state: State, exprs: Iterable[Expr]) -> tuple[int, ...]:
    return tuple(evaluate_in(program, state, 0, expr) for expr in exprs)
