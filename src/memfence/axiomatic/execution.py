"""One execution of unrolled code: what happened, who read whom, and in which order writes reached each variable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from memfence.axiomatic.code import Code
from memfence.records import Record

Place = tuple[int, int]
"""An item: thread and position in it. Initial writes are `(-1, variable)`."""


class Decisions(Record):
    """What determines an execution, as an enumeration or a solver chooses it.

    `initial`: the values that memory starts with. `chosen`: the value of every `Choose` that matters. `read_from`: the
    write of every read that happened, and `values` what it saw there: a value may come from itself, where a model
    allows that. `order`: for each variable its writes, the initial one first.
    """

    initial: tuple[int, ...]
    chosen: Mapping[Place, int]
    read_from: Mapping[Place, Place]
    order: Mapping[int, tuple[Place, ...]]
    values: Mapping[Place, int] = field(default_factory=dict)


class Happened(Record):
    """An event of an execution: the variable that it accessed and the value that it read or wrote (None: a fence)."""

    place: Place
    variable: int | None
    value: int | None


class Execution(Record):
    """`decisions` carried out: made by `axiomatic.replay` alone, so that whoever has one knows that the code does this.

    `events`: initial writes first, then thread by thread in program order. `failed`: the checks that failed; `cut`: the
    cuts that were reached; `waiting`: the waits where a thread stopped. `memory` and `registers`: the last values;
    `ended`: whether all threads have ended.
    """

    code: Code
    decisions: Decisions
    events: tuple[Happened, ...]
    failed: tuple[Place, ...]
    cut: tuple[Place, ...]
    waiting: tuple[Place, ...]
    memory: tuple[int, ...]
    registers: tuple[tuple[int, ...], ...]
    ended: bool
