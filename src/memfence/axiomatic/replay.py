"""Decisions, carried out: the only maker of executions, so that whoever has one knows that the code does this."""

from __future__ import annotations

from memfence.axiomatic.code import Code, Read, Write
from memfence.axiomatic.execution import Decisions, Execution, Happened, Place
from memfence.axiomatic.thread_run import Did, NotAnExecution, ThreadRun, choose_as, look_up, run_thread

__all__ = ["NotAnExecution", "carry_out", "runs_of"]


def carry_out(code: Code, decisions: Decisions) -> Execution:
    """The execution that `decisions` determine.

    NotAnExecution where there is none: reads without a write of their value, orders that leave out a write, halves of a
    read-modify-write at different variables, choices that turn out wrong, or values that the code does not compute.
    Whether a memory model allows the execution is another question.
    """
    _require_initial(code, decisions)
    runs = runs_of(code, decisions)
    events = (*_initial(decisions), *_happened(runs))
    _require_read_from(decisions, events, runs)
    _require_order(code, decisions, events)
    for run in runs:
        _require_pairs(run)
        if run.contradicted:
            raise NotAnExecution(f"a choice turns out wrong at {run.contradicted[0]}")
    values = {event.place: event.value for event in events}
    memory = tuple(values[decisions.order[v][-1]] or 0 for v in range(len(code.program.variables)))
    return Execution(
        code,
        decisions,
        events,
        failed=_places(runs, [run.failed for run in runs]),
        cut=_places(runs, [run.cut for run in runs]),
        waiting=_places(runs, [tuple(at.position for at in run.waiting) for run in runs]),
        memory=memory,
        registers=tuple(run.registers for run in runs),
        ended=all(run.ended for run in runs),
    )


def runs_of(code: Code, decisions: Decisions) -> tuple[ThreadRun, ...]:
    """What each thread does, given what is decided; nothing is compared between threads."""
    return tuple(
        run_thread(
            thread,
            look_up({position: value for (t, position), value in decisions.values.items() if t == number}),
            choose_as({position: value for (t, position), value in decisions.chosen.items() if t == number}),
        )
        for number, thread in enumerate(code.threads)
    )


def _initial(decisions: Decisions) -> tuple[Happened, ...]:
    return tuple(Happened((-1, variable), variable, value) for variable, value in enumerate(decisions.initial))


def _happened(runs: tuple[ThreadRun, ...]) -> tuple[Happened, ...]:
    return tuple(Happened((t, did.position), did.variable, did.value) for t, run in enumerate(runs) for did in run.did)


def _places(runs: tuple[ThreadRun, ...], positions: list[tuple[int, ...]]) -> tuple[Place, ...]:
    return tuple((thread, position) for thread, found in enumerate(positions) for position in found)


def _require_initial(code: Code, decisions: Decisions) -> None:
    variables = code.program.variables
    if len(decisions.initial) != len(variables):
        raise NotAnExecution(f"{len(decisions.initial)} initial values for {len(variables)} variables")
    for variable, value in zip(variables, decisions.initial, strict=True):
        if value not in variable.init:
            raise NotAnExecution(f"{variable.name} does not start with {value}")


def _require_read_from(decisions: Decisions, events: tuple[Happened, ...], runs: tuple[ThreadRun, ...]) -> None:
    happened = {event.place: event for event in events}
    writes = {(t, did.position) for t, run in enumerate(runs) for did in run.did if isinstance(did.item, Write)}
    reads = {(t, did.position) for t, run in enumerate(runs) for did in run.did if isinstance(did.item, Read)}
    if reads != decisions.read_from.keys():
        raise NotAnExecution(f"read-from is about {sorted(decisions.read_from)}, the reads are {sorted(reads)}")
    for read, write in decisions.read_from.items():
        if write not in writes and write[0] != -1:
            raise NotAnExecution(f"{read} reads from {write}, where nothing was written")
        seen, written = happened[read], happened[write]
        if (seen.variable, seen.value) != (written.variable, written.value):
            raise NotAnExecution(f"{seen} reads from {written}")


def _require_order(code: Code, decisions: Decisions, events: tuple[Happened, ...]) -> None:
    for variable in range(len(code.program.variables)):
        writes = [e.place for e in events if e.variable == variable and _is_write(code, e.place)]
        order = decisions.order.get(variable, ())
        if sorted(order) != sorted(writes) or order[0] != (-1, variable):
            raise NotAnExecution(f"the writes to {variable} are {writes}, not {order}, the initial one first")


def _is_write(code: Code, place: Place) -> bool:
    thread, position = place
    return thread == -1 or isinstance(code.threads[thread].items[position], Write)


def _require_pairs(run: ThreadRun) -> None:
    """A write that belongs to a read follows it at the same variable, and no other write belongs to that."""
    reads: dict[int, Did] = {}
    for did in run.did:
        if isinstance(did.item, Read):
            reads[did.position] = did
        elif isinstance(did.item, Write) and did.item.reads_by is not None:
            read = reads.pop(did.item.reads_by, None)
            if read is None or read.variable != did.variable:
                raise NotAnExecution(f"the write at {did.position} has no read of its own")
