"""Expressions that the C front end builds compute what LLVM's instructions compute, for every width and sign."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memfence.frontends.c.llvm.values import signed
from memfence.frontends.c.machine.arithmetic import TESTS, UNSIGNED, Undefined, compare, compute, exact, extend
from memfence.frontends.c.machine.value_sets import ValueSet, between, combine, just, listed
from memfence.frontends.c.machine.values import Known, Unknown
from memfence.program.expressions import Expr, Register, evaluate

OPS = ("add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "sdiv", "udiv", "srem", "urem")
WIDTHS = st.sampled_from((8, 16, 32))


def number(bits: int) -> st.SearchStrategy[int]:
    lo, hi = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return st.one_of(st.integers(-3, 9), st.sampled_from((lo, lo + 1, hi, hi - 1)), st.integers(lo, hi))


def value_of(expr: Expr, registers: tuple[int, ...]) -> int:
    return evaluate(expr, lambda leaf, _: registers[leaf.index] if isinstance(leaf, Register) else 0)


def around(value: int, data: st.DataObject) -> ValueSet:
    """Some set that contains the value."""
    kind = data.draw(st.integers(0, 2))
    if kind == 0:
        return just(value)
    if kind == 1:
        return listed((value, *data.draw(st.lists(st.integers(-5, 5), max_size=3))))
    return between(value - data.draw(st.integers(0, 40)), value + data.draw(st.integers(0, 40)))


@given(st.data(), WIDTHS, st.sampled_from(OPS))
@settings(max_examples=600, deadline=None)
def test_arithmetic_agrees_with_the_instruction(data: st.DataObject, bits: int, op: str) -> None:
    a, b = data.draw(number(bits)), data.draw(number(bits))
    if op in ("shl", "lshr", "ashr"):
        b = abs(b) % bits
    try:
        expected = signed(exact(op, bits, a, b), bits)
    except Undefined:
        return
    left, right = Unknown(Register(0), around(a, data)), Unknown(Register(1), around(b, data))
    found = compute(op, bits, left, right)
    assert value_of(found.expr, (a, b)) == expected
    assert found.values.contains(expected)


@given(st.data(), WIDTHS, st.sampled_from((*TESTS, *UNSIGNED)))
@settings(max_examples=600, deadline=None)
def test_comparisons_agree_with_the_instruction(data: st.DataObject, bits: int, predicate: str) -> None:
    a, b = data.draw(number(bits)), data.draw(number(bits))
    known = compare(predicate, bits, Known(a), Known(b))
    assert isinstance(known, Known)
    found = compare(predicate, bits, Unknown(Register(0), around(a, data)), Unknown(Register(1), around(b, data)))
    assert value_of(found.expr, (a, b)) == known.value


@given(st.data(), st.sampled_from(("zext", "sext", "trunc")))
@settings(max_examples=300, deadline=None)
def test_conversions_agree_with_the_instruction(data: st.DataObject, op: str) -> None:
    origin, target = (32, 8) if op == "trunc" else (8, 32)
    a = data.draw(number(origin))
    known = extend(op, origin, target, Known(a))
    found = extend(op, origin, target, Unknown(Register(0), around(a, data)))
    assert isinstance(known, Known)
    assert value_of(found.expr, (a,)) == known.value and found.values.contains(known.value)


SETS = st.one_of(
    st.lists(st.integers(-20, 20), min_size=1, max_size=20).map(listed),
    st.tuples(st.integers(-300, 300), st.integers(0, 400)).map(lambda pair: between(pair[0], pair[0] + pair[1])),
    st.lists(st.integers(65536, 65600), min_size=1, max_size=5).map(listed),
)


@given(SETS, SETS)
@settings(max_examples=400, deadline=None)
@example(listed((3, 5)), between(1, 100))
def test_joined_and_widened_sets_contain_both(a: ValueSet, b: ValueSet) -> None:
    joined = a.join(b)
    wide = joined.widened(a)
    for part in (a, b):
        for member in part.members(10_000) or ():
            assert joined.contains(member) and wide.contains(member)


@given(SETS)
@settings(max_examples=200, deadline=None)
def test_widening_settles(start: ValueSet) -> None:
    current, growths = start, 0
    while growths < 100:
        grown = current.join(combine(current, just(1), lambda x, y: x + y, lambda p, q: (p[0] + q[0], p[1] + q[1])))
        after = grown.widened(current) if not grown.addresses() else grown
        if after == current or after.addresses():
            break
        current, growths = after, growths + 1
    assert growths < 20
