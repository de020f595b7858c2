"""Where control never comes, judged by each process alone: conditions that were tested before and still hold.

A forward data-flow analysis over the order of pairs of expressions: at each location, for every comparison that was
made on the way, which of `<`, `=`, `>` are left. A load may give anything, so that the result holds under every memory
model. `if (a != b) goto again; if (a != b) error:` is the pattern: no search has to enumerate what a and b may be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import assert_never

from memfence.program import expressions, ir

Order = frozenset[str]
"""Which of `<`, `=` and `>` may hold between two expressions."""

Known = Mapping[tuple[expressions.Expr, expressions.Expr], Order]
"""What is known at a location; pairs that are not there may stand in any order."""

ANY: Order = frozenset("<=>")
_ORDERS: dict[str, Order] = {
    "==": frozenset("="),
    "!=": frozenset("<>"),
    "<": frozenset("<"),
    "<=": frozenset("<="),
    ">": frozenset(">"),
    ">=": frozenset(">="),
}
_MIRRORED = str.maketrans("<>", "><")


def locations_in_reach(program: ir.Program) -> tuple[frozenset[int], ...]:
    """For each process the locations that it may come to; it never comes to the others."""
    errors = program.error_locations
    return tuple(
        _reached(process, {process.initial} if errors is None else {process.initial, errors[p]})
        for p, process in enumerate(program.processes)
    )


def _reached(process: ir.Process, entries: set[int]) -> frozenset[int]:
    known: dict[int, Known] = {entry: {} for entry in entries}
    leaving: list[list[ir.Transition]] = [[] for _ in process.locations]
    for transition in process.transitions:
        leaving[transition.source].append(transition)
    waiting = deque(sorted(entries))
    while waiting:
        location = waiting.popleft()
        for transition in leaving[location]:
            after = _after(process, transition, known[location])
            if after is None:
                continue
            old = known.get(transition.target)
            new = after if old is None else _either(old, after)
            if new != old:
                known[transition.target] = new
                waiting.append(transition.target)
    return frozenset(known)


def _after(process: ir.Process, transition: ir.Transition, known: Known) -> Known | None:
    """What is known once the transition is taken; None if it never is."""
    sync = transition.sync
    received = frozenset(sync.registers) if sync is not None else frozenset()
    for n, op in enumerate(transition.ops):
        if sync is not None and n == sync.guard_ops:
            known = _forget(known, received)
        after = _after_op(process, op, known)
        if after is None:
            return None
        known = after
    scratch = frozenset(n for n, register in enumerate(process.registers) if register.transient)
    return _forget(known, received | scratch)


def _after_op(process: ir.Process, op: ir.Op, known: Known) -> Known | None:
    match op:
        case ir.Assume(condition) | ir.Assert(condition):
            return _where(known, expressions.fold(condition), truth=True)
        case ir.Assign(register, value):
            rest = _forget(known, frozenset({register}))
            wraps = process.registers[register].domain.overflow == "wrap"
            if wraps or register in expressions.registers_of(value) or not _is_private(value):
                return rest
            return _where(
                rest, expressions.Binary("==", expressions.Register(register), expressions.fold(value)), truth=True
            )
        case ir.Load(register) | ir.Rmw(int(register)):
            return _forget(known, frozenset({register}))
        case ir.Rmw() | ir.Store() | ir.Fence() | ir.Lock() | ir.Unlock():
            return known
        case _:
            assert_never(op)


def _where(known: Known, condition: expressions.Expr, *, truth: bool) -> Known | None:
    """What is known where the condition has that truth; None if it cannot have it."""
    for left, right, order in _comparisons(condition, truth):
        if isinstance(left, expressions.Const) and isinstance(right, expressions.Const):
            actual = "<" if left.value < right.value else "=" if left.value == right.value else ">"
            if actual not in order:
                return None
            continue
        if not (_is_private(left) and _is_private(right)):
            continue
        left, right, order = _sorted(left, right, order)
        remaining = known.get((left, right), ANY) & order
        if not remaining:
            return None
        known = {**known, (left, right): remaining}
    return known


def _comparisons(
    condition: expressions.Expr, truth: bool
) -> Iterator[tuple[expressions.Expr, expressions.Expr, Order]]:
    """Comparisons that all hold where the condition has that truth."""
    match condition:
        case expressions.Unary("!", operand):
            yield from _comparisons(operand, not truth)
        case expressions.Binary("&&" | "||" as op, left, right):
            if (op == "&&") == truth:
                yield from _comparisons(left, truth)
                yield from _comparisons(right, truth)
        case expressions.Binary(op, left, right) if op in _ORDERS:
            yield left, right, _ORDERS[op] if truth else ANY - _ORDERS[op]
        case _:
            yield condition, expressions.Const(0), _ORDERS["!=" if truth else "=="]


def _sorted(
    left: expressions.Expr, right: expressions.Expr, order: Order
) -> tuple[expressions.Expr, expressions.Expr, Order]:
    """The same comparison with its sides in one order, whichever way it was written."""
    if repr(left) <= repr(right):
        return left, right, order
    return right, left, frozenset(sign.translate(_MIRRORED) for sign in order)


def _either(a: Known, b: Known) -> Known:
    """What is known where one of the two is."""
    joined = {pair: a[pair] | b[pair] for pair in a.keys() & b.keys()}
    return {pair: order for pair, order in joined.items() if order != ANY}


def _forget(known: Known, registers: frozenset[int]) -> Known:
    if not registers:
        return known
    return {
        (left, right): order
        for (left, right), order in known.items()
        if not registers & (expressions.registers_of(left) | expressions.registers_of(right))
    }


def _is_private(expr: expressions.Expr) -> bool:
    """Whether only the process itself can change the value."""
    return not any(
        isinstance(node, expressions.Shared | expressions.RegisterOf | expressions.At | expressions.BufferEmpty)
        for node in expressions.walk(expr)
    )
