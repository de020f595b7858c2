"""The criteria of docs/theory/criteria.md straight from their definitions: every run, slowly.

A step (an executed transition) is one atomic event, however many accesses it makes: an SC run never lets another
process in between them. So are all steps of a process from the one that takes the bus to the one that releases it.
A step that fails makes its loads and no store; its process does nothing after it.
For programs without loops only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Literal

from memfence.execution.trace import Trace
from memfence.models.accesses import Access, accesses
from memfence.models.readings import Reading, is_locked
from memfence.models.spec import ModelName
from memfence.models.state import Commit, DropSeparator, Failure, ProcessStep, State, Step
from memfence.models.steps import MemoryModel, set_at, starts, take
from memfence.models.tso import Tso
from memfence.program.ir import Fence, Location, Lock, Op, Program
from memfence.program.orders import MemoryOrder
from support.models import memory_model
from twins.reference_search import breadth_first

INITIAL = ("initial",)

Store = tuple[object, ...]
"""Which store: (process, number of its step, number of the access in the step), or INITIAL."""


@dataclass(frozen=True, slots=True)
class Event:
    """A step with accesses: (kind, variable, value, source) each, where a read's source is the store it reads from."""

    transition: int  # of a region, the last one so far
    accesses: tuple[tuple[Literal["read", "write"], int, int, Store], ...]
    locked: bool

    @property
    def label(self) -> tuple[object, ...]:
        """What program order records of it: values, not where they came from."""
        return self.transition, tuple(access[:3] for access in self.accesses)


@dataclass(frozen=True, slots=True)
class History:
    """A run so far: the events of each process, and the stores in the order in which they reached memory."""

    events: tuple[tuple[Event, ...], ...]
    commits: tuple[Store, ...] = ()

    def last_commit(self, variable: int) -> Store:
        return next((s for s in reversed(self.commits) if self.written(s)[0] == variable), INITIAL)

    def written(self, store: Store) -> tuple[int, int]:
        """Variable and value of a store."""
        process, event, access = store
        _, variable, value, _ = self.events[process][event].accesses[access]  # type: ignore[index]
        return variable, value

    def pending(self, process: int) -> list[Store]:
        """The process's stores that are not in memory yet, oldest first."""
        mine = [
            (process, n, k)
            for n, event in enumerate(self.events[process])
            for k, access in enumerate(event.accesses)
            if access[0] == "write"
        ]
        return [store for store in mine if store not in self.commits]


def with_failed_locations(program: Program) -> Program:
    """`program` with one more location a process: where it is after it failed."""
    failed = Location("failed")
    return replace(program, processes=tuple(replace(p, locations=(*p.locations, failed)) for p in program.processes))


@lru_cache(maxsize=4)
def histories(program: Program, model_name: ModelName, hardware: ModelName) -> frozenset[History]:
    """What happened in each run that ends with empty buffers; orders make steps locked as under `hardware`."""
    program, model, reading = with_failed_locations(program), memory_model(model_name), memory_model(hardware)
    nothing = History(tuple(() for _ in program.processes))

    @cache  # many histories lead to one state
    def moves(state: State) -> list[tuple[Step, State, tuple[Access, ...]]]:
        return [(s, after, made_accesses(program, model, state, s)) for s, after in steps(program, model, state)]

    def follow(node: tuple[State, History]) -> Iterator[tuple[State, History]]:
        state, history = node
        return (
            (after, _extended(program, reading, history, step, made, (state.lock_owner, after.lock_owner)))
            for step, after, made in moves(state)
        )

    nodes = breadth_first([(state, nothing) for state in starts(program, model)], follow)
    return frozenset(history for state, history in nodes if state.is_plain)


def steps(program: Program, model: MemoryModel, state: State) -> Iterator[tuple[Step, State]]:
    """Every step possible in `state`; one that fails leads to where its process has failed."""
    for p, process in enumerate(program.processes):
        if state.lock_owner in (None, p):
            yield from model.background(program, state, p)
        for number, _ in process.leaving(state.locations[p]):
            after = take(program, model, state, ProcessStep(p, number))
            if isinstance(after, Failure):
                nothing = tuple(0 for _ in process.registers)
                after = replace(
                    state,
                    locations=set_at(state.locations, p, len(process.locations) - 1),
                    registers=set_at(state.registers, p, nothing),
                )
            if after is not None:
                yield ProcessStep(p, number), after


