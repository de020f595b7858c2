"""Walking over what a program consists of: the expressions of a step or property, and the same with them changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import assert_never

from memfence.program.expressions import Address, Expr
from memfence.program.facts.effects import op_expressions
from memfence.program.ir import (
    Assert,
    Assign,
    Assume,
    Fence,
    Final,
    Forbidden,
    Invariant,
    Load,
    Lock,
    Op,
    Process,
    Property,
    PropertyAutomaton,
    Rmw,
    Store,
    Sync,
    Transition,
    Unlock,
)


def map_transition(transition: Transition, change: Callable[[Expr], Expr]) -> Transition:
    """The transition with every expression changed."""
    ops = tuple(map_op(op, change) for op in transition.ops)
    sync = transition.sync
    if sync is not None:
        sync = replace(sync, values=tuple(change(value) for value in sync.values))
    return replace(transition, ops=ops, sync=sync)


def map_op(op: Op, change: Callable[[Expr], Expr]) -> Op:
    """The op with every expression changed."""
    match op:
        case Load(_, address, when):
            return replace(op, address=_map_address(address, change), when=None if when is None else change(when))
        case Store(address, value, when=when):
            when = None if when is None else change(when)
            return replace(op, address=_map_address(address, change), value=change(value), when=when)
        case Rmw(_, address, _, operand, expected):
            expected = None if expected is None else change(expected)
            return replace(op, address=_map_address(address, change), operand=change(operand), expected=expected)
        case Assign(register, value):
            return Assign(register, change(value))
        case Assume(condition):
            return Assume(change(condition))
        case Assert(condition, error):
            return Assert(change(condition), error)
        case Fence() | Lock() | Unlock():
            return op
        case _:
            assert_never(op)


def _map_address(address: Address, change: Callable[[Expr], Expr]) -> Address:
    return Address(address.base, address.size, change(address.index))


def map_property(prop: Property, change: Callable[[Expr], Expr]) -> Property:
    """The property with every expression changed; LTL formulas are text and stay."""
    match prop:
        case Invariant() | Forbidden():
            return replace(prop, expr=change(prop.expr))
        case Final():
            return replace(prop, expr=change(prop.expr), observed=tuple((name, change(e)) for name, e in prop.observed))
        case PropertyAutomaton():
            return replace(prop, edges=tuple(replace(edge, guard=change(edge.guard)) for edge in prop.edges))
        case _:
            return prop


def property_expressions(prop: Property) -> tuple[Expr, ...]:
    """The expressions of the property; none for an LTL formula, which is text."""
    match prop:
        case Invariant() | Forbidden():
            return (prop.expr,)
        case Final():
            return (prop.expr, *(expr for _, expr in prop.observed))
        case PropertyAutomaton():
            return tuple(edge.guard for edge in prop.edges)
        case _:
            return ()


def transition_expressions(transition: Transition) -> Iterator[Expr]:
    """Every expression that the transition evaluates."""
    for op in transition.ops:
        yield from op_expressions(op)
    if isinstance(transition.sync, Sync):
        yield from transition.sync.values


def reachable_locations(process: Process) -> frozenset[int]:
    """The locations that some path of the control flow leads to."""
    targets: dict[int, list[int]] = {}
    for t in process.transitions:
        targets.setdefault(t.source, []).append(t.target)
    found = {process.initial}
    waiting = [process.initial]
    while waiting:
        for target in targets.get(waiting.pop(), ()):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return frozenset(found)
