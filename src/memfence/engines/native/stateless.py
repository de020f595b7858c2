"""The stateless engine: SC executions one after the other, with the store-buffer monitor running along.

What it finds comes back in terms of the loaded program: a schedule of SC steps, and for a borderline execution the TSO
run behind it, both replayed by the reference models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memfence import _core
from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.engines.native.encode import Encoded, encode
from memfence.engines.native.limits import for_core
from memfence.engines.native.unreduce import original_steps
from memfence.execution.borderline_run import StaleRead, tso_steps
from memfence.execution.event import Event
from memfence.execution.happens_before import is_sequential
from memfence.execution.recording import NATIVE_KINDS, TraceEvent
from memfence.execution.trace import Trace, UnreplayableWitness
from memfence.models.replay import nth_start
from memfence.models.sc import Sc
from memfence.models.spec import TSO
from memfence.models.state import ProcessStep, Rendezvous
from memfence.models.tso import Tso
from memfence.passes.orders import for_hardware
from memfence.passes.reductions import reduce
from memfence.program.facts.effects import is_local
from memfence.program.facts.observation import observed_by
from memfence.program.facts.torn_steps import processes_with_torn_steps
from memfence.program.ir import Lock, Program, Transition
from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.source import NOWHERE
from memfence.tasks.limits import Limits, Stop

MOST_PROCESSES = 64


class Counts(Record):
    """What an exploration has seen. `redundant`: executions given up because an equivalent one had been run.

    `truncated`: executions longer than the depth allows; `cut`: choices that the bound on preemptions forbade.
    `monitored`: whether borderline executions were looked for.
    """

    interleavings: int
    borderline: int
    failed: int
    deadlocked: int
    redundant: int
    truncated: int
    cut: int
    steps: int
    seconds: float
    first_borderline_seconds: float | None
    first_failure_seconds: float | None
    monitored: bool


class Execution(Record):
    """One execution that was run to its end."""

    borderline: bool
    failed: bool
    truncated: bool
    _start: int
    _edges: tuple[int, ...]


class Schedule(Record):
    """The steps of an execution, as the core numbers them: the initial state, then edges."""

    start: int
    edges: tuple[int, ...]


class Borderline(Record):
    """After `schedule`, the edge is possible under TSO with these stale reads."""

    schedule: Schedule
    edge: int
    reads: tuple[tuple[int, int, int], ...]


class Ran(Record):
    """What was seen of the executions of a program, or of a part of them: plain values, that can be sent."""

    stop: Stop
    reduced: bool
    counts: Counts
    executions: tuple[Execution, ...]
    finding: Borderline | None
    failure: Schedule | None
    stuck: Schedule | None


class Explored(Record):
    """The outcome of one exploration. `reduced`: one execution of each class was run, not all interleavings."""

    program: Program
    stop: Stop
    reduced: bool
    counts: Counts
    executions: tuple[Execution, ...]
    _finding: Borderline | None
    _failure: Schedule | None
    _stuck: Schedule | None
    _encoded: Encoded

    @property
    def complete(self) -> bool:
        """Whether everything was looked at. The monitor cannot tell what happens between the stores of one step."""
        if self.counts.monitored and processes_with_torn_steps(self.program):
            return False
        return self.stop is Stop.NOTHING_LEFT and not self.counts.truncated and not self.counts.cut

    @property
    def has_borderline(self) -> bool:
        return self._finding is not None

    @property
    def has_failure(self) -> bool:
        return self._failure is not None

    def failure_trace(self) -> Trace:
        """The SC run that fails."""
        assert self._failure is not None
        return self._sc_trace(self._failure.start, self._failure.edges)

    def stuck_trace(self) -> Trace | None:
        """The shortest SC run after which a process waits and nobody can go on."""
        return None if self._stuck is None else self._sc_trace(self._stuck.start, self._stuck.edges)

    def borderline_schedule(self) -> Trace:
        """The SC run after which some process could go on with a stale value."""
        assert self._finding is not None
        return self._sc_trace(self._finding.schedule.start, self._finding.schedule.edges)

    def borderline_reads(self) -> tuple[int, ProcessStep | Rendezvous, tuple[StaleRead, ...]]:
        """Who could read what: the process, its step in the reduced program, and the stale reads."""
        assert self._finding is not None
        step = self._encoded.edges[self._finding.edge]
        process = step.process if isinstance(step, ProcessStep) else step.sender.process
        return process, step, tuple(StaleRead(*read) for read in self._finding.reads)

    def borderline_trace(self) -> Trace | None:
        """The TSO run that goes on with the stale value: its trace is that of no SC run.

        None only where the bus lock is held step by step.
        """
        assert self._finding is not None
        schedule = self._finding.schedule
        sc_run = [self._encoded.edges[edge] for edge in schedule.edges]
        _, step, reads = self.borderline_reads()
        reduced = self._encoded.program
        try:
            steps = tso_steps(reduced, schedule.start, sc_run, step, reads)
            trace = Trace(self.program, Tso(), *original_steps(self.program, reduced, Tso(), schedule.start, steps))
            if is_sequential(trace):
                raise UnreplayableWitness("the run behind a borderline execution has the trace of an SC run")
            return trace
        except UnreplayableWitness:
            if any(isinstance(op, Lock) for p in reduced.processes for t in p.transitions for op in t.ops):
                return None
            raise

    def events(self, execution: Execution) -> tuple[TraceEvent, ...]:
        """The execution as a memory trace. Monitoring it gives the same answer."""
        native = _core.schedule_events(
            self._encoded.machine, execution._start, list(execution._edges), execution.truncated
        )
        memory = nth_start(self._encoded.program, Sc(), execution._start).memory
        found = [
            TraceEvent(Event(None, "init", variable.name, value))
            for variable, value in zip(self.program.variables, memory, strict=True)
        ]
        for number, (edge, events) in enumerate(native):
            step = number if len(events) > 1 else None
            place = None if edge < 0 else _place(self.program, self._encoded, edge)
            found += [_event(self.program, event, place, step) for event in events]
        return tuple(found)

    def _sc_trace(self, start: int, edges: Sequence[int]) -> Trace:
        steps = [self._encoded.edges[edge] for edge in edges]
        return Trace(self.program, Sc(), *original_steps(self.program, self._encoded.program, Sc(), start, steps))


class Asked(Record, kw_only=True):
    """Which executions to run, and what for.

    One of each class of equivalent ones, or all with at most so many `preemptions`. `keep` of them are kept for
    `events`. Without `reduce_order` every interleaving of accesses is run; without `fuse` local steps stay steps of
    their own.
    """

    preemptions: int | None = None
    depth: int | None = None
    monitor: bool = True
    reduce_order: bool = True
    fuse: bool = True
    stop_at_first: bool = False
    keep: int = 0


def explore(program: Program, *, limits: Limits | None = None, **asked: Any) -> Explored:
    """Run the SC executions of `program` that `Asked` describes: its fields are the keywords."""
    wanted = Asked(**asked)
    encoded = encode_for_exploration(program, fuse=wanted.fuse)
    return explored(program, encoded, run_part(encoded, wanted, limits or Limits()))


def explored(program: Program, encoded: Encoded, ran: Ran) -> Explored:
    """What was seen, in terms of the program."""
    return Explored(
        program, ran.stop, ran.reduced, ran.counts, ran.executions, ran.finding, ran.failure, ran.stuck, encoded
    )


def run_part(encoded: Encoded, asked: Asked, limits: Limits, part: int = 0, parts: int = 1) -> Ran:
    """Run the executions in one of several parts of the tree. Each is in one part, up to equivalence."""
    native = _core.explore_stateless(
        encoded.machine,
        asked.monitor,
        asked.reduce_order,
        -1 if asked.preemptions is None else asked.preemptions,
        asked.depth or 0,
        asked.stop_at_first,
        asked.keep,
        parts,
        part,
        **for_core(limits),
    )
    found, failure, stuck = native.finding, native.failure, native.stuck
    return Ran(
        Stop(native.stop),
        native.reduced,
        _counts(native, asked.monitor),
        tuple(Execution(s.borderline, s.failed, s.truncated, s.start, tuple(s.edges)) for s in native.kept),
        None if found is None else Borderline(_schedule(found.schedule), found.edge, tuple(found.reads)),
        None if failure is None else _schedule(failure),
        None if stuck is None else _schedule(stuck),
    )


def _schedule(native: _core.Schedule) -> Schedule:
    return Schedule(native.start, tuple(native.edges))


def encode_for_exploration(program: Program, *, fuse: bool = True) -> Encoded:
    """The machine that is run: local steps are part of the access before them, but no access is lost or joined."""
    if len(program.processes) > MOST_PROCESSES:
        at = Label(program.source.span(0, 1))
        message = f"the program has {len(program.processes)} processes; at most {MOST_PROCESSES} can be scheduled"
        raise InputError([Diagnostic(Code.TOO_LARGE, message, at)])
    hardware = for_hardware(program, TSO)
    observed = observed_by(hardware, (), accesses=True, blocking=True)
    return encode(reduce(hardware, observed, {"fuse"} if fuse else (), model=TSO), loaded=hardware)


def _counts(native: _core.ExploreResult, monitored: bool) -> Counts:
    return Counts(
        native.executions,
        native.borderline,
        native.failed,
        native.deadlocked,
        native.redundant,
        native.truncated,
        native.cut,
        native.steps,
        native.seconds,
        native.first_borderline_seconds if native.first_borderline_seconds >= 0 else None,
        native.first_failure_seconds if native.first_failure_seconds >= 0 else None,
        monitored,
    )


def _event(
    program: Program,
    native: tuple[int, int, int, int | None, list[int] | None],
    place: str | None,
    step: int | None,
) -> TraceEvent:
    op, process, variable, value, accepts = native
    kind = NATIVE_KINDS[op]
    address = None if kind in ("fence", "sync") else program.variables[variable].name
    order = MemoryOrder.SEQ_CST if kind in ("rmw", "fence") else MemoryOrder.PLAIN
    event = Event(program.processes[process].name, kind, address, value, order, place)
    return TraceEvent(event, step, None if accepts is None else tuple(accepts))


def _place(program: Program, encoded: Encoded, edge: int) -> str | None:
    """Where the access of the step was written: the first of its transitions that does more than register work."""
    step = encoded.edges[edge]
    run = step if isinstance(step, ProcessStep) else step.sender
    process = program.processes[run.process]
    origin = encoded.program.processes[run.process].transitions[run.transition].origin or (run.transition,)
    parts: list[Transition] = [process.transitions[number] for number in origin]
    span = next((t for t in parts if not all(is_local(op) for op in t.ops)), parts[0]).span
    return None if span.source is NOWHERE.source else span.place
