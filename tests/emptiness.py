"""The slow twin of the native emptiness check: the whole product of program and automaton, then its components."""

from __future__ import annotations

from collections.abc import Callable

from memfence.analyses.ltl.automaton import Automaton, Edge, components
from memfence.models.state import Failure, State
from memfence.models.steps import MemoryModel, error_state, evaluate_in, starts, successors
from memfence.program.expressions import Expr
from memfence.program.ir import Program, PropertyAutomaton


def following(program: Program, model: MemoryModel, state: State) -> list[State]:
    """The states one step away; after a deadlock the state itself, for ever. Errors end the run or lead on (DVE)."""
    after = [s for _, s in successors(program, model, state)]
    states = [error_state(program, model) if isinstance(s, Failure) else s for s in after]
    return [s for s in states if s is not None] or [state]


def has_accepted_run(program: Program, model: MemoryModel, automaton: Automaton, atoms: tuple[Expr, ...]) -> bool:
    """Whether some infinite run of the program is a word that the automaton accepts."""

    def leaving(state: State, node: int) -> list[Edge]:
        valuation = sum(bool(evaluate_in(program, state, 0, atom)) << n for n, atom in enumerate(atoms))
        return [edge for edge in automaton.edges[node] if edge.allows(valuation)]

    return _has_accepted_run(program, model, automaton.initial, automaton.all_marks, leaving)


def has_run_of_property(program: Program, model: MemoryModel, prop: PropertyAutomaton) -> bool:
    """Whether some infinite run is accepted by the property process: whether the property is violated."""

    def leaving(state: State, node: int) -> list[Edge]:
        marks = sum((node in group) << n for n, group in enumerate(prop.accepting))
        edges = (edge for edge in prop.edges if edge.source == node)
        return [Edge(edge.target, 0, 0, marks) for edge in edges if evaluate_in(program, state, 0, edge.guard)]

    return _has_accepted_run(program, model, prop.initial, (1 << len(prop.accepting)) - 1, leaving)


def _has_accepted_run(
    program: Program, model: MemoryModel, initial: int, all_marks: int, leaving: Callable[[State, int], list[Edge]]
) -> bool:
    number: dict[tuple[State, int], int] = {(state, initial): n for n, state in enumerate(starts(program, model))}
    order = list(number)
    successor: list[list[tuple[int, int]]] = []
    for state, node in order:
        edges = leaving(state, node)
        found = []
        for after in following(program, model, state) if edges else ():
            for edge in edges:
                pair = (after, edge.target)
                if pair not in number:
                    number[pair] = len(order)
                    order.append(pair)
                found.append((number[pair], edge.marks))
        successor.append(found)
    component = components(len(order), lambda n: (target for target, _ in successor[n]))
    seen: dict[int, int] = {}
    for n, edges_of in enumerate(successor):
        for target, marks in edges_of:
            if component[n] == component[target]:
                seen[component[n]] = seen.get(component[n], 0) | marks
    return any(marks == all_marks for marks in seen.values())
