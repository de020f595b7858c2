"""The Dual-TSO engine: TSO with unbounded buffers, decided for every finite-state program by searching backwards.

Abdulla, Atig, Bouajjani and Ngo, "The Benefits of Duality in Verifying Concurrent Programs under TSO", CONCUR 2016.
Each process has a FIFO of values that it may still load instead of a buffer of stores; the order on such configurations
is a well-quasi-order, so the backward search ends by itself. `core/include/memfence/dual.hpp` says where to read on.

The two semantics agree on states without pending stores, and so on locations and registers. They do not agree on
memory while stores are pending, nor on the moments at which processes look at each other: `unsupported` says what this
engine does not answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from memfence import _core
from memfence.engines.native.encode import Encoded, encode
from memfence.engines.native.limits import for_core
from memfence.engines.native.searched import Searched
from memfence.engines.native.unreduce import original_steps
from memfence.execution.trace import Trace, UnreplayableWitness
from memfence.models.spec import TSO
from memfence.models.state import Commit
from memfence.passes.orders import for_hardware
from memfence.passes.reductions import reduce
from memfence.program.expressions import At, BufferEmpty, Expr, RegisterOf, Shared, walk
from memfence.program.facts.effects import op_expressions
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Lock, Program, Store, Unlock
from memfence.records import Record
from memfence.tasks.evidence import BadFinalState, BadState, Finding, StepFails
from memfence.tasks.limits import Cost, Limits, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety

_FINDINGS: tuple[Finding, ...] = (BadState(), StepFails(), BadFinalState())
_REDUCTIONS = frozenset({"dead", "fuse", "slice"})


class DualStatistics(Record):
    """`stored` constraints were made, `expanded` of them; `minimal` are above no other at the end.

    `local_states` counts what all processes can be in by themselves, `longest` the messages in the longest constraint.
    """

    local_states: int
    starts: int
    expanded: int
    predecessors: int
    stored: int
    minimal: int
    longest: int
    megabytes: float


class DualResult(Searched):
    """The outcome of one search.

    `complete`: the question is decided, either way. `finding`: what can be reached, if anything; `trace()` gives a run
    to it, not the shortest. `unsupported`: why the question was not looked at (then nothing is claimed), else None.
    """

    finding: Finding | None
    statistics: DualStatistics
    unsupported: Obstacle | None = None
    _native: _core.DualOutcome | None = None
    _encoded: Encoded | None = None

    @property
    def found(self) -> bool:
        return self.finding is not None

    @property
    def complete(self) -> bool:
        return self.unsupported is None and self.stop in (Stop.NOTHING_LEFT, Stop.FOUND)

    def trace(self) -> Trace:
        """A run to the finding, replayed by the reference model of TSO."""
        assert self._native is not None and self._encoded is not None and self.found
        run = self._native.run
        if run is None:
            raise UnreplayableWitness("the dual engine lost the way to its own finding")
        start, steps, *_ = run
        if self.finding != BadFinalState():  # what happens to pending stores afterwards makes no difference
            while steps and steps[-1][1] < 0:
                steps.pop()
        taken = [Commit(process) if edge < 0 else self._encoded.edges[edge] for process, edge in steps]
        model = TSO.definition
        begin, whole = original_steps(self.program, self._encoded.program, model, start, taken)
        trace = Trace(self.program, model, begin, whole)
        if self.finding != BadFinalState():
            return trace
        # Stores that slicing dropped are still pending: nobody looks at them, but a final state has none.
        pending = [Commit(p) for p, (buffer,) in enumerate(trace.end.buffers) for _ in buffer]
        return Trace(self.program, model, begin, (*whole, *pending))


def explore_dual(
    program: Program,
    goal: Safety,
    *,
    bad_final: Expr | None = None,
    limits: Limits | None = None,
    reductions: frozenset[str] = frozenset(),
) -> DualResult:
    """Decide under TSO whether a bad state or a failure that breaks the `goal` can be reached.

    `bad_final` is bad in final states only (every process halted, nothing pending), and may look at memory. What
    `goal.final_values` lists is not computed: ask about one condition at a time.
    """
    reason = unsupported(program, goal)
    if reason is not None:
        return DualResult(program, Stop.NOTHING_LEFT, Cost(), None, DualStatistics(0, 0, 0, 0, 0, 0, 0, 0.0), reason)
    limits = limits or Limits()
    expressions = tuple(e for e in (goal.bad, bad_final) if e is not None)
    hardware = for_hardware(program, TSO)
    observed = observed_by(hardware, expressions)
    if bad_final is not None:  # whether a process has halted is seen, too
        reductions -= {"fuse"}
    reduced = reduce(hardware, observed, reductions & _REDUCTIONS, model=TSO)
    encoded = encode(reduced, expressions)
    numbers = iter(encoded.expressions)
    native = _core.explore_dual(
        encoded.machine,
        -1 if goal.bad is None else next(numbers),
        -1 if bad_final is None else next(numbers),
        goal.failures,
        "order" in reductions,
        [location_classes(program, p, expressions) for p in range(len(program.processes))],
        len(program.processes),
        list(range(len(program.processes))),
        limits.most_states,
        **for_core(limits),
    )
    stats = native.stats
    return DualResult(
        program,
        Stop(native.stop),
        Cost(stats.expanded, stats.predecessors, stats.seconds),
        None if native.finding is None else _FINDINGS[native.finding],
        DualStatistics(
            stats.local_states,
            stats.starts,
            stats.expanded,
            stats.predecessors,
            stats.stored,
            stats.minimal,
            stats.longest,
            stats.bytes / 1e6,
        ),
        _native=native,
        _encoded=encoded,
    )


def supports(program: Program, goal: Safety) -> bool:
    """Whether `explore_dual` can decide the question, given time and memory."""
    return unsupported(program, goal) is None


def unsupported(program: Program, goal: Safety) -> Obstacle | None:
    """Why `explore_dual` does not answer the question; None if it does."""
    return next(obstacles(program, goal), None)


def obstacles(program: Program, goal: Safety) -> Iterator[Obstacle]:
    """Everything that keeps `explore_dual` from answering the question."""
    if goal.bad is not None and any(isinstance(node, Shared | BufferEmpty) for node in walk(goal.bad)):
        yield Obstacle.LOOKS_AT_MEMORY
    if goal.final_values:
        yield Obstacle.LISTS_FINAL_STATES
    if goal.deadlock:
        yield Obstacle.ASKS_FOR_DEADLOCK
    if program.error_locations is not None and goal.failures is False:
        yield Obstacle.RUNS_GO_ON_AFTER_ERRORS
    if any(location.committed for p in program.processes for location in p.locations):
        yield Obstacle.COMMITTED_LOCATION
    transitions = [t for p in program.processes for t in p.transitions]
    if any(t.sync is not None for t in transitions):
        yield Obstacle.CHANNEL
    ops = [(t, op) for t in transitions for op in t.ops]
    if any(isinstance(op, Lock | Unlock) for _, op in ops):
        yield Obstacle.LONG_LOCK_REGION
    if any(isinstance(op, Store) and op.direct and not t.locked for t, op in ops):
        yield Obstacle.DIRECT_STORE
    nodes = (node for _, op in ops for e in op_expressions(op) for node in walk(e))
    if any(isinstance(node, At | RegisterOf | BufferEmpty) for node in nodes):
        yield Obstacle.LOOKS_AT_OTHERS


def location_classes(program: Program, process: int, expressions: tuple[Expr, ...]) -> list[int]:
    """A number for each location of the process; equal ones look the same to all of `expressions`."""
    asked = [
        node.locations for e in expressions for node in walk(e) if isinstance(node, At) and node.process == process
    ]
    numbers: dict[tuple[bool, ...], int] = {}
    return [
        numbers.setdefault(tuple(at in places for places in asked), len(numbers))
        for at in range(len(program.processes[process].locations))
    ]
