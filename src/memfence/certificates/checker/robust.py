"""Robustness under TSO: no read overtakes a store of its process such that others close a cycle back to that store.

Theorem 9: a program that is not robust has an attack (Bouajjani, Derevenetc and Meyer, "Checking and enforcing
robustness against TSO"): from a state of SC one process makes a store that stays pending, walks on alone and reads a
variable in memory; then others go on under SC, each step of them happening after that read, until one of them accesses
the variable of the pending store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from memfence.certificates.checker.abridged import ends_of
from memfence.certificates.checker.criteria import SC, TSO, require_single_stores
from memfence.certificates.checker.invariant import check_closed
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.abridged import WHOLE, Abridgement
from memfence.models.accesses import accesses
from memfence.models.state import Entry, Run, State
from memfence.models.steps import set_at, take
from memfence.program.ir import Program
from memfence.records import Record


class Chain(Record):
    """What happened after the read: where the others are, who of them took part, and what they read and wrote."""

    state: State
    members: frozenset[int]
    read: frozenset[int]
    written: frozenset[int]


def check_robust(program: Program, states: Collection[State], left_out: Abridgement = WHOLE) -> None:
    """Theorem 9: the set is closed under the steps of SC, and no attack starts in it."""
    require_single_stores(program)
    check_closed(ends_of(program, SC, left_out), states)
    seen: dict[tuple[int, int], set[Chain]] = {}
    for state in states:
        for process, _ in enumerate(program.processes):
            for step, delayed, variable in set(_overtaking(program, state, process)):
                first = Chain(state, frozenset(), frozenset({variable}), frozenset())
                if _comes_back(program, process, delayed, first, seen.setdefault((process, delayed), set())):
                    raise Refused(Condition.ATTACK, program.variables[variable].name, state=state, step=step)


def _overtaking(program: Program, state: State, process: int) -> Iterator[tuple[Run, int, int]]:
    """Walks with a pending store: the step that reads, the variable of the first store, the variable that is read.

    Of several stores to one variable only the newest is kept: that is all that the process itself sees of them.
    """
    first = (replace(state, buffers=TSO.empty_buffers(program)), -1)
    waiting, seen = [first], {first}
    while waiting:
        here, delayed = waiting.pop()
        for number, _ in program.processes[process].leaving(here.locations[process]):
            step = Run(process, number)
            after = take(program, TSO, here, step)
            if not isinstance(after, State) or not after.buffers[process][0]:
                continue
            oldest = delayed if delayed >= 0 else _variable(after.buffers[process][0][0])
            made = accesses(program, TSO, here, step)
            yield from ((step, oldest, access.variable) for access in made if access.kind == "load")
            newest = dict(map(_pair, after.buffers[process][0]))
            place = (replace(after, buffers=set_at(after.buffers, process, (tuple(sorted(newest.items())),))), oldest)
            if place not in seen:
                seen.add(place)
                waiting.append(place)


def _pair(entry: Entry) -> tuple[int, int]:
    assert entry is not None, "TSO has no separators"
    return entry


def _variable(entry: Entry) -> int:
    return _pair(entry)[0]


def _comes_back(program: Program, attacker: int, delayed: int, first: Chain, seen: set[Chain]) -> bool:
    """Whether steps of others that happen after the read lead to an access of the variable of the pending store.

    `seen`: chains from which none does, as far as they were gone through before.
    """
    waiting = [] if first in seen else [first]
    seen.add(first)
    while waiting:
        here = waiting.pop()
        for touched, after in _longer(program, attacker, here):
            if delayed in touched:
                return True
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return False


def _longer(program: Program, attacker: int, chain: Chain) -> Iterator[tuple[frozenset[int], Chain]]:
    """Each step of another process that happens after something in the chain, with the variables that it accesses."""
    for p, process in enumerate(program.processes):
        for number, _ in process.leaving(chain.state.locations[p]) if p != attacker else ():
            after = take(program, SC, chain.state, Run(p, number))
            if not isinstance(after, State):
                continue
            made = accesses(program, SC, chain.state, Run(p, number))
            written = frozenset(access.variable for access in made if access.writes_memory)
            touched = frozenset(access.variable for access in made)
            if p in chain.members or touched & chain.written or written & chain.read:
                read = chain.read | (touched - written) | {a.variable for a in made if a.kind == "load"}
                yield touched, Chain(after, chain.members | {p}, read, chain.written | written)
