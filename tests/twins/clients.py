"""What clients of small objects can see, by the definition: every interleaving of steps, with or without store buffers.

An object has two atomic variables; an operation is a list of steps on them, and returns the sum of what it has read.
Shares nothing with the package: neither its clients, nor their programs, nor a search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

Kind = Literal["load", "store", "store_sc", "add"]


@dataclass(frozen=True)
class Access:
    """`load` adds to what is returned; `store` writes later, `store_sc` at once; `add` is one atomic step."""

    kind: Kind
    variable: int
    value: int = 0


Operation = tuple[Access, ...]
Outcome = tuple[int, ...]
Calls = tuple[tuple[int, ...], ...]
"""For each thread the operations that it calls."""


def serial_outcomes(operations: tuple[Operation, ...], calls: Calls) -> set[Outcome]:
    """What the calls return one after the other, thread by thread, and both variables at the end."""
    slots = [thread for thread, called in enumerate(calls) for _ in called]
    return {_in_order(operations, calls, order) for order in set(permutations(slots))}


def _in_order(operations: tuple[Operation, ...], calls: Calls, order: tuple[int, ...]) -> Outcome:
    memory, returned = [0, 0], [[] for _ in calls]  # type: tuple[list[int], list[list[int]]]
    for thread in order:
        result = 0
        for access in operations[calls[thread][len(returned[thread])]]:
            if access.kind in ("load", "add"):
                result += memory[access.variable]
            if access.kind == "add":
                memory[access.variable] += access.value
            elif access.kind != "load":
                memory[access.variable] = access.value
        returned[thread].append(result)
    return (*(value for values in returned for value in values), *memory)


@dataclass(frozen=True)
class _State:
    """`at[t]`: the call and the step that comes next; `buffers[t]`: pending stores, oldest first."""

    at: tuple[tuple[int, int], ...]
    results: tuple[tuple[int, ...], ...]
    memory: tuple[int, int]
    buffers: tuple[tuple[tuple[int, int], ...], ...]


def concurrent_outcomes(operations: tuple[Operation, ...], calls: Calls, *, buffered: bool) -> set[Outcome]:
    """What the calls can return when they are made at once: under SC, or under TSO where stores are `buffered`."""
    start = _State(
        tuple((0, 0) for _ in calls), tuple((0,) * len(called) for called in calls), (0, 0), tuple(() for _ in calls)
    )
    seen, waiting, found = {start}, [start], set()
    while waiting:
        state = waiting.pop()
        following = [
            after for thread in range(len(calls)) for after in _steps(operations, calls, state, thread, buffered)
        ]
        if not following:
            found.add((*(value for values in state.results for value in values), *state.memory))
        for after in following:
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return found


def _steps(
    operations: tuple[Operation, ...], calls: Calls, state: _State, thread: int, buffered: bool
) -> Iterator[_State]:
    pending = state.buffers[thread]
    if pending:
        memory = list(state.memory)
        memory[pending[0][0]] = pending[0][1]
        yield _changed(state, thread, memory=(memory[0], memory[1]), buffer=pending[1:])
    call, step = state.at[thread]
    if call == len(calls[thread]):
        return
    operation = operations[calls[thread][call]]
    access = operation[step]
    after = (call, step + 1) if step + 1 < len(operation) else (call + 1, 0)
    drains = access.kind == "add" or access.kind == "store_sc"
    if drains and pending:
        return
    own = next((value for variable, value in reversed(pending) if variable == access.variable), None)
    value = state.memory[access.variable] if own is None else own
    if access.kind == "store" and buffered:
        yield _changed(state, thread, at=after, buffer=(*pending, (access.variable, access.value)))
        return
    memory = list(state.memory)
    read = value if access.kind in ("load", "add") else 0
    if access.kind != "load":
        memory[access.variable] = value + access.value if access.kind == "add" else access.value
    yield _changed(state, thread, at=after, memory=(memory[0], memory[1]), read=(call, read))


def _changed(
    state: _State,
    thread: int,
    *,
    at: tuple[int, int] | None = None,
    memory: tuple[int, int] | None = None,
    buffer: tuple[tuple[int, int], ...] | None = None,
    read: tuple[int, int] = (0, 0),
) -> _State:
    def put(values: tuple, value: object) -> tuple:  # type: ignore[type-arg]
        return (*values[:thread], value, *values[thread + 1 :])

    call, value = read
    results = list(state.results[thread])
    results[call] += value
    return _State(
        state.at if at is None else put(state.at, at),
        put(state.results, tuple(results)),
        state.memory if memory is None else memory,
        state.buffers if buffer is None else put(state.buffers, buffer),
    )
