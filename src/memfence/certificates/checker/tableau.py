"""The runs that refute a temporal property, as an automaton: the textbook tableau, without any simplification.

A node is a set of formulas that have to be true from now on. A move says which atoms must be true and which false now,
and what has to be true next. Each `a U b` that is put off by a move is remembered: a run is accepted if no `U` is put
off for ever. That is the construction of Gerth, Peled, Vardi and Wolper, with acceptance on moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import assert_never

from memfence.certificates.format.container import NotACertificate
from memfence.program.expressions import Expr
from memfence.program.ir import PropertyAutomaton
from memfence.questions.ltl.formula import (
    And,
    Atom,
    Formula,
    Next,
    Not,
    Or,
    Release,
    Truth,
    Until,
    children,
    formula_text,
)
from memfence.records import Record

MOST_NODES, MOST_MOVES = 5_000, 200_000
Item = tuple[Formula, bool]
"""A formula, and whether its negation is meant."""


class Move(Record):
    """Possible where all atoms in `positive` and none in `negative` are true; `marks` are those that it visits."""

    target: int
    positive: frozenset[int]
    negative: frozenset[int]
    marks: frozenset[int]


class Labels(Record):
    """`nodes`: what has to be true from each node on. `untils`: which formula each mark is about."""

    formula: Formula
    nodes: tuple[frozenset[Item], ...]
    untils: tuple[Item, ...]


class Refuting(Record):
    """Accepts the runs that visit every mark, 0 .. `marks` - 1, again and again. `initial` is a number of a node.

    `labels`: where it was made from a formula, what its nodes and marks are about.
    """

    moves: tuple[tuple[Move, ...], ...]
    initial: int
    marks: int
    atoms: tuple[Expr, ...]
    labels: Labels | None = None


class _Way(Record):
    """One way to make formulas true: `now`, atoms with whether they are false; `after`, others from the next moment on.

    `put_off`: each `U` that is left for later.
    """

    now: frozenset[tuple[int, bool]] = frozenset()
    after: frozenset[Item] = frozenset()
    put_off: frozenset[Item] = frozenset()


def refuting_formula(formula: Formula, atoms: tuple[Expr, ...]) -> Refuting:
    """The runs on which `formula` is false."""
    first = frozenset({(formula, True)})
    numbers, nodes, ways = {first: 0}, [first], list[list[_Way]]()
    for node in nodes:  # grows while it is gone through
        found = list(islice(_ways(_ordered(node), _Way()), MOST_MOVES))
        ways.append(list(dict.fromkeys(found)))
        for way in ways[-1]:
            if way.after not in numbers:
                numbers[way.after] = len(nodes)
                nodes.append(way.after)
        if len(nodes) > MOST_NODES or len(found) == MOST_MOVES or sum(map(len, ways)) > MOST_MOVES:
            raise NotACertificate("the formula is too large for this checker")
    untils = _ordered({item for leaving in ways for way in leaving for item in way.put_off})

    def move(way: _Way) -> Move:
        positive, negative = (frozenset(n for n, is_false in way.now if is_false == wanted) for wanted in (False, True))
        marks = frozenset(n for n, until in enumerate(untils) if until not in way.put_off)
        return Move(numbers[way.after], positive, negative, marks)

    labels = Labels(formula, tuple(nodes), tuple(untils))
    return Refuting(tuple(tuple(map(move, leaving)) for leaving in ways), 0, len(untils), atoms, labels)


def _ordered(items: Iterable[Item]) -> list[Item]:
    """In an order that does not depend on how sets are stored."""
    return sorted(items, key=lambda item: (formula_text(item[0]), item[1]))


def refuting_automaton(automaton: PropertyAutomaton) -> Refuting:
    """The runs that a property process accepts: a move visits the sets that its source is in."""
    atoms = tuple(edge.guard for edge in automaton.edges)
    moves: list[list[Move]] = [[] for _ in automaton.states]
    for number, edge in enumerate(automaton.edges):
        marks = frozenset(n for n, group in enumerate(automaton.accepting) if edge.source in group)
        moves[edge.source].append(Move(edge.target, frozenset({number}), frozenset(), marks))
    return Refuting(tuple(map(tuple, moves)), automaton.initial, len(automaton.accepting), atoms)


def _ways(todo: list[Item], way: _Way) -> Iterator[_Way]:
    """Every way to make all of `todo` true, beside what `way` says already."""
    if not todo:
        yield way
        return
    (formula, negated), *rest = todo
    match formula:
        case Truth(value):
            if value != negated:
                yield from _ways(rest, way)
        case Atom(number):
            if (number, not negated) not in way.now:
                yield from _ways(rest, replace(way, now=way.now | {(number, negated)}))
        case _:
            for now, later in _choices(formula, negated):
                is_put_off = later == [todo[0]] and isinstance(formula, Until) != negated
                put_off = way.put_off | set(later if is_put_off else ())
                yield from _ways([*now, *rest], replace(way, after=way.after | set(later), put_off=put_off))


def _choices(formula: Not | Next | And | Or | Until | Release, negated: bool) -> list[tuple[list[Item], list[Item]]]:
    """What has to be true now, and what next, for each choice that there is."""
    parts: list[Item] = [(part, negated) for part in children(formula)]
    again: list[Item] = [(formula, negated)]
    match formula:
        case Not(operand):
            return [([(operand, not negated)], [])]
        case Next():
            return [([], parts)]
        case And() | Or():
            return [(parts, [])] if isinstance(formula, And) != negated else [([part], []) for part in parts]
        case Until() | Release():
            left, right = parts
            if isinstance(formula, Until) != negated:  # right now, or left now and the same again
                return [([right], []), ([left], again)]
            return [([left, right], []), ([right], again)]  # right now, and left now or the same again
        case _:
            assert_never(formula)
