"""The executions of a program, run by all machines of a cluster: each processor takes a part of the tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import fields, replace

from memfence.cluster.jobs import JobLost, each, processors
from memfence.cluster.session import connected
from memfence.engines.native.stateless import Asked, Counts, Explored, Ran, encode_for_exploration, explored, run_part
from memfence.program.ir import Program
from memfence.records import Record
from memfence.tasks.limits import Limits, Stop


class Errand(Record):
    """All that another machine needs to know: which part of which executions, and for how long."""

    program: Program
    asked: Asked
    part: int
    parts: int
    seconds: float | None


def explore_everywhere(address: str, program: Program, asked: Asked, limits: Limits) -> Explored:
    """What `explore` finds, by all processors of the cluster. A part that is lost leaves it incomplete."""
    encoded = encode_for_exploration(program, fuse=asked.fuse)  # a program that is too large is refused here
    with connected(address):
        parts = processors(address)
        errands = [Errand(program, asked, part, parts, limits.seconds) for part in range(parts)]
        with closing(each(address, run_errand, errands)) as answers:
            return explored(program, encoded, joined(list(_until_found(answers, asked)), asked))


def run_errand(errand: Errand) -> Ran:
    """On another machine: what its part comes to."""
    encoded = encode_for_exploration(errand.program, fuse=errand.asked.fuse)
    limits = Limits(timeout_seconds=errand.seconds)
    return run_part(encoded, errand.asked, limits, errand.part, errand.parts)


def _until_found(answers: Iterable[Ran | JobLost], asked: Asked) -> Iterable[Ran | JobLost]:
    for answer in answers:
        yield answer
        if asked.stop_at_first and isinstance(answer, Ran) and answer.stop is Stop.FOUND:
            return


def joined(answers: Sequence[Ran | JobLost], asked: Asked) -> Ran:
    """All parts as one exploration; of what they found the shortest, of the first part with one that short.

    Of a part that was lost nothing is known.
    """
    parts = [answer for answer in answers if isinstance(answer, Ran)]
    if not parts:
        return _nothing(asked)
    stops = {part.stop for part in parts} - {Stop.NOTHING_LEFT} | ({Stop.LOST} if len(parts) < len(answers) else set())
    findings = [part.finding for part in parts if part.finding is not None]
    failures = [part.failure for part in parts if part.failure is not None]
    stuck = [part.stuck for part in parts if part.stuck is not None]
    return Ran(
        Stop.FOUND if Stop.FOUND in stops else min(stops, key=lambda stop: stop.value, default=Stop.NOTHING_LEFT),
        parts[0].reduced,
        _added([part.counts for part in parts]),
        tuple(execution for part in parts for execution in part.executions)[: asked.keep],
        min(findings, key=lambda found: len(found.schedule.edges), default=None),
        min(failures, key=lambda schedule: len(schedule.edges), default=None),
        min(stuck, key=lambda schedule: len(schedule.edges), default=None),
    )


def _added(counts: Sequence[Counts]) -> Counts:
    """The parts ran at the same time: what one was first to find came first of all."""
    numbers = {
        one.name: sum(getattr(part, one.name) for part in counts)
        for one in fields(Counts)
        if one.name not in ("seconds", "first_borderline_seconds", "first_failure_seconds", "monitored")
    }
    return replace(
        counts[0],
        **numbers,
        seconds=max(part.seconds for part in counts),
        first_borderline_seconds=_first(part.first_borderline_seconds for part in counts),
        first_failure_seconds=_first(part.first_failure_seconds for part in counts),
    )


def _first(seconds: Iterable[float | None]) -> float | None:
    return min((one for one in seconds if one is not None), default=None)


def _nothing(asked: Asked) -> Ran:
    counts = Counts(0, 0, 0, 0, 0, 0, 0, 0, 0.0, None, None, asked.monitor)
    return Ran(Stop.LOST, False, counts, (), None, None, None)
