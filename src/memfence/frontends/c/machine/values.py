"""What the abstract machine computes with: integers it knows, and expressions over registers it does not."""

from __future__ import annotations

from memfence.frontends.c.machine.value_sets import ValueSet, just
from memfence.program.expressions import Const, Expr
from memfence.records import Record


class Known(Record):
    """An integer, whatever the run. `undefined`: a mask of the bits that nobody has written; they are 0 in `value`."""

    value: int
    undefined: int = 0

    @property
    def expr(self) -> Expr:
        return Const(self.value)

    @property
    def values(self) -> ValueSet:
        return just(self.value)


class Unknown(Record):
    """What the expression, over the registers of the process, gives at run time: one of `values`."""

    expr: Expr
    values: ValueSet


class Packed(Record):
    """An integer of several values side by side, as (bits, value), the lowest first; see `packing`."""

    pieces: tuple[tuple[int, Scalar], ...]


class Parts(Record):
    """A struct or array that is no memory: the result of a compare-exchange, a struct returned by value."""

    items: tuple[Value, ...]


Scalar = Known | Unknown
Integer = Known | Unknown | Packed
Value = Known | Unknown | Packed | Parts

ZERO = Known(0)
ONE = Known(1)


UNDEFINED = Known(0, -1)
"""What is in memory that nobody has written, in any width."""


def is_undefined(value: Value) -> bool:
    """Whether nobody has written some bit of it."""
    if isinstance(value, Packed):
        return any(is_undefined(piece) for _, piece in value.pieces)
    return isinstance(value, Known) and value.undefined != 0
