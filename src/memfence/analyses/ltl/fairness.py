"""Fairness as acceptance marks of the product, not as conjuncts of the formula, where it makes automata explode.

To check that every fair run satisfies f, a run of the negation !f is searched. Its conjuncts `GF b` (from premises
`GF b -> ...` of f) need no automaton: each is one more mark, carried by every step that leaves a state where b holds.
The memory's and the processes' fairness are marks of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memfence.analyses.ltl.formula import (
    And,
    Formula,
    Release,
    Truth,
    Until,
    all_of,
    children,
    is_propositional,
    normal_form,
)
from memfence.analyses.ltl.parser import Proposition, as_expression
from memfence.analyses.ltl.simplify import simplify
from memfence.program.expressions import Expr
from memfence.program.ir import Program


@dataclass(frozen=True, slots=True)
class Recurring:
    """`condition` holds again and again: the steps that leave a state where it holds carry the mark."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class BufferDrains:
    """The process's pending stores reach memory: a step that commits one of them, or that starts with none pending.

    A buffer is first in, first out, so that none is delayed for ever then. Under PSO `variable` tells which buffer;
    for TSO/var(k) it may be given too, as in formula V of Barnat, Brim and Havel, and changes nothing.
    """

    process: int
    variable: int | None = None


@dataclass(frozen=True, slots=True)
class ProcessRuns:
    """Weak fairness, GF(!enabled || taken): a step of the process, or one that starts where it has none."""

    process: int


AcceptanceCondition = Recurring | BufferDrains | ProcessRuns


@dataclass(frozen=True, slots=True)
class Obligation:
    """What a counterexample has to satisfy: `formula`, by an automaton, and each of `recurring` again and again."""

    formula: Formula
    recurring: tuple[Formula, ...]

    def conditions(self, atoms: tuple[Proposition, ...]) -> tuple[AcceptanceCondition, ...]:
        return tuple(Recurring(as_expression(condition, atoms)) for condition in self.recurring)


def counterexample_obligation(formula: Formula) -> Obligation:
    """What the runs that violate `formula` are: its negation, with the conjuncts `GF b` peeled off."""
    return peel(simplify(normal_form(formula, True)))


def peel(formula: Formula) -> Obligation:
    """Split a formula in negation normal form into recurring predicates and the rest."""
    recurring: list[Formula] = []
    rest: list[Formula] = []
    for conjunct in _conjuncts(formula):
        match conjunct:
            case Release(Truth(False), Until(Truth(True), condition)) if is_propositional(condition):
                recurring.append(condition)
            case _:
                rest.append(conjunct)
    return Obligation(all_of(rest), tuple(recurring))


def _conjuncts(formula: Formula) -> Iterator[Formula]:
    """The conjuncts, with G(a && b) taken apart."""
    match formula:
        case And():
            for part in children(formula):
                yield from _conjuncts(part)
        case Release(Truth(False), And()):
            for part in children(formula.right):
                yield from _conjuncts(Release(Truth(False), part))
        case _:
            yield formula


def memory_fairness(program: Program) -> tuple[AcceptanceCondition, ...]:
    """Every pending store eventually reaches memory: one condition a process (its buffers under PSO are the core's)."""
    return tuple(BufferDrains(process) for process in range(len(program.processes)))


def process_fairness(program: Program) -> tuple[AcceptanceCondition, ...]:
    """No process is able to move for ever without moving."""
    return tuple(ProcessRuns(process) for process in range(len(program.processes)))
