"""What a model says of one execution: each check evaluated as it is written, recursion by iteration from nothing.

This is the judge of every witness, so it takes no shortcut.
"""

from __future__ import annotations

from typing import assert_never, cast

from memfence.models.cat import relations
from memfence.models.cat.candidate import Candidate
from memfence.models.cat.relations import Rows
from memfence.models.cat.syntax import Axiom, Base, Binary, Cat, CatExpr, Kind, Named, Unary
from memfence.records import Record

Value = int | Rows
"""A set or a relation."""


class Finding(Record):
    """A check that is false, or a flag that is raised.

    `events`: a cycle, each event once; one that is related to itself; a pair that should not be; an event that should
    not be in a set. Empty where what is wrong is that there is nothing of that kind (`~empty`).
    """

    axiom: Axiom
    events: tuple[int, ...]


class Judgement(Record):
    """`failed`: the checks that forbid the execution; `flags`: those that are raised."""

    failed: tuple[Finding, ...]
    flags: tuple[Finding, ...]

    @property
    def is_allowed(self) -> bool:
        return not self.failed


def judge(cat: Cat, candidate: Candidate) -> Judgement:
    """Every check of the model on the execution."""
    evaluation = Evaluation(cat, candidate)
    failed, flags = [], []
    for axiom in cat.axioms:
        found = evaluation.offending(axiom)
        if axiom.is_flag:
            # A flag is raised where its check is true: `~empty r` where there is something to show.
            if axiom.negated and found is not None:
                flags.append(Finding(axiom, found))
            elif not axiom.negated and found is None:
                flags.append(Finding(axiom, ()))
        elif axiom.negated and found is None:
            failed.append(Finding(axiom, ()))
        elif not axiom.negated and found is not None:
            failed.append(Finding(axiom, found))
    return Judgement(tuple(failed), tuple(flags))


class Evaluation:
    """The values of a model's definitions in one execution, computed in the order of the text."""

    def __init__(self, cat: Cat, candidate: Candidate) -> None:
        self.cat = cat
        self.candidate = candidate
        self.size = candidate.size
        self.values: list[Value] = []
        while len(self.values) < len(cat.definitions):
            self.define_next()

    def define_next(self) -> None:
        first = len(self.values)
        definition = self.cat.definitions[first]
        if definition.group is None:
            self.values.append(self.value(definition.body))
            return
        group = [d for d in self.cat.definitions[first:] if d.group == definition.group]
        self.values += [self.empty(d.body.kind) for d in group]
        self.iterate(first, [d.body for d in group])

    def iterate(self, first: int, bodies: list[CatExpr]) -> None:
        """The least values that satisfy all equations; the reader has made sure that they only grow."""
        changed = True
        while changed:
            changed = False
            for n, body in enumerate(bodies, first):
                value = self.value(body)
                changed = changed or value != self.values[n]
                self.values[n] = value

    def empty(self, kind: Kind) -> Value:
        return 0 if kind == "set" else relations.nothing(self.size)

    def offending(self, axiom: Axiom) -> tuple[int, ...] | None:
        """What breaks the check without its `~`; None where it is true."""
        value = self.value(axiom.body)
        if isinstance(value, int):
            return next(((event,) for event in relations.bits(value)), None)
        match axiom.kind:
            case "acyclic":
                return relations.shortest_cycle(value)
            case "irreflexive":
                event = relations.reflexive_event(value)
                return None if event is None else (event,)
            case "empty":
                return next(relations.pairs_of(value), None)
            case _:
                assert_never(axiom.kind)

    def value(self, expr: CatExpr) -> Value:
        match expr:
            case Base():
                return self.base(expr)
            case Named(definition):
                return self.values[definition]
            case Unary():
                return self.unary(expr)
            case Binary():
                return self.binary(expr)
            case _:
                assert_never(expr)

    def base(self, expr: Base) -> Value:
        if expr.name == "emptyset":
            return self.empty(expr.kind)
        if expr.name == "_":
            return (1 << self.size) - 1
        if expr.name == "id":
            return relations.identity(self.size)
        if expr.kind == "set":
            return self.candidate.sets.get(expr.name, 0)
        return self.candidate.relations.get(expr.name, relations.nothing(self.size))

    def unary(self, expr: Unary) -> Value:
        operand = self.value(expr.operand)
        if isinstance(operand, int):
            return relations.identity(self.size, operand) if expr.op == "[]" else ((1 << self.size) - 1) & ~operand
        match expr.op:
            case "^-1":
                return relations.inverse(operand)
            case "+":
                return relations.closure(operand)
            case "*":
                return relations.union(relations.closure(operand), relations.identity(self.size))
            case "?":
                return relations.union(operand, relations.identity(self.size))
            case "~":
                return relations.complement(operand)
            case "domain":
                return relations.domain(operand)
            case "range":
                return relations.image(operand)
            case _:
                raise AssertionError(f"the reader lets no relation stand in {expr.op}")

    def binary(self, expr: Binary) -> Value:
        left, right = self.value(expr.left), self.value(expr.right)
        if isinstance(left, int):
            return self.of_sets(expr, left, cast(int, right))
        right = cast(Rows, right)
        match expr.op:
            case "|":
                return relations.union(left, right)
            case "&":
                return relations.intersection(left, right)
            case "\\":
                return relations.difference(left, right)
            case ";":
                return relations.compose(left, right)
            case "*":
                raise AssertionError("the reader multiplies sets only")
            case _:
                assert_never(expr.op)

    def of_sets(self, expr: Binary, left: int, right: int) -> Value:
        match expr.op:
            case "|":
                return left | right
            case "&":
                return left & right
            case "\\":
                return left & ~right
            case "*":
                return relations.product(self.size, left, right)
            case ";":
                raise AssertionError("the reader composes relations only")
            case _:
                assert_never(expr.op)
