"""From a borderline execution to the TSO run behind it (Sober, Definition 6): the same steps, the last reads stale.

Under TSO a process issues its steps in order, and its stores take effect later, in order. Everything else is decided by
who saw what: a load comes after the write it saw, unless that still was in its own buffer, and before the next write to
its variable. Any order of issues and commits that respects this, relaxed happens-before, is a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from memfence.digraph import in_order
from memfence.execution.event import Event
from memfence.execution.graph import ExecutionGraph, GraphBuilder
from memfence.execution.occurrences import runs_of
from memfence.execution.trace import UnreplayableWitness
from memfence.models.accesses import accesses
from memfence.models.replay import nth_start
from memfence.models.sc import Sc
from memfence.models.state import Commit, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import take
from memfence.program.ir import Fence, Program, Store, Transition
from memfence.records import Record


class StaleRead(Record):
    """A load that has seen only the first `seen` writes to `variable`, and therefore `value`."""

    variable: int
    seen: int
    value: int


def tso_steps(
    program: Program,
    start: int,
    sc_run: Sequence[ProcessStep | Rendezvous],
    last: ProcessStep | Rendezvous,
    reads: Sequence[StaleRead],
) -> tuple[Step, ...]:
    """A TSO run with the steps of `sc_run`, then `last` with `reads`; at the end all buffers are empty.

    Commits come as early as possible; else the order is that of the SC run.
    """
    collector = _Collector(program, nth_start(program, Sc(), start))
    for step in sc_run:
        collector.issue(step, {})
    collector.issue(last, {read.variable: read for read in reads})
    return _Relaxed(program, [*sc_run, last], collector.builder.build(), collector.buffered).run()


class _Collector:
    """The graph of the steps, all stores in the order of the SC run, and which of them wait in a buffer under TSO."""

    def __init__(self, program: Program, state: State) -> None:
        self.program = program
        self.state = state
        self.builder = GraphBuilder()
        self.buffered: set[int] = set()
        self.steps = 0

    def issue(self, step: ProcessStep | Rendezvous, stale: dict[int, StaleRead]) -> None:
        memory = list(self.state.memory)
        for read in stale.values():
            memory[read.variable] = read.value
        state = replace(self.state, memory=tuple(memory))
        direct = iter(_immediate_stores(self.program, step))
        own: set[tuple[int, int]] = set()
        for access in accesses(self.program, Sc(), state, step):
            key = (access.process, access.variable)
            if access.kind == "store":
                own.add(key)
                number = self.builder.add(Event(access.process, "store", access.variable, access.value), self.steps)
                if not next(direct):
                    self.buffered.add(number)
            elif key not in own:
                self._load(Event(access.process, "load", access.variable, access.value), stale.get(access.variable))
        after = take(self.program, Sc(), state, step)
        if after is None:
            raise UnreplayableWitness(f"{step} is not possible with the stale values")
        if isinstance(after, State):
            self.state = after
        self.steps += 1

    def _load(self, event: Event, stale: StaleRead | None) -> None:
        assert event.address is not None
        stores = self.builder.stores_to(event.address)
        seen = len(stores) if stale is None else stale.seen
        self.builder.add_read(event, self.steps, stores[seen - 1] if seen else None)


class _Relaxed:
    """Relaxed happens-before: a node for each issued step, then one for each commit, with those it comes after."""

    def __init__(
        self, program: Program, steps: Sequence[ProcessStep | Rendezvous], graph: ExecutionGraph, buffered: set[int]
    ) -> None:
        self.program, self.steps, self.graph, self.buffered = program, steps, graph, buffered
        self.commit_of = {number: len(steps) + i for i, number in enumerate(sorted(buffered))}
        self.commits: dict[tuple[object, int], list[int]] = {}  # by process and step
        for number, commit in self.commit_of.items():
            node = graph.nodes[number]
            self.commits.setdefault((node.event.thread, node.step), []).append(commit)
        self.after: list[set[int]] = [set() for _ in range(len(steps) + len(buffered))]

    def run(self) -> tuple[Step, ...]:
        self._keep_program_order()
        self._keep_what_was_seen()
        issued = len(self.steps)
        nodes = in_order(self.after, lambda node: (node < issued, node))
        if nodes is None:
            raise UnreplayableWitness("the borderline execution has no TSO run: its relaxed happens-before has a cycle")
        commits = [self._commit(number) for number in self.commit_of]
        return tuple(self.steps[node] if node < issued else commits[node - issued] for node in nodes)

    def _commit(self, store: int) -> Step:
        process = self.graph.nodes[store].event.thread
        assert isinstance(process, int)
        return Commit(process)

    def _effect(self, store: int) -> int:
        return self.commit_of.get(store, self.graph.nodes[store].step)

    def _is_own(self, store: int, read: int) -> bool:
        """Whether the store may have been in the buffer of the process that reads it."""
        nodes = self.graph.nodes
        return store in self.buffered and nodes[store].event.thread == nodes[read].event.thread

    def _order(self, earlier: int, later: int) -> None:
        if earlier != later:
            self.after[later].add(earlier)

    def _keep_program_order(self) -> None:
        """Issues in order, commits in order and behind their issue; what drains the buffer, behind the commits."""
        issued: dict[int, int] = {}
        committed: dict[int, int] = {}
        for number, step in enumerate(self.steps):
            for run, transition in _sides(self.program, step):
                if run.process in issued:
                    self._order(issued[run.process], number)
                drains = transition.locked or any(op == Fence("mfence") for op in transition.ops)
                if drains and run.process in committed:
                    self._order(committed[run.process], number)
            for run, _ in _sides(self.program, step):
                issued[run.process] = number
                for commit in self.commits.get((run.process, number), ()):
                    self._order(number, commit)
                    if run.process in committed:
                        self._order(committed[run.process], commit)
                    committed[run.process] = commit

    def _keep_what_was_seen(self) -> None:
        nodes = self.graph.nodes
        for order in self.graph.store_order.values():
            for earlier, later in pairwise(order):
                self._order(self._effect(earlier), self._effect(later))
        for read, store in self.graph.read_from.items():
            if store is not None and not self._is_own(store, read):
                self._order(self._effect(store), nodes[read].step)
            for first in self.graph.overwriting(read)[:1]:
                self._order(nodes[read].step, self._effect(first))


def _sides(program: Program, step: ProcessStep | Rendezvous) -> list[tuple[ProcessStep, Transition]]:
    return [(run, program.processes[run.process].transitions[run.transition]) for run in runs_of(step)]


def _immediate_stores(program: Program, step: ProcessStep | Rendezvous) -> list[bool]:
    """For each store of the step, in the order of its execution: whether it goes past the buffer."""
    if isinstance(step, ProcessStep):
        ((_, transition),) = _sides(program, step)
        return [transition.locked or op.direct for op in transition.ops if isinstance(op, Store)]
    (_, sending), (_, receiving) = _sides(program, step)
    assert sending.sync is not None and receiving.sync is not None
    s, r = sending.sync.guard_ops, receiving.sync.guard_ops
    parts = [(sending, sending.ops[:s]), (receiving, receiving.ops[:r])]
    parts += [(receiving, receiving.ops[r:]), (sending, sending.ops[s:])]
    return [t.locked or op.direct for t, ops in parts for op in ops if isinstance(op, Store)]
