"""`never` claims: Büchi automata that read the program's states, and no run is accepted.

A claim is lowered as a process is, so that its states are Spin's; what it waits for looks at memory, at labels and at
the variables of processes. A run is accepted that comes again and again to a label which begins with `accept`, of the
claim or of a process, as in Spin; or at which the claim comes to its end, or an assertion of it fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from memfence.codes import Code
from memfence.frontends.promela import syntax
from memfence.frontends.promela.declarations import Errors, Model
from memfence.frontends.promela.instances import Instance
from memfence.frontends.promela.properties import Formulas
from memfence.frontends.promela.statements import lower_process
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program import expressions
from memfence.program.facts.labels import ACCEPT, at_label
from memfence.program.ir import (
    Assert,
    Assume,
    Lock,
    Process,
    Program,
    PropertyAutomaton,
    PropertyEdge,
    Transition,
    Unlock,
)
from memfence.program.traversal import reachable_locations
from memfence.source import Span


def automaton_of(
    claim: syntax.Never, model: Model, formulas: Formulas, processes: Sequence[Process], errors: Errors
) -> PropertyAutomaton | None:
    """The automaton that accepts what must never happen; None after reporting what is wrong with the claim."""
    known = len(errors.found)
    _refuse_effects(claim, errors)
    if len(errors.found) > known:
        return None
    proctype = syntax.Proctype(claim.name, (), claim.body, None)
    instance = Instance(claim.name.text, proctype, -1)
    process = lower_process(model, instance, errors, {}, split_reads=False, beyond=formulas.value).process
    if len(errors.found) > known:
        return None
    standing = (replace(other, transitions=()) for other in processes)  # whose places the claim speaks of
    in_steps = fuse_lock_regions(Program(claim.name.text, (), (*standing, process)))
    if _is_interrupted(in_steps.processes[-1]):
        message = "an `atomic` of a `never` claim has a loop or an `accept` label"
        errors.add(Code.UNSUPPORTED, message, claim.name.span, hint="leave `atomic` out: a claim moves once per step")
        return None
    return _Automaton(claim, in_steps.processes[-1], at_label(processes, ACCEPT)).build()


def _refuse_effects(claim: syntax.Never, errors: Errors) -> None:
    """A claim only looks: whatever changes something would change the program that it is about."""
    for step in syntax.all_steps(claim.body.steps):
        match step.statement:
            case syntax.Declaration() | syntax.Assignment() | syntax.Call() | syntax.Select():
                message = f"`{step.span.text}` in a `never` claim, which only looks at the program"
                errors.add(Code.UNSUPPORTED, message, step.span, hint="use conditions, labels and `goto`")
            case syntax.For() | syntax.ForIn() | syntax.Atomic(_, _, True):
                message = "neither `for` nor `d_step` is possible in a `never` claim"
                errors.add(Code.UNSUPPORTED, message, step.span, hint="use `do` and `atomic`")
            case _:
                pass


def _is_interrupted(process: Process) -> bool:
    """Whether some `atomic` is still several steps."""
    kept = reachable_locations(process)
    return any(isinstance(op, Lock | Unlock) for t in process.transitions if t.source in kept for op in t.ops)


class _Place(NamedTuple):
    """Where the claim is; `marked`: it came here while some process was at an `accept` label."""

    location: int
    marked: bool


class _Automaton:
    def __init__(self, claim: syntax.Never, process: Process, marked: expressions.Expr) -> None:
        self.claim, self.process, self.marked = claim, process, marked
        kept = sorted(reachable_locations(process))
        self.places = [_Place(n, m) for n in kept for m in self.marks()]
        self.numbers = {place: number for number, place in enumerate(self.places)}
        self.over = len(self.places)

    def marks(self) -> tuple[bool, ...]:
        return (False,) if self.marked == expressions.FALSE else (False, True)

    def build(self) -> PropertyAutomaton:
        edges = [edge for place in self.places for edge in self.leaving(place)]
        edges.append(PropertyEdge(self.over, self.over, expressions.TRUE, self.claim.name.span))
        names = [self.process.locations[place.location].name + "'" * place.marked for place in self.places]
        initial = self.numbers[_Place(self.process.initial, False)]
        accepting = frozenset(n for n, place in enumerate(self.places) if self.accepts(place)) | {self.over}
        shown = "never claim" if self.claim.name.text == "never" else f"never claim {self.claim.name.text}"
        states = (*names, "(over)")
        return PropertyAutomaton(shown, states, initial, tuple(edges), (accepting,), self.claim.name.span)

    def accepts(self, place: _Place) -> bool:
        labels = self.process.locations[place.location].labels
        return place.marked or any(label.startswith(ACCEPT) for label in labels)

    def leaving(self, place: _Place) -> Iterator[PropertyEdge]:
        number = self.numbers[place]
        steps = [step for _, step in self.process.leaving(place.location)]
        if not steps:  # the end of the claim
            yield PropertyEdge(number, self.over, expressions.TRUE, self.claim.name.span)
        for step in steps:
            possible, failing = _guards(step)
            for guard in failing:
                yield self.edge(number, self.over, guard, step.span)
            for marked in self.marks():
                here = self.marked if marked else expressions.negate(self.marked)
                guard = possible if len(self.marks()) == 1 else expressions.conjunction(possible, here)
                yield self.edge(number, self.numbers[_Place(step.target, marked)], guard, step.span)

    def edge(self, source: int, target: int, guard: expressions.Expr, span: Span) -> PropertyEdge:
        return PropertyEdge(source, target, expressions.fold(guard), span)


def _guards(step: Transition) -> tuple[expressions.Expr, list[expressions.Expr]]:
    """Where the step is possible, and where an assertion fails in it."""
    possible: list[expressions.Expr] = []
    failing: list[expressions.Expr] = []
    for op in step.ops:
        match op:
            case Assume(condition):
                possible.append(condition)
            case Assert(condition):
                failing.append(expressions.conjunction(*possible, expressions.negate(condition)))
                possible.append(condition)
            case _:
                pass  # the bus lock of an `atomic`
    return expressions.conjunction(*possible), failing


def with_named(claims: Sequence[PropertyAutomaton]) -> tuple[PropertyAutomaton, ...]:
    """The claims, told apart where several have no name."""
    plain = [claim.name for claim in claims]
    return tuple(
        replace(claim, name=f"{claim.name} {number}") if plain.count(claim.name) > 1 else claim
        for number, claim in enumerate(claims, 1)
    )
