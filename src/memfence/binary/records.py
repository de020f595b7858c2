"""What the runtime reports, line by line, as values. Addresses are numbers here; `places` finds their names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from memfence.binary.endings import ending_text
from memfence.records import Record

StepKind = Literal["load", "store", "rmw", "fence", "call", "begin", "end", "failure", "flush"]
"""`flush`: a store leaves the buffer. `call`: of a function that synchronises, or of free."""


class RawStep(Record):
    """One step of a thread. `cell` numbers shared memory; `more`: all cells, of a step that touches several.
    `calls`: return addresses, innermost first."""

    thread: int
    kind: StepKind
    address: int | None = None
    size: int = 0
    cell: int | None = None
    value: int | None = None
    pc: int | None = None
    name: str | None = None
    is_atomic: bool = False
    spins: bool = False
    is_locked: bool = False
    is_spurious: bool = False
    calls: tuple[int, ...] = ()
    more: tuple[int, ...] = ()
    is_load: bool = False
    event: int | None = None


class GraphEvent(Record):
    """An event of an execution graph, in an order in which they can happen. `kind`: R, W, F for a fence, C for a
    choice. `order`: bits of the core (graphs/action.hpp). `source`: thread and number of the write that a read reads
    from; None: the initial one, or none yet since it waits. `place`: of a write, in the order of its location."""

    thread: int
    number: int
    kind: str
    order: int
    is_update: bool
    location: int
    value: int
    source: tuple[int, int] | None
    waits: bool
    place: int


class RawConfirmation(Record):
    """The execution under store buffers that goes wrong; `kind` None: none of the attempts did."""

    attempts: int
    kind: str | None = None
    message: str = ""
    thread: int | None = None
    schedule: tuple[int, ...] = ()
    steps: tuple[RawStep, ...] = ()
    waiting: tuple[RawStep, ...] = ()


class RawFinding(Record):
    """`waiting`: what each thread that is alive would do next. `missed`: for a borderline execution, the number of the
    step whose store the next load of `reader` could miss."""

    kind: str
    schedule: tuple[int, ...]
    steps: tuple[RawStep, ...]
    waiting: tuple[RawStep, ...]
    executions: int = 1
    message: str = ""
    thread: int | None = None
    reader: int | None = None
    missed: int | None = None
    confirmation: RawConfirmation | None = None
    given: tuple[int, ...] = ()
    graph: tuple[GraphEvent, ...] = ()
    race: tuple[tuple[int, int], tuple[int, int]] | None = None


class KeptGraph(Record):
    """An execution, whatever it shows; `ends`: every thread does."""

    graph: tuple[GraphEvent, ...]
    fails: bool
    races: bool
    ends: bool


class Layout(Record):
    """What a schedule refers to: threads by parent and number, shared cells, loads in loops that wait. `unguarded`:
    cells that are not written under some mutex only; 0: the mutex is tried."""

    load_address: int = 0
    threads: tuple[tuple[int, int], ...] = ()
    cells: tuple[tuple[int, int], ...] = ()
    loops: tuple[int, ...] = ()
    unguarded: tuple[tuple[int, int], ...] = ()


class RunCounts(Record):
    """Numbers of executions, and whether all were run. `dropped`: those in which an assumption is false.
    `more_wake_ups`, `more_failures`: without a signal, and of weak compare-exchanges for no reason, there could have
    been more than were asked for. `acquires`: every atomic read did, of executions as graphs."""

    executions: int = 0
    borderline: int = 0
    failing: int = 0
    deadlocked: int = 0
    truncated: int = 0
    confirmed: int = 0
    dropped: int = 0
    redundant: int = 0
    cut: int = 0
    steps: int = 0
    reduced: bool = False
    restarts: int = 0
    out_of_time: bool = False
    spins_roughly: bool = False
    more_wake_ups: bool = False
    more_failures: bool = False
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    threads: int = 0
    acquires: bool = False


class RawLeak(Record):
    """Memory that is never freed: who allocated it, how much, and an execution that shows it."""

    pc: int
    bytes: int
    schedule: tuple[int, ...]


class Replayed(Record):
    """A schedule that was run again: `taken` of its `of` steps were possible. `kind`: what it shows, if anything; for a
    borderline execution, `reader` could load a stale value next. `has_overlooked`: threads share memory that the
    schedule does not know of, so that it is none of this program."""

    taken: int
    of: int
    load_address: int
    steps: tuple[RawStep, ...]
    waiting: tuple[RawStep, ...]
    kind: str | None = None
    message: str = ""
    thread: int | None = None
    reader: int | None = None
    has_overlooked: bool = False
    leaks: tuple[RawLeak, ...] = ()


class RunProgress(Record):
    """How far the exploration is."""

    executions: int
    steps: int
    depth: int
    seconds: float


class RawRace(Record):
    """Two plain accesses of one variable, one of them a store, that nothing orders."""

    first: RawStep
    second: RawStep


class Hunt(Record):
    """Executions with simulated store buffers, and the one that went wrong, if any did. `is_complete`: these are all of
    them; else some at random."""

    confirmation: RawConfirmation
    is_complete: bool = False


class Fault(Record):
    """The runtime itself could not go on."""

    message: str


RunRecord = Layout | RawFinding | KeptGraph | RawRace | RawLeak | Hunt | RunCounts | Replayed | RunProgress | Fault


def read_records(lines: Iterable[bytes]) -> Iterator[RunRecord]:
    """Every record; lines that are none, as of a process that was killed, are left out."""
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        yield _record(record)


def _record(record: dict[str, Any]) -> RunRecord:
    match record["record"]:
        case "layout":
            threads, cells, unguarded = (
                tuple(tuple(pair) for pair in record[name]) for name in ("threads", "cells", "unguarded")
            )
            return Layout(record["load_address"], threads, cells, tuple(record["loops"]), unguarded)
        case "finding":
            return _finding(record)
        case "graph":
            (a, b), (c, d) = record.get("race", ((0, 0), (0, 0)))
            return RawFinding(
                record["kind"], tuple(record["steps"]), _steps(record["events"]), _steps(record["waiting"]),
                record["executions"], _message(record), record.get("thread"), given=tuple(record["given"]),
                graph=_graph(record["graph"]),
                race=((a, b), (c, d)) if "race" in record else None,
            )  # fmt: skip
        case "execution":
            ends = not (record["waits"] or record["is_void"] or record["is_cut"])
            return KeptGraph(_graph(record["graph"]), record["failed"], record["races"], ends)
        case "hunt":
            return Hunt(_confirmation(record["confirmation"]), record["complete"])
        case "race":
            return RawRace(_step(record["first"]), _step(record["second"]))
        case "leak":
            return _leak(record)
        case "replayed":
            return _replayed(record)
        case "progress":
            return RunProgress(record["executions"], record["steps"], record["depth"], record["seconds"])
        case "counts":
            return RunCounts(**{name: value for name, value in record.items() if name != "record"})
        case _:
            return Fault(str(record.get("message")))


def _finding(record: dict[str, Any]) -> RawFinding:
    inner = record.get("confirmation")
    return RawFinding(
        record["kind"],
        tuple(record["steps"]),
        _steps(record["events"]),
        _steps(record["waiting"]),
        record["executions"],
        _message(record),
        record.get("thread"),
        record.get("reader"),
        record.get("missed"),
        None if inner is None else _confirmation(inner),
    )


def _message(record: dict[str, Any]) -> str:
    return ending_text(
        record.get("kind", ""), record.get("function"), record.get("status", 0), record.get("message", "")
    )


def _leak(record: dict[str, Any]) -> RawLeak:
    return RawLeak(record["pc"], record["bytes"], tuple(record["steps"]))


def _replayed(record: dict[str, Any]) -> Replayed:
    return Replayed(
        record["taken"],
        record["of"],
        record["load_address"],
        _steps(record["events"]),
        _steps(record["waiting"]),
        record.get("kind"),
        _message(record),
        record.get("thread"),
        record.get("reader"),
        record["overlooked"],
        tuple(map(_leak, record["leaks"])),
    )


def _confirmation(record: dict[str, Any]) -> RawConfirmation:
    return RawConfirmation(
        record["attempts"],
        record.get("kind"),
        _message(record),
        record.get("thread"),
        tuple(record.get("steps", ())),
        _steps(record.get("events", ())),
        _steps(record.get("waiting", ())),
    )


def _steps(events: Iterable[dict[str, Any]]) -> tuple[RawStep, ...]:
    return tuple(_step(event) for event in events)


KINDS = {1: "R", 2: "W", 3: "F", 4: "C"}
"""Numbers of `ActionKind` in the core."""
_NONE_YET = -2


def _graph(rows: Iterable[list[int]]) -> tuple[GraphEvent, ...]:
    return tuple(
        GraphEvent(
            thread, number, KINDS[kind], order, bool(update), location, value,
            (of, source) if of >= 0 else None, of == _NONE_YET, place,
        )
        for thread, number, kind, order, update, location, value, of, source, place in rows
    )  # fmt: skip


LOAD = 0
LOCKED = frozenset((2, 3, 4))
"""Numbers of `AccessKind` in the core: load; locked load, locked store, direct store."""


def _step(event: dict[str, Any]) -> RawStep:
    return RawStep(
        event["t"],
        event["k"],
        event.get("a"),
        event.get("s", 0),
        event.get("n"),
        event.get("v"),
        event.get("pc"),
        event.get("name"),
        event.get("atomic", False),
        event.get("spins", False),
        event["op"] in LOCKED,
        event.get("spurious", False),
        tuple(event["calls"]),
        tuple(event.get("more", ())),
        event["op"] == LOAD,
        event.get("e"),
    )
