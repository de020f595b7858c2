"""Addresses: how far an index moves a pointer, and which objects it can reach then."""

from __future__ import annotations

from memfence.frontends.c.llvm.instructions import Offset
from memfence.frontends.c.llvm.types import IntType
from memfence.frontends.c.machine.arithmetic import compute, fit, unwrapped
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.undefined import OUTSIDE, Undefined
from memfence.frontends.c.machine.value_sets import ADDRESS_BASE, ValueSet, listed
from memfence.frontends.c.machine.values import UNDEFINED, ZERO, Known, Scalar, Unknown, is_undefined
from memfence.program.expressions import Expr


def moved_pointer(path: Path, base: Scalar, i: Offset) -> Scalar:
    """Where the instruction lets the pointer point."""
    constant, variable = path.world.offset_plan(path.state.top.symbol.module, i)
    total = _moved(path, base, Known(constant), 1) if constant else base
    for operand, stride, count in variable:
        index = path.scalar(IntType(64), operand)
        if count and isinstance(index, Known) and index.value < 0 and not path.world.options.as_compiled:
            raise Undefined(OUTSIDE)
        total = _moved(path, total, index, stride, count)
    return total


def _moved(path: Path, base: Scalar, index: Scalar, stride: int, count: int = 0) -> Scalar:
    """`base + index * stride`. Outside of an array with `count` elements, else of the object, no address is known."""
    if is_undefined(base) or is_undefined(index):
        return UNDEFINED
    delta = compute("mul", 64, index, Known(stride)) if stride in (0, 1) else unwrapped("mul", 64, index, Known(stride))
    total = compute("add", 64, base, delta) if delta == ZERO else unwrapped("add", 64, base, delta)
    if isinstance(total, Known) or stride == 0:
        return fit(64, total)
    if isinstance(delta, Known):
        return _pointer(total.expr, base.values.shifted(delta.value))
    if not count:
        members = index.values.members(256)
        bases = base.values.members(256)
        if members is None or bases is None:
            return _pointer(total.expr, _in_object(path, base, index, delta, stride))
        numbers = list(members)
        return _pointer(total.expr, _near(path, list(bases), [n * stride for n in numbers]))
    inside = [n for n in range(count + 1) if index.values.contains(n)]
    bounds = index.values.bounds()
    is_open = base.values.is_open or bounds is None or bounds[0] < 0 or bounds[1] > count
    found = {a + n * stride for a in base.values.addresses() for n in inside}
    others = [v for v in base.values.listed if v < ADDRESS_BASE]
    return _pointer(total.expr, ValueSet(listed(found).listed, is_open=is_open or bool(others)))


def _pointer(expr: Expr, values: ValueSet) -> Scalar:
    """The sum as a pointer: one that may have left its object is wrapped when it is kept."""
    found = Unknown(expr, values)
    return found if values.is_open else fit(64, found)


def _near(path: Path, bases: list[int], deltas: list[int]) -> ValueSet:
    """The sums; those that leave the object of their base are no addresses that may be used."""
    found: set[int] = set()
    is_open = False
    for base in bases:
        placed = path.world.space.around(base) if base >= ADDRESS_BASE else None
        inside = {base + d for d in deltas if placed is None or placed.start <= base + d <= placed.end}
        is_open = is_open or len(inside) < len(set(deltas))
        found |= inside
    return ValueSet(listed(found).listed, is_open=is_open) if is_open else listed(found)


def _in_object(path: Path, base: Scalar, index: Scalar, delta: Scalar, stride: int) -> ValueSet:
    """The addresses that an index without limit can reach in the objects that `base` points into."""
    found: set[int] = set()
    sure = not base.values.is_open and len(base.values.addresses()) == len(base.values.listed)
    bounds = delta.values.bounds()
    for address in base.values.addresses():
        placed = path.world.space.around(address)
        if placed is None:
            sure = False
            continue
        first = placed.start + (address - placed.start) % stride
        reach = range(first, placed.end + 1, stride)
        found.update(a for a in reach if index.values.contains((a - address) // stride))
        sure = sure and bounds is not None and placed.start <= address + bounds[0]
        sure = sure and bounds is not None and address + bounds[1] <= placed.end
    return ValueSet(listed(found).listed, is_open=not sure)
