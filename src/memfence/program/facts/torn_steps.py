"""Steps that a store buffer can tear apart: their stores do not all reach memory at one moment."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.program.ir import Program, Store, Transition


def processes_with_torn_steps(program: Program) -> tuple[str, ...]:
    """The processes with a step that makes several stores, one of them by way of the buffer.

    The two sides of a rendezvous are one step. What a locked step stores reaches memory at once.
    """
    return tuple(
        process.name
        for number, process in enumerate(program.processes)
        if any(_is_torn(t, partners) for t, partners in _with_partners(program, number))
    )


def _with_partners(program: Program, number: int) -> Iterator[tuple[Transition, list[Transition]]]:
    for transition in program.processes[number].transitions:
        others = (t for q, process in enumerate(program.processes) if q != number for t in process.transitions)
        yield transition, [other for other in others if _meet(transition, other)]


def _meet(a: Transition, b: Transition) -> bool:
    return (
        a.sync is not None and b.sync is not None and a.sync.channel == b.sync.channel and a.sync.sends != b.sync.sends
    )


def _is_torn(transition: Transition, partners: list[Transition]) -> bool:
    mine, buffered = _stores(transition), _buffered_stores(transition)
    most = max((_stores(partner) for partner in partners), default=0)
    return buffered > 0 and mine + most > 1


def _stores(transition: Transition) -> int:
    return sum(isinstance(op, Store) for op in transition.ops)


def _buffered_stores(transition: Transition) -> int:
    return 0 if transition.locked else sum(isinstance(op, Store) and not op.direct for op in transition.ops)
