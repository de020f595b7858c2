"""What the abstract machine computes with: integers it knows, and expressions over registers it does not."""

from __future__ import annotations

from dataclasses import dataclass

from memfence.frontends.c.machine.value_sets import ValueSet, just
from memfence.program.expressions import Const, Expr


@dataclass(frozen=True, slots=True)
class Known:
    """An integer, whatever the run."""

    value: int

    @property
    def expr(self) -> Expr:
        return Const(self.value)

    @property
    def values(self) -> ValueSet:
        return just(self.value)


@dataclass(frozen=True, slots=True)
class Unknown:
    """What the expression, over the registers of the process, gives at run time: one of `values`."""

    expr: Expr
    values: ValueSet


@dataclass(frozen=True, slots=True)
class Parts:
    """A struct or array that is no memory: the result of a compare-exchange, a struct returned by value."""

    items: tuple[Value, ...]


Scalar = Known | Unknown
Value = Known | Unknown | Parts

ZERO = Known(0)
ONE = Known(1)
