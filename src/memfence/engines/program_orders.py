"""PoVso and Po: has every TSO run the program order of some SC run, and its order of stores to each variable?

Every TSO run is followed together with what it has done, and each new way to do it is looked for among the SC runs
(`execution.sc_order`). That ends where loops do; with loops, it ends at a limit or at a run that SC does not have.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from memfence.deadline import Deadline
from memfence.execution.sc_order import Event, Orders, is_made_under_sc
from memfence.execution.trace import Trace
from memfence.models.accesses import Access, accesses
from memfence.models.buffering import Buffering
from memfence.models.readings import is_locked
from memfence.models.replay import replay
from memfence.models.state import Commit, Failure, ProcessStep, State, Step
from memfence.models.steps import MemoryModel, set_at, starts, take
from memfence.passes.shared_memory_form import other_communication
from memfence.program.facts.loop_depth import loop_levels
from memfence.program.ir import Assert, Assign, Assume, Lock, Program
from memfence.records import Record
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import CounterexampleRun, EveryOrder, Limit, NoScRun, ScItself
from memfence.tasks.limits import Cost, Limits, Stop, resident_megabytes
from memfence.tasks.obstacle import Obstacle, unless_unbounded
from memfence.tasks.task import Keeps, Task

WEAKER = (Criterion.POVSO, Criterion.PO)
MOST_WITH_LOOPS = 100_000
"""Runs are longer and longer there: a search without a limit would not end."""
BETWEEN_LOOKS = 200


class ProgramOrderEngine:
    """PoVso and Po of programs without loops; of others, a run that breaks them."""

    name = "program orders"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not isinstance(task.goal, Keeps) or task.goal.criterion not in WEAKER:
            return Obstacle.OTHER_GOAL
        if task.spec.buffering is Buffering.PER_VARIABLE:
            return Obstacle.ONLY_TSO
        if task.spec.has_buffers and (obstacle := unless_unbounded(task.spec)) is not None:
            return obstacle
        if other_communication(task.program) is not None:
            return Obstacle.OTHER_COMMUNICATION
        if task.program.error_locations is not None:
            return Obstacle.RUNS_GO_ON_AFTER_ERRORS
        ops = (op for p in task.program.processes for t in p.transitions for op in t.ops)
        return Obstacle.LONG_LOCK_REGION if any(isinstance(op, Lock) for op in ops) else None

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, Keeps)
        if not task.spec.has_buffers:
            return Answer(Verdict.HOLDS, ScItself(), self.name, Cost())
        search = _Search(task.program, task.spec.definition, task.limits, task.goal.criterion is Criterion.POVSO)
        try:
            stop = search.explore()
        except KeyboardInterrupt:
            stop = Stop.CANCELLED
        cost = search.cost
        if search.found is not None:
            return Answer(Verdict.VIOLATED, CounterexampleRun(search.found, NoScRun()), self.name, cost)
        if stop is not Stop.NOTHING_LEFT:
            return Answer(Verdict.UNKNOWN, Limit(stop, cost.states), self.name, cost)
        return Answer(Verdict.HOLDS, EveryOrder(len(search.judged)), self.name, cost)


class _Node(Record):
    """A state of TSO, and what led to it. `runs`: what each process has done, by number; `failed`: who cannot go on.
    `orders`: whose stores to each variable have reached memory, where that counts."""

    state: State
    runs: tuple[int, ...]
    failed: frozenset[int]
    orders: Orders | None


class _Runs:
    """What a process has done so far, by number: 0 is nothing, each other one a shorter one and an event."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, Event], int] = {}
        self._made: list[tuple[Event, ...]] = [()]

    def longer(self, run: int, event: Event) -> int:
        number = self._numbers.setdefault((run, event), len(self._made))
        if number == len(self._made):
            self._made.append((*self._made[run], event))
        return number

    def events(self, run: int) -> tuple[Event, ...]:
        return self._made[run]