def made_accesses(program: Program, model: MemoryModel, state: State, step: Step) -> tuple[Access, ...]:
    """The accesses of the step; if it fails, only its loads, but for those of its own stores."""
    made = accesses(program, model, state, step)
    if not isinstance(step, ProcessStep) or not isinstance(take(program, model, state, step), Failure):
        return made
    stores = ("store", "pending store")
    return tuple(
        a
        for k, a in enumerate(made)
        if a.kind not in stores and not any(b.variable == a.variable and b.kind in stores for b in made[:k])
    )


def _extended(
    program: Program,
    hardware: Reading,
    history: History,
    step: Step,
    made: tuple[Access, ...],
    holders: tuple[int | None, int | None] = (None, None),
) -> History:
    """`holders`: who holds the bus before and after the step."""
    match step:
        case Commit(process, _):
            (commit,) = made
            oldest = next(s for s in history.pending(process) if history.written(s)[0] == commit.variable)
            return replace(history, commits=(*history.commits, oldest))
        case DropSeparator():
            return history
        case ProcessStep(process, number):
            locked = is_locked(hardware, program.processes[process].transitions[number]) or process in holders
            if holders[0] == process:
                return _with_event(history, process, number, made, locked, longer=True)
            return _with_event(history, process, number, made, locked) if made or process in holders else history
        case _:
            raise AssertionError("rendezvous are no memory accesses")


def _with_event(
    history: History, process: int, number: int, made: tuple[Access, ...], locked: bool, *, longer: bool = False
) -> History:
    """`longer`: the step is part of the last event."""
    position = len(history.events[process]) - longer
    inside = list(history.events[process][-1].accesses) if longer else []
    before = len(inside)
    commits = list(history.commits)
    newest = {history.written(s)[0]: s for s in history.pending(process)}
    for k, access in enumerate(made, before):
        here: Store = (process, position, k)
        if access.kind in ("load", "own load"):
            source = newest.get(access.variable) or _last(history, inside, commits, here, access.variable)
            inside.append(("read", access.variable, access.value, source))
            continue
        inside.append(("write", access.variable, access.value, here))
        if access.kind == "store":
            commits.append(here)
        else:
            newest[access.variable] = here
    event = Event(number, tuple(inside), locked)  # type: ignore[arg-type]
    events = set_at(history.events, process, (*history.events[process][:position], event))
    return History(events, tuple(commits))


def _last(history: History, inside: list[Any], commits: list[Store], here: Store, variable: int) -> Store:
    """The last store to the variable that is in memory; those of the present step are not in the history yet."""
    for store in reversed(commits):
        own = store[:2] == here[:2]
        stored = inside[store[2]][1] if own else history.written(store)[0]  # type: ignore[index]
        if stored == variable:
            return store
    return INITIAL


# Persistence: the same program order and store order as some SC run.


def is_persistent(program: Program) -> bool:
    allowed = {_order_trace(history) for history in histories(program, "sc", "tso")}
    return all(_order_trace(history) in allowed for history in histories(program, "tso", "tso"))


def _order_trace(history: History) -> object:
    """Program order, and store order: a locked step is one element of it, a plain store is known by its value."""
    order: list[object] = []
    for store in history.commits:
        process, number, _ = store
        event = history.events[process][number]  # type: ignore[index]
        element = (process, number, "locked") if event.locked else (process, *history.written(store))
        if not (event.locked and order and order[-1] == element):
            order.append(element)
    return tuple(tuple(event.label for event in events) for events in history.events), tuple(order)


# Weaker than persistence and robustness: what the future-work section of the persistence paper asks for.


def keeps_stores_of_each_variable(program: Program) -> bool:
    """PoVso: the same program order, and the same order of stores to each variable, as some SC run."""
    return _kept(program, labels_and_values)


def keeps_program_order(program: Program) -> bool:
    """Po: the same program order as some SC run."""
    return _kept(program, labels)


def _kept(program: Program, seen: Callable[[History], object]) -> bool:
    allowed = {seen(history) for history in histories(program, "sc", "tso")}
    return all(seen(history) in allowed for history in histories(program, "tso", "tso"))


def labels(history: History) -> object:
    """Program order."""
    return tuple(tuple(event.label for event in events) for events in history.events)


