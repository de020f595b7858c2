"""From a formula to a generalised Büchi automaton: Couvreur's tableau (FM 1999), then the reductions of `reduce`.

A state is a set of obligations, formulas that must hold from there on. Expanding them gives the edges: literals for
now, obligations for the next state, and the untils that the edge *postpones*. Each until has a mark, which an edge
carries unless it postpones that until; so a run that postpones one for ever is not accepting. An obligation that
another one implies is dropped, and so is an edge that is worse in every respect than another one.

All sets are bit masks: literals over atoms, obligations and postponed untils over a table of formulas.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from memfence.questions.ltl import formula as ltl
from memfence.questions.ltl.automaton import Automaton, Edge
from memfence.questions.ltl.reduce import reduce_automaton
from memfence.questions.ltl.simplify import implies, simplify


def translate(formula: ltl.Formula) -> Automaton:
    """An automaton that accepts exactly the words that satisfy `formula`."""
    return reduce_automaton(tableau(simplify(ltl.normal_form(formula))))


def tableau(formula: ltl.Formula) -> Automaton:
    """The automaton of a formula in negation normal form, as the tableau gives it, without reductions."""
    return _Tableau().automaton(formula)


class _Term(NamedTuple):
    """One way to satisfy a formula: literals now, obligations next, untils postponed."""

    positive: int
    negative: int
    obligations: int
    postponed: int

    def is_no_better_than(self, other: _Term) -> bool:
        """Whether `other` asks for no more in any respect."""
        return not (
            other.positive & ~self.positive
            or other.negative & ~self.negative
            or other.obligations & ~self.obligations
            or other.postponed & ~self.postponed
        )


_NOTHING = _Term(0, 0, 0, 0)


class _Tableau:
    def __init__(self) -> None:
        self.formulas: list[ltl.Formula] = []
        self.numbers: dict[ltl.Formula, int] = {}
        self.terms: dict[ltl.Formula, list[_Term]] = {}
        self.marks: dict[int, int] = {}

    def automaton(self, formula: ltl.Formula) -> Automaton:
        start = self.dropping_implied(self.obligations(formula))
        states = {start: 0}
        waiting = [start]
        found: list[list[_Term]] = []
        for state in waiting:
            found.append([])
            for term in self.edges(state):
                better = term._replace(obligations=self.dropping_implied(term.obligations))
                found[-1].append(better)
                if better.obligations not in states:
                    states[better.obligations] = len(states)
                    waiting.append(better.obligations)
        edges = tuple(tuple(sorted({self.edge(term, states) for term in _undominated(terms)})) for terms in found)
        return Automaton(0, edges, len(self.marks))

    def edge(self, term: _Term, states: dict[int, int]) -> Edge:
        marks = sum(1 << mark for until, mark in self.marks.items() if not term.postponed >> until & 1)
        return Edge(states[term.obligations], term.positive, term.negative, marks)

    def number(self, formula: ltl.Formula) -> int:
        if formula not in self.numbers:
            self.numbers[formula] = len(self.formulas)
            self.formulas.append(formula)
        return self.numbers[formula]

    def obligations(self, formula: ltl.Formula) -> int:
        """The formula as a set of obligations: the parts of a conjunction."""
        parts = ltl.children(formula) if isinstance(formula, ltl.And) else (formula,)
        return sum(1 << self.number(part) for part in parts if part != ltl.Truth(True))

    def members(self, obligations: int) -> list[int]:
        return [number for number in range(obligations.bit_length()) if obligations >> number & 1]

    def dropping_implied(self, obligations: int) -> int:
        """An equivalent set without the members that another member implies."""
        kept = self.members(obligations)
        for number in list(kept):
            if any(implies(self.formulas[other], self.formulas[number]) for other in kept if other != number):
                kept.remove(number)
        return sum(1 << number for number in kept)

    def edges(self, state: int) -> list[_Term]:
        terms = [_NOTHING]
        for number in self.members(state):
            terms = _undominated(_products(terms, self.expand(self.formulas[number])))
        return terms

    def expand(self, formula: ltl.Formula) -> list[_Term]:
        """Every way to satisfy the formula, the dominated ones left out."""
        if formula not in self.terms:
            self.terms[formula] = _undominated(self.expand_anew(formula))
        return self.terms[formula]

    def expand_anew(self, formula: ltl.Formula) -> Iterable[_Term]:
        match formula:
            case ltl.Truth(value):
                return [_NOTHING] if value else []
            case ltl.Atom(number):
                return [_NOTHING._replace(positive=1 << number)]
            case ltl.Not(ltl.Atom(number)):
                return [_NOTHING._replace(negative=1 << number)]
            case ltl.And():
                terms = [_NOTHING]
                for part in ltl.children(formula):
                    terms = _undominated(_products(terms, self.expand(part)))
                return terms
            case ltl.Or():
                return [term for part in ltl.children(formula) for term in self.expand(part)]
            case ltl.Next(operand):
                return [_NOTHING._replace(obligations=self.obligations(operand))]
            case ltl.Until(left, right):
                number = self.number(formula)
                self.marks.setdefault(number, len(self.marks))
                later = _NOTHING._replace(obligations=1 << number, postponed=1 << number)
                return [*self.expand(right), *_products(self.expand(left), [later])]
            case ltl.Release(left, right):
                later = _NOTHING._replace(obligations=1 << self.number(formula))
                return _products(self.expand(right), [*self.expand(left), later])
            case ltl.Not():
                raise AssertionError("not in negation normal form")


def _products(left: list[_Term], right: list[_Term]) -> list[_Term]:
    """Every term of `left` together with every one of `right`, where their literals do not contradict each other."""
    both = (_Term(*(x | y for x, y in zip(a, b, strict=True))) for a in left for b in right)
    return [term for term in both if not term.positive & term.negative]


def _undominated(terms: Iterable[_Term]) -> list[_Term]:
    """The terms without those that are no better than another one."""
    distinct = sorted(set(terms), key=lambda t: (sum(part.bit_count() for part in t), t))
    kept: list[_Term] = []
    for term in distinct:  # fewest demands first: only an earlier one can dominate
        if not any(term.is_no_better_than(other) for other in kept):
            kept.append(term)
    return kept
