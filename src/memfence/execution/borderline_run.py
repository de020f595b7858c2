"""From a borderline execution to the TSO run behind it (Sober, Definition 6): the same steps, the last reads stale.

Under TSO a process issues its steps in order, and its stores take effect later, in order. Everything else is decided by
who saw what: a load comes after the write it saw, unless that still was in its own buffer, and before the next write to
its variable. Any order of issues and commits that respects this is a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from memfence.execution.trace import Trace, UnreplayableWitness
from memfence.models.accesses import accesses
from memfence.models.replay import nth_start
from memfence.models.sc import Sc
from memfence.models.state import Commit, Rendezvous, Run, State, Step
from memfence.models.steps import take
from memfence.program.ir import Fence, Program, Store, Transition


@dataclass(frozen=True, slots=True)
class StaleRead:
    """A load that has seen only the first `seen` writes to `variable`, and therefore `value`."""

    variable: int
    seen: int
    value: int


@dataclass(slots=True)
class _Node:
    """An issued step, or the commit of one of its stores; `after` are the nodes that must have happened."""

    step: Step
    after: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Write:
    node: int
    process: int
    buffered: bool


def tso_steps(
    program: Program, start: int, sc_run: Sequence[Run | Rendezvous], last: Run | Rendezvous, reads: Sequence[StaleRead]
) -> tuple[Step, ...]:
    """A TSO run with the steps of `sc_run`, then `last` with `reads`; at the end all buffers are empty."""
    graph = _Graph(program, start)
    for step in sc_run:
        graph.issue(step)
    graph.issue(last, {read.variable: read for read in reads})
    return graph.in_order()


class _Graph:
    def __init__(self, program: Program, start: int) -> None:
        self.program = program
        self.state: State = nth_start(program, Sc(), start)
        self.nodes: list[_Node] = []
        self.issued: dict[int, int] = {}  # by process: its last issued step
        self.committed: dict[int, int] = {}  # by process: its last commit
        self.writes: dict[int, list[_Write]] = {}
        self.readers: dict[int, list[tuple[int, int]]] = {}  # by variable: (node, how many writes it saw)

    def issue(self, step: Run | Rendezvous, stale: dict[int, StaleRead] | None = None) -> None:
        stale = stale or {}
        state = self.state
        for read in stale.values():
            memory = (*state.memory[: read.variable], read.value, *state.memory[read.variable + 1 :])
            state = State(state.locations, state.registers, memory, state.buffers, state.lock_owner)
        node = self._node(step)
        self._in_program_order(node, step)
        direct = _immediate_stores(self.program, step)
        own: set[tuple[int, int]] = set()
        stores = 0
        for access in accesses(self.program, Sc(), state, step):
            if access.kind == "load":
                if (access.process, access.variable) not in own:
                    self._load(node, access.process, access.variable, stale.get(access.variable))
            else:
                own.add((access.process, access.variable))
                self._store(node, access.process, access.variable, direct[stores])
                stores += 1
        after = take(self.program, Sc(), state, step)
        if after is None:
            raise UnreplayableWitness(f"{step} is not possible with the stale values")
        if isinstance(after, State):
            self.state = after

    def _node(self, step: Step) -> int:
        self.nodes.append(_Node(step))
        return len(self.nodes) - 1

    def _in_program_order(self, node: int, step: Run | Rendezvous) -> None:
        for run, transition in _sides(self.program, step):
            if run.process in self.issued:
                self.nodes[node].after.add(self.issued[run.process])
            drains = transition.locked or any(op == Fence("mfence") for op in transition.ops)
            if drains and run.process in self.committed:
                self.nodes[node].after.add(self.committed[run.process])
        for run, _ in _sides(self.program, step):
            self.issued[run.process] = node

    def _load(self, node: int, process: int, variable: int, stale: StaleRead | None) -> None:
        writes = self.writes.setdefault(variable, [])
        seen = len(writes) if stale is None else stale.seen
        if seen:
            write = writes[seen - 1]
            if not (write.buffered and write.process == process):
                self.nodes[node].after.add(write.node)
        if seen < len(writes):
            self.nodes[writes[seen].node].after.add(node)
        self.readers.setdefault(variable, []).append((node, seen))

    def _store(self, node: int, process: int, variable: int, immediate: bool) -> None:
        writes = self.writes.setdefault(variable, [])
        commit = node if immediate else self._node(Commit(process))
        after = self.nodes[commit].after
        if not immediate:
            after.add(node)
            if process in self.committed:
                after.add(self.committed[process])
            self.committed[process] = commit
        if writes:
            after.add(writes[-1].node)
        after.update(reader for reader, seen in self.readers.get(variable, ()) if seen == len(writes))
        after.discard(commit)
        writes.append(_Write(commit, process, not immediate))

    def in_order(self) -> tuple[Step, ...]:
        """Commits as early as possible, else the order of the SC run."""
        waiting = [len(node.after) for node in self.nodes]
        before: list[list[int]] = [[] for _ in self.nodes]
        for number, node in enumerate(self.nodes):
            for earlier in node.after:
                before[earlier].append(number)
        ready = {number for number, count in enumerate(waiting) if count == 0}
        done: list[Step] = []
        while ready:
            number = min(ready, key=lambda n: (not isinstance(self.nodes[n].step, Commit), n))
            ready.remove(number)
            done.append(self.nodes[number].step)
            for later in before[number]:
                waiting[later] -= 1
                if waiting[later] == 0:
                    ready.add(later)
        if len(done) != len(self.nodes):
            raise UnreplayableWitness("the borderline execution has no TSO run: its relaxed happens-before has a cycle")
        return tuple(done)


def _sides(program: Program, step: Run | Rendezvous) -> list[tuple[Run, Transition]]:
    runs = [step] if isinstance(step, Run) else [step.sender, step.receiver]
    return [(run, program.processes[run.process].transitions[run.transition]) for run in runs]


def _immediate_stores(program: Program, step: Run | Rendezvous) -> list[bool]:
    """For each store of the step, in the order of its execution: whether it goes past the buffer."""
    if isinstance(step, Run):
        ((_, transition),) = _sides(program, step)
        return [transition.locked or op.direct for op in transition.ops if isinstance(op, Store)]
    (_, sending), (_, receiving) = _sides(program, step)
    assert sending.sync is not None and receiving.sync is not None
    s, r = sending.sync.guard_ops, receiving.sync.guard_ops
    parts = [(sending, sending.ops[:s]), (receiving, receiving.ops[:r])]
    parts += [(receiving, receiving.ops[r:]), (sending, sending.ops[s:])]
    return [t.locked or op.direct for t, ops in parts for op in ops if isinstance(op, Store)]


def is_sequential(trace: Trace) -> bool:
    """Whether some SC run has the same trace: program order, who saw what, and the order of writes have no cycle."""
    graph = _HappensBefore()
    for position, taken in enumerate(trace.steps):
        graph.add(trace, position, taken.step)
    return graph.is_acyclic()


class _HappensBefore:
    """One node a step; a commit belongs to the step that issued its store."""

    def __init__(self) -> None:
        self.after: dict[int, set[int]] = {}
        self.last: dict[int, int] = {}
        self.pending: dict[int, list[tuple[int, int]]] = {}  # by process: (variable, node), oldest first
        self.writes: dict[int, list[int]] = {}  # by variable: nodes, in the order of effect
        self.loads: list[tuple[int, int, int | None]] = []  # node, variable, node of the write it saw

    def add(self, trace: Trace, position: int, step: Step) -> None:
        if isinstance(step, Run | Rendezvous):
            self.after[position] = set()
            for run, _ in _sides(trace.program, step):
                if run.process in self.last:
                    self.after[position].add(self.last[run.process])
                self.last[run.process] = position
        for access in accesses(trace.program, trace.memory_model, trace.state_before(position), step):
            writes, pending = self.writes.setdefault(access.variable, []), self.pending.setdefault(access.process, [])
            match access.kind:
                case "load":
                    self.loads.append((position, access.variable, writes[-1] if writes else None))
                case "own load":
                    own = [node for variable, node in pending if variable == access.variable]
                    self.loads.append((position, access.variable, own[-1]))
                case "store":
                    writes.append(position)
                case "pending store":
                    pending.append((access.variable, position))
                case "commit":
                    writes.append(pending.pop(0)[1])

    def is_acyclic(self) -> bool:
        for variable, node in [entry for pending in self.pending.values() for entry in pending]:
            self.writes.setdefault(variable, []).append(node)
        for writes in self.writes.values():
            for earlier, later in pairwise(writes):
                self._order(earlier, later)
        for node, variable, seen in self.loads:
            writes = self.writes[variable]
            if seen is not None:
                self._order(seen, node)
            # A step that writes a variable twice has two entries: what comes next is what follows the last of them.
            place = 0 if seen is None else len(writes) - writes[::-1].index(seen)
            if place < len(writes):
                self._order(node, writes[place])
        return _has_no_cycle(self.after)

    def _order(self, earlier: int, later: int) -> None:
        if earlier != later:
            self.after[later].add(earlier)


def _has_no_cycle(after: dict[int, set[int]]) -> bool:
    waiting = {node: len(earlier) for node, earlier in after.items()}
    before: dict[int, list[int]] = {node: [] for node in after}
    for node, earlier in after.items():
        for other in earlier:
            before[other].append(node)
    ready = [node for node, count in waiting.items() if count == 0]
    done = 0
    while ready:
        done += 1
        for node in before[ready.pop()]:
            waiting[node] -= 1
            if waiting[node] == 0:
                ready.append(node)
    return done == len(after)