def labels_and_values(history: History) -> object:
    return labels(history), _values_of_each_variable(history)


def _values_of_each_variable(history: History) -> object:
    """Whose store of which value came first, second, ..., for each variable."""
    orders: dict[int, list[object]] = {}
    for store in history.commits:
        variable, value = history.written(store)
        orders.setdefault(variable, []).append((store[0], value))
    return tuple(sorted((variable, tuple(order)) for variable, order in orders.items()))


# Trace-robustness: the same program order, read-from and store order a variable as some SC run.


def is_robust(program: Program, model: ModelName) -> bool:
    """Every relaxed run has a happens-before relation without a cycle through different steps."""
    return all(is_acyclic(history) for history in {_trace(h): h for h in histories(program, model, model)}.values())


def is_robust_by_traces(program: Program, model: ModelName) -> bool:
    """The set of traces is that of SC."""
    allowed = {_trace(history) for history in histories(program, "sc", model)}
    return all(_trace(history) in allowed for history in histories(program, model, model))


def _trace(history: History) -> object:
    return history.events, _coherence(history)


def _coherence(history: History) -> tuple[tuple[int, tuple[Store, ...]], ...]:
    orders: dict[int, list[Store]] = {}
    for store in history.commits:
        orders.setdefault(history.written(store)[0], []).append(store)
    return tuple(sorted((variable, tuple(order)) for variable, order in orders.items()))


def is_acyclic(history: History) -> bool:
    """Whether program order, read-from, store order and from-read, between steps, have no cycle."""
    nodes = [(p, n) for p, events in enumerate(history.events) for n in range(len(events))]
    after: dict[tuple[object, ...], set[tuple[object, ...]]] = {node: set() for node in nodes}
    order = dict(_coherence(history))
    for p, n in nodes:
        if (p, n + 1) in after:
            after[p, n].add((p, n + 1))
        for kind, variable, _, source in history.events[p][n].accesses:
            stores = order.get(variable, ())
            if kind == "read" and source != INITIAL:
                after[source[:2]].add((p, n))
            position = stores.index(source) + 1 if source in stores else 0
            if kind == "write" or source == INITIAL or source in stores:
                after[p, n].update(store[:2] for store in stores[position:])
    return not _has_cycle({node: others - {node} for node, others in after.items()})


def _has_cycle(after: dict[tuple[object, ...], set[tuple[object, ...]]]) -> bool:
    left = set(after)
    while left:
        ends = {node for node in left if not after[node] & left}
        if not ends:
            return True
        left -= ends
    return False


# State-robustness: plain configurations are those of SC.


def is_state_robust(program: Program, model: ModelName) -> bool:
    program = with_failed_locations(program)
    allowed = _plain(program, memory_model("sc"))
    return _plain(program, memory_model(model)) <= allowed


def _plain(program: Program, model: MemoryModel) -> set[tuple[object, ...]]:
    states = _reachable(program, model, lambda state: steps(program, model, state))
    return {(s.locations, s.registers, s.memory, s.lock_owner) for s in states if s.is_plain}


def _reachable(
    program: Program, model: MemoryModel, follow: Callable[[State], Iterator[tuple[Step, State]]]
) -> Iterator[State]:
    return breadth_first(starts(program, model), lambda state: (after for _, after in follow(state)))


# Races: two processes about to do things.


def is_data_race_free(program: Program) -> bool:
    """No two processes are ever about to access one variable, one of them writing, not both in locked steps.

    A step that waits for what it reads is about to read it, again and again.
    """
    program = with_failed_locations(program)
    model = memory_model("sc")
    for state in _reachable(program, model, lambda s: steps(program, model, s)):
        about = _about_to(program, state) + _waiting_to(program, state)
        for p, first, mine in about:
            for q, second, theirs in about:
                if p != q and not (_is_locked(program, p, first) and _is_locked(program, q, second)):
                    written = {a.variable for a in mine if a.writes_memory}
                    if written & {a.variable for a in theirs}:
                        return False
    return True


