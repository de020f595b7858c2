"""Stateless exploration: are all SC executions correct, and is none of them borderline (Sober, section 3)?

Both together prove the program correct on hardware with store buffers: a store-buffer safe program has no other
executions there (Theorem 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import field, replace

from memfence.cluster.session import connected
from memfence.deadline import Deadline
from memfence.engines.cluster.executions import explore_everywhere
from memfence.engines.native.stateless import (
    Asked,
    Counts,
    Execution,
    Explored,
    encode_for_exploration,
    explored,
    run_part,
)
from memfence.execution.borderline_run import StaleRead
from memfence.execution.recording import TraceEvent
from memfence.execution.schedule import FindingKind, Replayable, is_deadlock
from memfence.execution.trace import Trace
from memfence.program.ir import NoDeadlock, Program
from memfence.records import Record
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.options import Progress
from memfence.tasks.shown import Shown

DEFAULT_DEPTH = 1_000
MOST_SAVED = 1_000
"""Executions that can be saved as traces, unless more are asked for."""


class ExploreOptions(Record, kw_only=True):
    """Every option of `memfence explore`, under the same name.

    `save`: how many executions to keep as traces. `cluster`: `local`, `local:N` or the address of a Ray cluster; each
    processor takes a part of the executions.
    """

    preemptions: int | None = None
    depth: int = DEFAULT_DEPTH
    monitor: bool = True
    first: bool = False
    timing: bool = False
    save: int = 0
    timeout_seconds: float | None = None
    cluster: str | None = None
    progress: Progress | None = field(default=None, compare=False)
    deadline: Deadline | None = field(default=None, compare=False)

    @property
    def limits(self) -> Limits:
        return Limits(deadline=self.deadline or Deadline(self.timeout_seconds), progress=self.progress)


class ExploreFinding(Record):
    """`schedule` is the SC run; for a borderline execution `trace` is the TSO run that no SC run has the trace of, and
    `reader` the process that reads the `stale` values there."""

    kind: FindingKind
    schedule: Trace
    trace: Trace | None = None
    reader: int | None = None
    stale: tuple[StaleRead, ...] = ()

    @property
    def replayable(self) -> Replayable:
        return Replayable(self.kind, self.trace or self.schedule)


class Iteration(Record):
    """One exploration, with at most `preemptions` of them (None: no bound); `seconds_alone`: without the monitor."""

    preemptions: int | None
    counts: Counts
    complete: bool
    seconds_alone: float | None = None


class ExploreResult(Shown, Record, repr=False):
    """The answer. `bound`: the bound on preemptions that the verdict is subject to; `depth`: that on steps, if it was
    met. `iterations` has one entry a bound tried, the last one being what the verdict speaks of. `executions`: those
    to be saved; `events` gives the trace of one."""

    program: Program
    verdict: Verdict
    findings: tuple[ExploreFinding, ...]
    iterations: tuple[Iteration, ...]
    reduced: bool
    bound: int | None
    depth: int | None
    stop: Stop
    limits: Limits
    _last: Explored

    @property
    def executions(self) -> tuple[Execution, ...]:
        return self._last.executions

    def events(self, execution: Execution) -> tuple[TraceEvent, ...]:
        """The execution as a memory trace."""
        return self._last.events(execution)

    @property
    def counts(self) -> Counts:
        return self.iterations[-1].counts


def explore(program: Program, options: ExploreOptions | None = None) -> ExploreResult:
    """Run the SC executions of `program` and monitor each of them.

    With `preemptions` the bound grows from 0; a bound that forbids nothing any more ends it. HOLDS only if every class
    of executions was run to its end.
    """
    options = options or ExploreOptions()
    limits = options.limits
    done: list[tuple[Explored, Iteration]] = []
    with nullcontext() if options.cluster is None else connected(options.cluster):
        for bound in _bounds(options):
            ran = _explore(program, options, bound, limits)
            done.append((ran, Iteration(bound, ran.counts, ran.complete)))
            if _is_last(ran, options):
                break
        if options.timing:
            done = [(ran, _timed(program, options, iteration, limits)) for ran, iteration in done]
    last, iteration = done[-1]
    findings = tuple(_findings(last))
    stop = last.stop
    verdict = Verdict.HOLDS if last.complete else Verdict.HOLDS_UP_TO if stop is Stop.NOTHING_LEFT else Verdict.UNKNOWN
    return ExploreResult(
        program,
        Verdict.VIOLATED if findings else verdict,
        findings,
        tuple(iteration for _, iteration in done),
        last.reduced,
        None if last.complete else iteration.preemptions,
        options.depth if last.counts.truncated else None,
        Stop.NOTHING_LEFT if stop is Stop.FOUND else stop,
        limits,
        last,
    )


def _bounds(options: ExploreOptions) -> Iterator[int | None]:
    if options.preemptions is None:
        yield None
    else:
        yield from range(options.preemptions + 1)


def _is_last(ran: Explored, options: ExploreOptions) -> bool:
    found = ran.has_borderline or ran.has_failure
    return ran.complete or ran.stop is not Stop.NOTHING_LEFT or (options.first and found)


def _explore(program: Program, options: ExploreOptions, bound: int | None, limits: Limits) -> Explored:
    asked = Asked(
        preemptions=bound,
        depth=options.depth,
        monitor=options.monitor,
        stop_at_first=options.first,
        keep=options.save,
    )
    if options.cluster is not None:
        return explore_everywhere(options.cluster, program, asked, limits)
    encoded = encode_for_exploration(program)
    return explored(program, encoded, run_part(encoded, asked, limits))


def _timed(program: Program, options: ExploreOptions, iteration: Iteration, limits: Limits) -> Iteration:
    """The same exploration again, without the monitor."""
    alone = _explore(program, replace(options, monitor=False, save=0), iteration.preemptions, limits)
    return replace(iteration, seconds_alone=alone.counts.seconds)


def _findings(ran: Explored) -> Iterator[ExploreFinding]:
    if ran.has_failure:
        yield ExploreFinding("assertion failure", ran.failure_trace())
    stuck = ran.stuck_trace() if any(isinstance(stated, NoDeadlock) for stated in ran.program.properties) else None
    if stuck is not None and is_deadlock(stuck):
        yield ExploreFinding("deadlock", stuck)
    if ran.has_borderline:
        reader, _, stale = ran.borderline_reads()
        yield ExploreFinding("borderline", ran.borderline_schedule(), ran.borderline_trace(), reader, tuple(stale))
