"""The slow twin of the native emptiness check: the whole product of program and automaton, then its components."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from memfence.digraph import components
from memfence.models.fairness import Condition, ProcessRunsOften, does_move, is_met, is_true, steps_of_runs
from memfence.models.state import State
from memfence.models.steps import MemoryModel, starts
from memfence.program.expressions import Expr
from memfence.program.ir import Program, PropertyAutomaton
from memfence.questions.ltl.automaton import Automaton, Edge


class TooLarge(Exception):
    """The product has more states than the test wants to wait for."""


@dataclass(frozen=True)
class Product:
    """A program beside an automaton: where that begins, how many marks it has, and what leaves a node in a state."""

    program: Program
    model: MemoryModel
    initial: int
    marks: int
    leaving: Callable[[State, int], list[Edge]]
    most_states: int | None


def following(program: Program, model: MemoryModel, state: State) -> list[State]:
    """The states one step away; after a deadlock the state itself, for ever. Errors end the run or lead on (DVE)."""
    return [after for _, after in steps_of_runs(program, model, state)]


def has_accepted_run(
    program: Program,
    model: MemoryModel,
    automaton: Automaton,
    atoms: Sequence[Expr],
    conditions: Sequence[Condition] = (),
    most_states: int | None = None,
) -> bool:
    """Whether some infinite run of the program is a word that the automaton accepts, and meets all conditions."""

    def leaving(state: State, node: int) -> list[Edge]:
        valuation = sum(is_true(program, state, atom) << n for n, atom in enumerate(atoms))
        return [edge for edge in automaton.edges[node] if edge.allows(valuation)]

    return _has_accepted_run(
        Product(program, model, automaton.initial, automaton.marks, leaving, most_states), conditions
    )


def has_run_of_property(
    program: Program,
    model: MemoryModel,
    prop: PropertyAutomaton,
    conditions: Sequence[Condition] = (),
    most_states: int | None = None,
) -> bool:
    """Whether some infinite run is accepted by the property process: whether the property is violated."""

    def leaving(state: State, node: int) -> list[Edge]:
        marks = sum((node in group) << n for n, group in enumerate(prop.accepting))
        edges = (edge for edge in prop.edges if edge.source == node)
        return [Edge(edge.target, 0, 0, marks) for edge in edges if is_true(program, state, edge.guard)]

    return _has_accepted_run(
        Product(program, model, prop.initial, len(prop.accepting), leaving, most_states), conditions
    )


def _has_accepted_run(product: Product, conditions: Sequence[Condition]) -> bool:
    """Strong fairness by trying every set of processes that never can move again; the others move again and again."""
    strong = [condition.process for condition in conditions if isinstance(condition, ProcessRunsOften)]
    weaker = tuple(condition for condition in conditions if not isinstance(condition, ProcessRunsOften))
    return any(
        _has_run_where(product, weaker, frozenset(strong) - moving, moving)
        for size in range(len(strong) + 1)
        for moving in map(frozenset, combinations(strong, size))
    )


def _has_run_where(
    product: Product, conditions: Sequence[Condition], stuck: frozenset[int], moving: frozenset[int]
) -> bool:
    """The same, where in the end no process of `stuck` can move, and each one of `moving` does again and again."""
    program, marks, most_states = product.program, product.marks, product.most_states
    must_move = sorted(moving)
    number: dict[tuple[State, int], int] = {
        (state, product.initial): n for n, state in enumerate(starts(program, product.model))
    }
    order = list(number)
    successor: list[list[tuple[int, int]]] = []
    is_outside: list[bool] = []
    for state, node in order:
        if most_states is not None and len(order) > most_states:
            raise TooLarge
        edges = product.leaving(state, node)
        found = []
        steps = steps_of_runs(program, product.model, state) if edges else []
        possible = [step for step, _ in steps]
        for step, after in steps:
            fair = sum(
                is_met(program, condition, state, step, possible) << marks + n for n, condition in enumerate(conditions)
            )
            fair |= sum(does_move(step, process) << marks + len(conditions) + n for n, process in enumerate(must_move))
            for edge in edges:
                pair = (after, edge.target)
                if pair not in number:
                    number[pair] = len(order)
                    order.append(pair)
                found.append((number[pair], edge.marks | fair))
        successor.append(found)
        is_outside.append(any(does_move(step, process) for step in possible for process in stuck))
    successor = [
        [] if is_outside[n] else [(target, mark) for target, mark in edges_of if not is_outside[target]]
        for n, edges_of in enumerate(successor)
    ]
    component = components(len(order), lambda n: (target for target, _ in successor[n]))
    seen: dict[int, int] = {}
    for n, edges_of in enumerate(successor):
        for target, mark in edges_of:
            if component[n] == component[target]:
                seen[component[n]] = seen.get(component[n], 0) | mark
    return (1 << marks + len(conditions) + len(must_move)) - 1 in seen.values()
