"""Exhaustive search on the reference models: slow, obvious, and the yardstick of everything faster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from memfence.models import ModelName, memory_model
from memfence.models.readings import is_locked
from memfence.models.state import Failure, Run, State
from memfence.models.steps import MemoryModel, evaluate_in, is_final, starts, successors
from memfence.program.expressions import Expr
from memfence.program.facts.effects import is_local
from memfence.program.ir import Final, Program, Store


def reachable(program: Program, model: MemoryModel, *, private_first: bool = False) -> Iterator[State]:
    """Every reachable state, once; steps that fail are left out.

    `private_first` (for programs without loops): where some process can do something that no other process can see or
    prevent, only that is done. Final states stay the same, most others are never visited.
    """
    seen = set(starts(program, model))
    stack = list(seen)
    while stack:
        state = stack.pop()
        yield state
        steps = list(successors(program, model, state))
        private = [(s, after) for s, after in steps if isinstance(s, Run) and is_private(program, model, s)]
        chosen: Iterable[tuple[object, State | Failure]] = private[:1] if private_first and private else steps
        for _, after in chosen:
            if isinstance(after, State) and after not in seen:
                seen.add(after)
                stack.append(after)


def is_private(program: Program, model: MemoryModel, step: Run) -> bool:
    """Whether a step only does register work or puts stores into its own buffer, and has no alternative."""
    process = program.processes[step.process]
    transition = process.transitions[step.transition]
    buffered = model.name != "sc" and not is_locked(model, transition)
    only_way = sum(1 for _ in process.leaving(transition.source)) == 1
    return only_way and all(is_local(op) or (buffered and isinstance(op, Store)) for op in transition.ops)


def final_states(program: Program, model_name: ModelName) -> set[tuple[int, ...]]:
    """What the condition of a loop-free litmus test observes in its final states."""
    model = memory_model(model_name)
    (condition,) = (p for p in program.properties if isinstance(p, Final))
    observed = [expr for _, expr in condition.observed]
    states = reachable(program, model, private_first=True)
    return {values_of(program, state, observed) for state in states if is_final(program, state)}


def values_of(program: Program, state: State, exprs: Iterable[Expr]) -> tuple[int, ...]:
    return tuple(evaluate_in(program, state, 0, expr) for expr in exprs)


@dataclass(slots=True)
class Exploration:
    """What `explore` found; not `complete` if it stopped at its limit."""

    states: set[State] = field(default_factory=set)
    failures: set[Failure] = field(default_factory=set)
    complete: bool = True

    @property
    def has_failed_assertion(self) -> bool:
        return any(failure.is_assertion for failure in self.failures)

    @property
    def has_runtime_error(self) -> bool:
        return any(not failure.is_assertion for failure in self.failures)


def explore(program: Program, model: MemoryModel, *, most_states: int | None = None) -> Exploration:
    """Every reachable state and every failure; at most about `most_states` states, breadth first."""
    found = Exploration(set(starts(program, model)))
    layer = list(found.states)
    while layer:
        following: list[State] = []
        for state in layer:
            if most_states is not None and len(found.states) > most_states:
                found.complete = False
                return found
            for _, after in successors(program, model, state):
                if isinstance(after, Failure):
                    found.failures.add(after)
                elif after not in found.states:
                    found.states.add(after)
                    following.append(after)
        layer = following
    return found
