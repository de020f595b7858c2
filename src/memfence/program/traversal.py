"""Walking over what a program consists of: the expressions of a step or property, and the same with them changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from memfence.program import ir
from memfence.program.expressions import Address, Expr
from memfence.program.facts.effects import op_expressions


def map_transitions(
    transitions: Collection[ir.Transition], change: Callable[[Expr], Expr]
) -> tuple[ir.Transition, ...]:
    """The transitions with every expression changed. Ops that are one object (`ProcessBuilder`) stay one."""
    distinct = {id(op): op for transition in transitions for op in transition.ops}
    changed = {number: map_op(op, change) for number, op in distinct.items()}
    return tuple([_with_ops(t, tuple([changed[id(op)] for op in t.ops]), change) for t in transitions])


def map_transition(transition: ir.Transition, change: Callable[[Expr], Expr]) -> ir.Transition:
    """The transition with every expression changed."""
    return _with_ops(transition, tuple(map_op(op, change) for op in transition.ops), change)


def _with_ops(transition: ir.Transition, ops: tuple[ir.Op, ...], change: Callable[[Expr], Expr]) -> ir.Transition:
    sync = transition.sync
    if sync is not None:
        sync = replace(sync, values=tuple(change(value) for value in sync.values))
    return replace(transition, ops=ops, sync=sync)


def map_op(op: ir.Op, change: Callable[[Expr], Expr]) -> ir.Op:
    """The op with every expression changed."""
    match op:
        case ir.Load(_, address, when):
            return replace(op, address=_map_address(address, change), when=None if when is None else change(when))
        case ir.Store(address, value, when=when):
            when = None if when is None else change(when)
            return replace(op, address=_map_address(address, change), value=change(value), when=when)
        case ir.Rmw(_, address, _, operand, expected):
            expected = None if expected is None else change(expected)
            return replace(op, address=_map_address(address, change), operand=change(operand), expected=expected)
        case ir.Assign(register, value):
            return ir.Assign(register, change(value))
        case ir.Assume(condition):
            return ir.Assume(change(condition))
        case ir.Assert(condition, error):
            return ir.Assert(change(condition), error)
        case ir.Fence() | ir.Lock() | ir.Unlock():
            return op
        case _:
            assert_never(op)


def _map_address(address: Address, change: Callable[[Expr], Expr]) -> Address:
    return Address(address.base, address.size, change(address.index))


def map_property(prop: ir.Property, change: Callable[[Expr], Expr]) -> ir.Property:
    """The property with every expression changed; LTL formulas are text and stay."""
    match prop:
        case ir.Invariant() | ir.Forbidden():
            return replace(prop, expr=change(prop.expr))
        case ir.Final():
            return replace(prop, expr=change(prop.expr), observed=tuple((name, change(e)) for name, e in prop.observed))
        case ir.PropertyAutomaton():
            return replace(prop, edges=tuple(replace(edge, guard=change(edge.guard)) for edge in prop.edges))
        case _:
            return prop


def property_expressions(prop: ir.Property) -> tuple[Expr, ...]:
    """The expressions of the property; none for an LTL formula, which is text."""
    match prop:
        case ir.Invariant() | ir.Forbidden():
            return (prop.expr,)
        case ir.Final():
            return (prop.expr, *(expr for _, expr in prop.observed))
        case ir.PropertyAutomaton():
            return tuple(edge.guard for edge in prop.edges)
        case _:
            return ()


def distinct_ops(*processes: ir.Process) -> Iterable[ir.Op]:
    """Every op of the processes; those that are one object (`ProcessBuilder`) once."""
    return {id(op): op for process in processes for t in process.transitions for op in t.ops}.values()


def transition_expressions(transition: ir.Transition) -> Iterator[Expr]:
    """Every expression that the transition evaluates."""
    for op in transition.ops:
        yield from op_expressions(op)
    if isinstance(transition.sync, ir.Sync):
        yield from transition.sync.values


def reachable_locations(process: ir.Process) -> frozenset[int]:
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