def is_triangular_race_free(program: Program) -> bool:
    """No process is ever about to read x after an unfenced store to y, newer than its stores to x, while another is
    about to write x.

    A plain step that stores counts as reading with that store unfenced, since its reads happen before the store
    commits; of several stores in one step, those before the last can be seen before it: another access to them
    completes a race.
    """
    program = with_failed_locations(program)
    model = memory_model("sc")
    todo = [(state, tuple(() for _ in program.processes)) for state in starts(program, model)]
    seen: set[tuple[State, tuple[tuple[int, ...], ...]]] = set(todo)  # type: ignore[arg-type]
    while todo:
        state, unfenced = todo.pop()
        about = _about_to(program, state)
        for p, number, made in about:
            for variable, only_writes in _exposed(program, p, number, made, unfenced[p]):
                for q, _, theirs in about:
                    if q != p and any(a.variable == variable and (a.writes_memory or not only_writes) for a in theirs):
                        return False
        for step, after in steps(program, model, state):
            assert isinstance(step, ProcessStep)
            made = made_accesses(program, model, state, step)
            mine = _unfenced_after(program, step, made, unfenced[step.process])
            follower = (after, set_at(unfenced, step.process, mine))
            if follower not in seen:
                seen.add(follower)
                todo.append(follower)
    return True


def _about_to(program: Program, state: State) -> list[tuple[int, int, tuple[Access, ...]]]:
    model = memory_model("sc")
    return [
        (step.process, step.transition, made_accesses(program, model, state, step))
        for step, _ in steps(program, model, state)
        if isinstance(step, ProcessStep)
    ]


def _waiting_to(program: Program, state: State) -> list[tuple[int, int, tuple[Access, ...]]]:
    """The loads of steps that are not possible, up to what makes them wait."""
    model = memory_model("sc")
    found = []
    for p, process in enumerate(program.processes):
        for number, transition in process.leaving(state.locations[p]):
            step = ProcessStep(p, number)
            if take(program, model, state, step) is not None:
                continue
            for length in range(len(transition.ops) - 1, 0, -1):
                shorter = replace(transition, ops=transition.ops[:length])
                processes = set_at(
                    program.processes, p, replace(process, transitions=set_at(process.transitions, number, shorter))
                )
                beginning = replace(program, processes=processes)
                if take(beginning, model, state, step) is not None:
                    made = accesses(beginning, model, state, step)
                    written = [a.variable for a in made if a.writes_memory]
                    loads = tuple(a for a in made if not a.writes_memory and a.variable not in written)
                    found.append((p, number, loads))
                    break
    return found


def _is_locked(program: Program, process: int, number: int) -> bool:
    return is_locked(Tso(), program.processes[process].transitions[number])


def _unfenced_after(
    program: Program, step: ProcessStep, made: tuple[Access, ...], unfenced: tuple[int, ...]
) -> tuple[int, ...]:
    transition = program.processes[step.process].transitions[step.transition]
    if is_locked(Tso(), transition) or any(map(_is_full_fence, transition.ops)):
        return ()
    return (*unfenced, *(a.variable for a in made if a.writes_memory))


def _is_full_fence(op: Op) -> bool:
    return isinstance(op, Lock) or op in (Fence("mfence"), Fence("thread_fence", MemoryOrder.SEQ_CST))


def _exposed(
    program: Program, process: int, number: int, made: tuple[Access, ...], unfenced: tuple[int, ...]
) -> Iterator[tuple[int, bool]]:
    """The variables whose change (or, if not `only_writes`, whose access) by another process makes a race."""
    if _is_locked(program, process, number):
        return
    stores = [k for k, a in enumerate(made) if a.writes_memory]
    issued = list(unfenced)
    inside: list[int] = []
    for k, access in enumerate(made):
        x = access.variable
        if access.writes_memory:
            issued.append(x)
            inside.append(x)
            if k < stores[-1]:
                yield x, False
        else:
            newer = issued[len(issued) - issued[::-1].index(x) :] if x in issued else issued
            if newer or (stores and x not in inside):
                yield x, True


# One given run.


def history_of(trace: Trace) -> History:
    """What happened in a run that ends with empty buffers."""
    history = History(tuple(() for _ in trace.program.processes))
    for position, taken in enumerate(trace.steps):
        before = trace.state_before(position)
        made = made_accesses(trace.program, trace.memory_model, before, taken.step)
        holders = (before.lock_owner, taken.state.lock_owner)
        history = _extended(trace.program, trace.memory_model, history, taken.step, made, holders)
    return history
