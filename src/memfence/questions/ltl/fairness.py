"""Fairness as acceptance marks of the product, not as conjuncts of the formula, where it makes automata explode.

To check that every fair run satisfies f, a run of the negation !f is searched. Its conjuncts `GF b` (from premises
`GF b -> ...` of f) need no automaton: each is one more mark, carried by every step that leaves a state where b holds.
The memory's and the processes' fairness (`models.fairness`) are marks of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator

from memfence.models.fairness import Recurring
from memfence.program.expressions import Binary, Const, Expr, Shared, walk
from memfence.questions.ltl import formula as ltl
from memfence.questions.ltl.parser import Proposition, as_expression
from memfence.questions.ltl.simplify import simplify
from memfence.records import Record


class Obligation(Record):
    """What a counterexample has to satisfy: `formula`, by an automaton, and each of `recurring` again and again."""

    formula: ltl.Formula
    recurring: tuple[ltl.Formula, ...]

    def conditions(self, atoms: tuple[Proposition, ...]) -> tuple[Recurring, ...]:
        return tuple(Recurring(as_expression(condition, atoms)) for condition in self.recurring)


def counterexample_obligation(formula: ltl.Formula, atoms: tuple[Proposition, ...]) -> Obligation:
    """What the runs that violate `formula` are: its negation, with the conjuncts `GF b` peeled off.

    A predicate that cannot be evaluated is false, and its negation true: such ones are left to the automaton, which
    asks for each atom by itself.
    """
    unsafe = frozenset(number for number, atom in enumerate(atoms) if _may_fail(atom.expr))
    return peel(simplify(ltl.normal_form(formula, True)), unsafe)


def peel(formula: ltl.Formula, unsafe: frozenset[int] = frozenset()) -> Obligation:
    """Split a formula in negation normal form into recurring predicates, none with an `unsafe` atom, and the rest."""

    def is_recurring(condition: ltl.Formula) -> bool:
        mentioned = {f.number for f in ltl.subformulas(condition) if isinstance(f, ltl.Atom)}
        return ltl.is_propositional(condition) and not mentioned & unsafe

    recurring: list[ltl.Formula] = []
    rest: list[ltl.Formula] = []
    for conjunct in _conjuncts(formula):
        match conjunct:
            case ltl.Release(ltl.Truth(False), ltl.Until(ltl.Truth(True), condition)) if is_recurring(condition):
                recurring.append(condition)
            case _:
                rest.append(conjunct)
    return Obligation(ltl.all_of(rest), tuple(recurring))


def _conjuncts(formula: ltl.Formula) -> Iterator[ltl.Formula]:
    """The conjuncts, with G(a && b) taken apart."""
    match formula:
        case ltl.And():
            for part in ltl.children(formula):
                yield from _conjuncts(part)
        case ltl.Release(ltl.Truth(False), ltl.And()):
            for part in ltl.children(formula.right):
                yield from _conjuncts(ltl.Release(ltl.Truth(False), part))
        case _:
            yield formula


def _may_fail(expr: Expr) -> bool:
    """Whether evaluation may divide by zero, shift too far, leave an array or 128 bits."""
    for node in walk(expr):
        match node:
            case Binary("/" | "%", _, Const(divisor)) if divisor > 0:
                pass
            case Binary("/" | "%" | "<<" | ">>" | "*", _, _):
                return True
            case Shared(address) if address.variable is None:
                return True
            case _:
                pass
    return False
