"""The runs that refute a temporal property, as an automaton: the textbook tableau, without any simplification.

A node is a set of formulas that have to be true from now on. A move says which atoms must be true and which false now,
and what has to be true next. Each `a U b` that is put off by a move is remembered: a run is accepted if no `U` is put
off for ever. That is the construction of Gerth, Peled, Vardi and Wolper, with acceptance on moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from memfence.certificates.format.container import NotACertificate
from memfence.program.expressions import Expr
from memfence.program.ir import PropertyAutomaton
from memfence.questions.ltl.formula import And, Atom, Formula, Next, Not, Or, Release, Truth, Until
from memfence.records import Record

MOST_NODES = 5_000
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
    """One way to make a set of formulas true: now, and next. `put_off`: untils that are left for later."""

    positive: frozenset[int] = frozenset()
    negative: frozenset[int] = frozenset()
    after: frozenset[Item] = frozenset()
    put_off: frozenset[Item] = frozenset()


def refuting_formula(formula: Formula, atoms: tuple[Expr, ...]) -> Refuting:
    """The runs on which `formula` is false."""
    first = frozenset({(formula, True)})
    numbers, waiting = {first: 0}, [first]
    ways: list[list[_Way]] = []
    for node in waiting:  # grows while it is gone through
        ways.append(sorted(set(_ways(sorted(node, key=_spelled_item), _Way())), key=_spelled_way))
        for way in ways[-1]:
            if way.after not in numbers:
                numbers[way.after] = len(waiting)
                waiting.append(way.after)
        if len(waiting) > MOST_NODES:
            raise NotACertificate("the formula is too large for this checker")
    untils = sorted({item for leaving in ways for way in leaving for item in way.put_off}, key=_spelled_item)

    def move(way: _Way) -> Move:
        marks = frozenset(n for n, until in enumerate(untils) if until not in way.put_off)
        return Move(numbers[way.after], way.positive, way.negative, marks)

    labels = Labels(formula, tuple(waiting), tuple(untils))
    return Refuting(tuple(tuple(map(move, leaving)) for leaving in ways), 0, len(untils), atoms, labels)


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
    (formula, negated), rest = todo[0], todo[1:]
    item = todo[0]
    match formula:
        case Truth(value):
            if value != negated:
                yield from _ways(rest, way)
        case Atom(number):
            positive = way.positive if negated else way.positive | {number}
            negative = way.negative | {number} if negated else way.negative
            if not positive & negative:
                yield from _ways(rest, _Way(positive, negative, way.after, way.put_off))
        case Not(operand):
            yield from _ways([(operand, not negated), *rest], way)
        case And(parts) | Or(parts):
            items = sorted(((part, negated) for part in parts), key=_spelled_item)
            if isinstance(formula, And) != negated:  # all of them
                yield from _ways([*items, *rest], way)
            else:
                for one in items:
                    yield from _ways([one, *rest], way)
        case Next(operand):
            later = way.after | {(operand, negated)}
            yield from _ways(rest, _Way(way.positive, way.negative, later, way.put_off))
        case Until(left, right) | Release(left, right):
            a, b, later = (left, negated), (right, negated), way.after | {item}
            if isinstance(formula, Until) != negated:  # b now, or a now and the same again
                yield from _ways([b, *rest], way)
                yield from _ways([a, *rest], _Way(way.positive, way.negative, later, way.put_off | {item}))
            else:  # b now, and a now or the same again
                yield from _ways([a, b, *rest], way)
                yield from _ways([b, *rest], _Way(way.positive, way.negative, later, way.put_off))
        case _:
            assert_never(formula)


def _spelled_way(way: _Way) -> tuple[object, ...]:
    return (
        sorted(way.positive),
        sorted(way.negative),
        sorted(map(_spelled_item, way.after)),
        sorted(map(_spelled_item, way.put_off)),
    )


def _spelled_item(item: Item) -> str:
    return ("!" if item[1] else "") + spelled(item[0])


def spelled(formula: Formula) -> str:
    """The same text for the same formula: an order that does not depend on how sets are stored."""
    match formula:
        case Truth(value):
            return str(value)
        case Atom(number):
            return str(number)
        case Not(operand) | Next(operand):
            return f"{type(formula).__name__}({spelled(operand)})"
        case And(parts) | Or(parts):
            return f"{type(formula).__name__}({','.join(sorted(map(spelled, parts)))})"
        case Until(left, right) | Release(left, right):
            return f"{type(formula).__name__}({spelled(left)},{spelled(right)})"
        case _:
            assert_never(formula)
