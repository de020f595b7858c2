"""Which values every register and variable of a program can take: an interval analysis to a fixpoint.

Registers are followed along the control flow of their process; a shared variable has one interval for the whole
program (any process may store at any time, and buffers only delay). Hence the result holds under every memory model.
Ascending with widening to the constants of the program, then descending: Cousot and Cousot, POPL 1977.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from heapq import heappop, heappush

from memfence.program.expressions import Const, RegisterOf, walk
from memfence.program.facts.effects import address_read, address_written
from memfence.program.facts.interval_arithmetic import EVERYTHING, Environment, Interval, hull, join_environments, meet
from memfence.program.facts.interval_transfer import (
    Place,
    Transfer,
    Values,
    domains_of,
    initial_values,
    register_place,
    variable_place,
)
from memfence.program.ir import Domain, Process, Program, Transition
from memfence.program.traversal import transition_expressions

WIDEN_AFTER = 4
"""A bound that has grown this often jumps to the next constant of the program."""

MOST_THRESHOLDS = 100
MOST_DESCENTS = 12
MOST_STORES = 40

BOUNDED = Interval(-(2**31), 2**31 - 1)

Memory = dict[Place, Interval]
"""What each variable can hold."""

Environments = list[list[Environment | None]]
"""By process and location; None where control never comes."""


def analyse_values(program: Program, domains: Mapping[Place, Domain]) -> Values:
    """Intervals with every value that any run writes, under any memory model, if values fit as `domains` say."""
    values = _analyse(program, domains, None)
    if all(BOUNDED.contains(interval) for place, interval in values.kept.items() if place[0] == "variable"):
        return values
    stores = _store_count(program)
    return values if stores is None else _analyse_few_stores(program, domains, stores)


def _analyse(program: Program, domains: Mapping[Place, Domain], memory: Memory | None) -> Values:
    """Ascend, then descend. With `memory`, every load finds its values there and what is stored has no effect."""
    values, environments = _ascend(program, domains, memory)
    for _ in range(MOST_DESCENTS):
        lower = _descend(program, domains, values, environments)
        known = lower if memory is None else Values(lower.raw, lower.kept | memory)
        if known.kept == values.kept:
            return lower
        values = known
    return lower


def _analyse_few_stores(program: Program, domains: Mapping[Place, Domain], stores: int) -> Values:
    """The values of a program none of whose runs makes more than `stores` stores.

    What the n-th store of a run writes depends on the n - 1 before it only, so that `stores` rounds are enough:
    `x := x + 1` in two processes without loops gives 0..2, where the general analysis counts without end.
    """
    start = initial_values(program, domains)
    written = Values({p: i for p, i in start.raw.items() if _is_variable(p)}, _memory(start))
    for _ in range(stores):
        before = _memory(written)
        found = _analyse(program, domains, before)
        written = Values({p: i for p, i in found.raw.items() if _is_variable(p)}, _memory(found))
        if written.kept == before:
            break
    final = _analyse(program, domains, _memory(written))
    return Values(final.raw | written.raw, final.kept | written.kept)


def _is_variable(place: Place) -> bool:
    return place[0] == "variable"


def _memory(values: Values) -> Memory:
    return {place: interval for place, interval in values.kept.items() if _is_variable(place)}


def _store_count(program: Program) -> int | None:
    """How many stores a run can make at most; None if a store lies on a cycle or there are very many."""
    count = sum(address_written(op) is not None for p in program.processes for t in p.transitions for op in t.ops)
    if count > MOST_STORES or program.error_locations is not None:
        return None
    for process in program.processes:
        for t in process.transitions:
            stores = any(address_written(op) is not None for op in t.ops)
            if stores and t.source in _flow_order(process, (t.target,)):
                return None
    return count


def _initial_environment(values: Values, process: int, count: int) -> Environment:
    return tuple(values.kept[register_place(process, n)] for n in range(count))


def _ascend(program: Program, domains: Mapping[Place, Domain], memory: Memory | None) -> tuple[Values, Environments]:
    values = initial_values(program, domains)
    values.kept |= memory or {}
    environments: Environments = [[None] * len(p.locations) for p in program.processes]
    heads = [_loop_heads(process, _entries(program, p)) for p, process in enumerate(program.processes)]
    leaving = [_leaving(process) for process in program.processes]
    thresholds = _thresholds(program)
    dependents = _dependents(program)
    growths: dict[object, int] = {}
    transfer = Transfer(program, domains, values)
    # In the order of the control flow, so that what ways have in common is looked at once all of them are.
    places = [_positions(process, _entries(program, p)) for p, process in enumerate(program.processes)]
    waiting: list[tuple[int, int, int]] = []
    queued: set[tuple[int, int]] = set()

    def wake(process: int, number: int) -> None:
        if (process, number) not in queued:
            queued.add((process, number))
            source = program.processes[process].transitions[number].source
            heappush(waiting, (places[process].get(source, 0), process, number))

    def is_restless(key: object) -> bool:
        growths[key] = growths.get(key, 0) + 1
        return growths[key] > WIDEN_AFTER

    def reach(p: int, location: int, env: Environment) -> None:
        before = environments[p][location]
        after = join_environments(before, env)
        if after is None or after == before:
            return
        if before is not None and location in heads[p] and is_restless((p, location)):
            after = tuple(_widen(old, new, thresholds) for old, new in zip(before, after, strict=True))
        environments[p][location] = after
        for number in leaving[p][location]:
            wake(p, number)

    for p, process in enumerate(program.processes):
        beginning = _initial_environment(values, p, len(process.registers))
        for location in _entries(program, p):
            reach(p, location, beginning)
    while waiting:
        _, p, number = heappop(waiting)
        queued.discard((p, number))
        transition = program.processes[p].transitions[number]
        env = environments[p][transition.source]
        if env is None:
            continue
        after, written = transfer.take(p, transition, env)
        for place, raw, kept in written:
            before = values.kept.get(place)
            if memory is not None and _is_variable(place):
                continue
            if values.add(place, raw, kept) and place in dependents:
                if before is not None and is_restless(place):
                    values.kept[place] = _widen(before, values.kept[place], thresholds)
                for reader in dependents[place]:
                    wake(*reader)
        if after is not None:
            reach(p, transition.target, after)
    return values, environments


def _descend(program: Program, domains: Mapping[Place, Domain], values: Values, environments: Environments) -> Values:
    """One round of narrowing: recompute everything from what is known; `environments` shrink in place."""
    start = initial_values(program, domains)
    lower = initial_values(program, domains)
    transfer = Transfer(program, domains, values)
    for p, process in enumerate(program.processes):
        arriving = _arriving(process)
        for location in _flow_order(process, _entries(program, p)):
            at_start = location in _entries(program, p)
            after = _initial_environment(start, p, len(process.registers)) if at_start else None
            for transition in arriving[location]:
                env = environments[p][transition.source]
                if env is not None:
                    reached, written = transfer.take(p, transition, env)
                    after = join_environments(after, reached)
                    for place, raw, kept in written:
                        lower.add(place, raw, kept)
            environments[p][location] = _meet_environments(environments[p][location], after)
    return lower


def _meet_environments(a: Environment | None, b: Environment | None) -> Environment | None:
    if a is None or b is None:
        return None
    common = tuple(meet(x, y) for x, y in zip(a, b, strict=True))
    return tuple(i for i in common if i is not None) if None not in common else None


def _leaving(process: Process) -> list[list[int]]:
    leaving: list[list[int]] = [[] for _ in process.locations]
    for number, transition in enumerate(process.transitions):
        leaving[transition.source].append(number)
    return leaving


def _arriving(process: Process) -> list[list[Transition]]:
    arriving: list[list[Transition]] = [[] for _ in process.locations]
    for transition in process.transitions:
        arriving[transition.target].append(transition)
    return arriving


def _entries(program: Program, process: int) -> tuple[int, ...]:
    """Where control can come from outside: the initial location, and where a run goes on after an error."""
    initial = program.processes[process].initial
    error = program.error_locations
    return (initial,) if error is None or error[process] == initial else (initial, error[process])


def _flow_order(process: Process, entries: tuple[int, ...]) -> list[int]:
    """The reachable locations, each before its successors except along loops (reverse postorder)."""
    targets: list[list[int]] = [[] for _ in process.locations]
    for transition in process.transitions:
        targets[transition.source].append(transition.target)
    order: list[int] = []
    seen: set[int] = set()
    for entry in reversed(entries):
        stack = [] if entry in seen else [(entry, iter(targets[entry]))]
        seen.add(entry)
        while stack:
            location, following = stack[-1]
            target = next(following, None)
            if target is None:
                order.append(location)
                stack.pop()
            elif target not in seen:
                seen.add(target)
                stack.append((target, iter(targets[target])))
    return order[::-1]


def _positions(process: Process, entries: tuple[int, ...]) -> dict[int, int]:
    return {location: n for n, location in enumerate(_flow_order(process, entries))}


def _loop_heads(process: Process, entries: tuple[int, ...]) -> frozenset[int]:
    """Locations such that every cycle of the control flow goes through one of them."""
    position = _positions(process, entries)
    return frozenset(
        t.target for t in process.transitions if t.source in position and position[t.target] <= position[t.source]
    )


def _dependents(program: Program) -> dict[Place, list[tuple[int, int]]]:
    """The transitions (process, number) that read each variable, channel slot or register of another process."""
    found: dict[Place, list[tuple[int, int]]] = {}
    for p, process in enumerate(program.processes):
        for number, transition in enumerate(process.transitions):
            for place in _reads(transition):
                found.setdefault(place, []).append((p, number))
    return found


def _reads(transition: Transition) -> Iterator[Place]:
    for op in transition.ops:
        if (address := address_read(op)) is not None:
            yield from (variable_place(address.base + n) for n in range(address.size))
    for expr in transition_expressions(transition):
        for leaf in walk(expr):
            if isinstance(leaf, RegisterOf):
                yield register_place(leaf.process, leaf.register)
    if transition.sync is not None and not transition.sync.sends:
        for position in range(len(transition.sync.registers)):
            yield ("channel", transition.sync.channel, position)


def _thresholds(program: Program) -> list[int]:
    """Where widening stops for a moment: the constants of the program and their neighbours."""
    found = {0}
    for process in program.processes:
        for transition in process.transitions:
            for expr in transition_expressions(transition):
                found |= {leaf.value for leaf in walk(expr) if isinstance(leaf, Const)}
    for domain in domains_of(program).values():
        if domain.overflow != "undeclared":
            found |= {domain.lo, domain.hi}
    near = sorted({c + d for c in found for d in (-1, 0, 1)})
    step = -(-len(near) // MOST_THRESHOLDS)
    return near[::step]


def _widen(old: Interval, new: Interval, thresholds: list[int]) -> Interval:
    """An interval around both; a bound that moved goes to the next threshold, or to infinity past the last."""
    both = hull(old, new)
    lo, hi = both
    if lo < old.lo:
        below = bisect_right(thresholds, lo)
        lo = thresholds[below - 1] if below else EVERYTHING.lo
    if hi > old.hi:
        above = bisect_left(thresholds, hi)
        hi = thresholds[above] if above < len(thresholds) else EVERYTHING.hi
    return Interval(lo, hi)