class _Search:
    """Breadth-first, so that what is found is short."""

    def __init__(self, program: Program, model: MemoryModel, limits: Limits, keeps_stores: bool) -> None:
        self.judged: dict[tuple[tuple[int, ...], Orders | None], bool] = {}
        self.found: Trace | None = None
        self._program = program
        self._model = model
        self._limits = limits
        self._keeps_stores = keeps_stores
        self._runs = _Runs()
        self._parents: dict[_Node, tuple[_Node, Step] | None] = {}
        self._transitions = 0
        self._clock = Deadline(limits.seconds)
        self._has_loops = any(any(loop_levels(process)) for process in program.processes)
        self._is_silent = [self._silent_locations(p) for p in range(len(program.processes))]

    @property
    def cost(self) -> Cost:
        return Cost(len(self._parents), self._transitions, self._clock.elapsed)

    def explore(self) -> Stop:
        nothing = tuple(() for _ in self._program.variables) if self._keeps_stores else None
        begun = tuple(0 for _ in self._program.processes)
        open_ = deque(_Node(state, begun, frozenset(), nothing) for state in starts(self._program, self._model))
        self._parents |= dict.fromkeys(open_)
        while open_:
            node = open_.popleft()
            if not self._is_made_under_sc(node):
                self.found = self._run_to(node)
                return Stop.FOUND
            for step, after in self._successors(node):
                self._transitions += 1
                if after not in self._parents:
                    self._parents[after] = node, step
                    open_.append(after)
            if len(self._parents) % BETWEEN_LOOKS == 0 and (stop := self._limit(len(open_))) is not None:
                return stop
        return Stop.NOTHING_LEFT

    def _limit(self, queue: int) -> Stop | None:
        limits, cost = self._limits, self.cost
        if limits.progress is not None:
            limits.progress(cost.states, cost.transitions, queue, cost.seconds, resident_megabytes())
        if limits.cancel is not None and limits.cancel.is_cancelled:
            return Stop.CANCELLED
        if self._clock.passed:
            return Stop.TIMEOUT
        if resident_megabytes() * 1e6 > limits.memory_bytes:
            return Stop.MEMORY
        most = limits.most_states or (MOST_WITH_LOOPS if self._has_loops else 0)
        return Stop.STATES if most and cost.states > most else None

    def _is_made_under_sc(self, node: _Node) -> bool:
        """Whether SC can do what was done; the order of the stores is known once all of them are in memory."""
        key = node.runs, node.orders
        if self._keeps_stores and not node.state.is_plain:
            return True
        if key not in self.judged:
            runs = [self._runs.events(run) for run in node.runs]
            initial = [variable.init for variable in self._program.variables]
            self.judged[key] = is_made_under_sc(runs, initial, node.orders)
        return self.judged[key]

    def _successors(self, node: _Node) -> Iterator[tuple[Step, _Node]]:
        if (first := self._silent_process(node)) is not None:
            yield from self._steps_of(node, first)
            return
        for process in range(len(self._program.processes)):
            for step, after in self._model.background(self._program, node.state, process):
                assert isinstance(step, Commit)
                (commit,) = accesses(self._program, self._model, node.state, step)
                yield step, _Node(after, node.runs, node.failed, self._stored(node.orders, commit))
            yield from self._steps_of(node, process)

    def _steps_of(self, node: _Node, process: int) -> Iterator[tuple[Step, _Node]]:
        if process in node.failed:
            return
        program, model, state = self._program, self._model, node.state
        for number, _ in program.processes[process].leaving(state.locations[process]):
            step = ProcessStep(process, number)
            after = take(program, model, state, step)
            if after is None:
                continue
            made = accesses(program, model, state, step)
            if isinstance(after, Failure):
                made = _made_before_failing(made)
            runs = self._with_event(node.runs, process, made)
            if isinstance(after, Failure):
                yield step, _Node(state, runs, node.failed | {process}, node.orders)
                continue
            orders = node.orders
            for access in made:
                orders = self._stored(orders, access) if access.kind == "store" else orders
            yield step, _Node(after, runs, node.failed, orders)

    def _with_event(self, runs: tuple[int, ...], process: int, made: tuple[Access, ...]) -> tuple[int, ...]:
        event: Event = tuple(
            ("read" if access.kind in ("load", "own load") else "write", access.variable, access.value)
            for access in made
        )
        return set_at(runs, process, self._runs.longer(runs[process], event)) if event else runs

    def _stored(self, orders: Orders | None, store: Access) -> Orders | None:
        if orders is None:
            return None
        return set_at(orders, store.variable, (*orders[store.variable], store.process))

    def _silent_locations(self, process: int) -> frozenset[int]:
        """Where a process, in any order with the others, does nothing that they could see; not where it may do so for
        ever."""
        if self._has_loops:
            return frozenset()
        own = self._program.processes[process]
        silent = set(range(len(own.locations)))
        for transition in own.transitions:
            is_seen = is_locked(self._model, transition) or any(
                not isinstance(op, Assign | Assume | Assert) for op in transition.ops
            )
            silent -= {transition.source} if is_seen else set()
        return frozenset(silent)

    def _silent_process(self, node: _Node) -> int | None:
        for process, at in enumerate(node.state.locations):
            if at in self._is_silent[process] and any(True for _ in self._steps_of(node, process)):
                return process
        return None

    def _run_to(self, node: _Node) -> Trace:
        """The run, with all stores in memory at last; up to the first step that fails, if one does."""
        steps, at = list[Step](), node
        while (before := self._parents[at]) is not None:
            at, step = before
            steps.append(step)
        run = replay(self._program, self._model, at.state, steps[::-1])
        made = [taken.step for taken in run.taken]
        end = run.end
        while run.failure is None and (drained := next(self._commits(end), None)) is not None:
            step, end = drained
            made.append(step)
        return Trace(self._program, self._model, at.state, made)

    def _commits(self, state: State) -> Iterator[tuple[Step, State]]:
        for process in range(len(self._program.processes)):
            yield from self._model.background(self._program, state, process)


def _made_before_failing(made: tuple[Access, ...]) -> tuple[Access, ...]:
    """Of a step that fails, what it has read of others: none of its stores happens."""
    stored = set[int]()
    read = list[Access]()
    for access in made:
        if access.kind in ("store", "pending store"):
            stored.add(access.variable)
        elif access.variable not in stored:
            read.append(access)
    return tuple(read)
