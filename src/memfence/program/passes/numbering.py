"""Removing locations: everything that knows a location by its number is told the new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from memfence.program.expressions import Address, At, Expr, rewrite
from memfence.program.ir import (
    Assert,
    Assign,
    Assume,
    Final,
    Forbidden,
    Invariant,
    Load,
    Op,
    Process,
    Program,
    Property,
    PropertyAutomaton,
    Store,
    Sync,
    Transition,
    op_expressions,
)


def keep_locations(program: Program, kept: Sequence[frozenset[int]]) -> Program:
    """`program` with only the `kept` locations of each process, and only the transitions between them.

    `At` is renumbered in ops and properties; a removed location is never reached, so it just leaves the set.
    """
    if all(len(k) == len(p.locations) for k, p in zip(kept, program.processes, strict=True)):
        return program
    numbers = [{old: new for new, old in enumerate(sorted(k))} for k in kept]

    def leaf(expr: Expr) -> Expr:
        if isinstance(expr, At):
            number = numbers[expr.process]
            return At(expr.process, frozenset(number[n] for n in expr.locations if n in number))
        return expr

    def renumber(expr: Expr) -> Expr:
        return rewrite(expr, leaf)

    processes = tuple(_renumbered(p, n, renumber) for p, n in zip(program.processes, numbers, strict=True))
    properties = tuple(map_property(prop, renumber) for prop in program.properties)
    error = program.error_locations
    if error is not None:
        error = tuple(number[location] for number, location in zip(numbers, error, strict=True))
    return replace(program, processes=processes, properties=properties, error_locations=error)


def _renumbered(process: Process, number: Mapping[int, int], renumber: Callable[[Expr], Expr]) -> Process:
    transitions = tuple(
        replace(map_transition(t, renumber), source=number[t.source], target=number[t.target])
        for t in process.transitions
        if t.source in number and t.target in number
    )
    locations = tuple(process.locations[old] for old in number)
    return replace(process, locations=locations, initial=number[process.initial], transitions=transitions)


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
        case Load(register, address, when):
            return Load(register, _map_address(address, change), None if when is None else change(when))
        case Store(address, value, direct):
            return Store(_map_address(address, change), change(value), direct)
        case Assign(register, value):
            return Assign(register, change(value))
        case Assume(condition):
            return Assume(change(condition))
        case Assert(condition):
            return Assert(change(condition))
        case _:
            return op


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
