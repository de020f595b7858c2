"""The slow twin of the Dual-TSO engine: the rules as printed, one case each, over single configurations.

Every memory, every register value and every own message is enumerated; nothing is postponed, merged or guessed to be
useless. For small programs only.

A message is what a process may load: the values of some variables at one moment (several where one atomic step loads
several), or its own store. FIFOs hold the oldest message first. An atomic step with several stores owes all but the
first: each reaches memory in a step of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import product

from memfence.models.state import State
from memfence.models.steps import evaluate_in, set_at
from memfence.program.expressions import EvaluationError, Expr, Register, check_index, evaluate
from memfence.program.ir import Assert, Assign, Assume, Fence, Load, Process, Program, Store, Transition

Facts = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """The values of variables, by variable; an own message holds one."""

    facts: Facts
    own: bool = False


Fifo = tuple[Message, ...]


@dataclass(frozen=True, slots=True, order=True)
class Control:
    """Where a process is: its location (-1 after a failure), its registers, and stores it owes."""

    location: int
    registers: tuple[int, ...]
    owed: Facts = ()


@dataclass(frozen=True, slots=True, order=True)
class Configuration:
    controls: tuple[Control, ...]
    memory: tuple[int, ...]
    fifos: tuple[Fifo, ...]

    @property
    def size(self) -> int:
        return sum(len(fifo) for fifo in self.fifos)


@dataclass(frozen=True, slots=True)
class Action:
    """One step of one process: what it loads (from one moment), then what it stores, and where it leads."""

    loads: Facts
    stores: Facts
    fenced: bool
    locked: bool
    target: Control


def can_reach(program: Program, bad: Expr | None, *, failures: bool = True, most: int = 20_000) -> bool | None:
    """Whether some TSO run reaches a state where `bad` is true, or a failure; None after `most` configurations."""
    return _Search(program, bad, failures).run(most)


class _Search:
    def __init__(self, program: Program, bad: Expr | None, failures: bool) -> None:
        self.program = program
        self.bad = bad
        self.failures = failures
        self.values = [tuple(range(v.domain.lo, v.domain.hi + 1)) for v in program.variables]
        self.memories = list(product(*self.values))
        self.arriving: list[dict[Control, list[tuple[Control, Action]]]] = []
        self.writes: list[set[tuple[int, int]]] = []
        for process in program.processes:
            self.look_forward(process)

    def look_forward(self, process: Process) -> None:
        """Which controls the process can be in by itself, loads giving anything, and how it gets there."""
        arriving: dict[Control, list[tuple[Control, Action]]] = {c: [] for c in initial_controls(process)}
        writes: set[tuple[int, int]] = set()
        todo = list(arriving)
        while todo:
            control = todo.pop()
            for action in actions(self.program, process, control, self.values):
                if action.target not in arriving:
                    arriving[action.target] = []
                    todo.append(action.target)
                arriving[action.target].append((control, action))
                if not action.locked:
                    writes.update(action.stores)
        self.arriving.append(arriving)
        self.writes.append(writes)

    def run(self, most: int) -> bool | None:
        minimal: dict[object, list[Configuration]] = {}
        queue: list[tuple[int, Configuration]] = []

        def add(c: Configuration) -> None:
            known = minimal.setdefault(key(c), [])
            if any(is_below(other, c) for other in known):
                return
            known[:] = [other for other in known if not is_below(c, other)] + [c]
            heappush(queue, (c.size, c))

        for start in self.starts():
            add(start)
        for _ in range(most):
            if not queue:
                return False
            _, c = heappop(queue)
            if self.is_initial(c):
                return True
            if c in minimal[key(c)]:
                for before in self.predecessors(c):
                    add(before)
        return None

    def starts(self) -> Iterator[Configuration]:
        """The bad configurations with empty FIFOs, with every memory."""
        empty: tuple[Fifo, ...] = tuple(() for _ in self.program.processes)
        for controls in product(*self.arriving):
            if self.is_bad(controls):
                for memory in self.memories:
                    yield Configuration(controls, memory, empty)

    def is_bad(self, controls: tuple[Control, ...]) -> bool:
        if any(c.location == -1 for c in controls):
            return self.failures
        if self.bad is None or any(c.owed for c in controls):
            return False
        state = State(
            tuple(c.location for c in controls),
            tuple(c.registers for c in controls),
            tuple(0 for _ in self.program.variables),
            tuple(((),) for _ in controls),
        )
        return bool(evaluate_in(self.program, state, 0, self.bad))

    def is_initial(self, c: Configuration) -> bool:
        return (
            c.size == 0
            and all(at in initial_controls(p) for at, p in zip(c.controls, self.program.processes, strict=True))
            and all(value in v.init for value, v in zip(c.memory, self.program.variables, strict=True))
        )

    def predecessors(self, c: Configuration) -> Iterator[Configuration]:
        for t in range(len(c.controls)):
            yield from self.before_propagate(c, t)
            yield from self.before_delete(c, t)
            for source, action in self.arriving[t][c.controls[t]]:
                moved = replace(c, controls=set_at(c.controls, t, source))
                yield from self.before_locked(moved, t, action) if action.locked else self.before(moved, t, action)

    def before_propagate(self, c: Configuration, t: int) -> Iterator[Configuration]:
        fifo = c.fifos[t]
        if fifo and not fifo[-1].own and all(c.memory[x] == v for x, v in fifo[-1].facts):
            yield with_fifo(c, t, fifo[:-1])

    def before_delete(self, c: Configuration, t: int) -> Iterator[Configuration]:
        for x, v in self.writes[t]:
            if newest_own(c.fifos[t], x) is None:
                yield with_fifo(c, t, (Message(((x, v),), True), *c.fifos[t]))

    def before(self, c: Configuration, t: int, action: Action) -> Iterator[Configuration]:
        """An unlocked step: undo its store, then its loads, then its fence."""
        for unstored in self.before_store(c, t, action.stores):
            if action.fenced:
                if not unstored.fifos[t] and all(unstored.memory[x] == v for x, v in action.loads):
                    yield unstored
            else:
                yield from before_loads(unstored, t, action.loads)

    def before_store(self, c: Configuration, t: int, stores: Facts) -> Iterator[Configuration]:
        if not stores:
            yield c
            return
        ((x, v),) = stores
        fifo = c.fifos[t]
        if c.memory[x] != v or not fifo or fifo[-1] != Message(((x, v),), True):
            return
        rest = fifo[:-1]
        longer = [rest]
        after_newest = max((n + 1 for n, m in enumerate(rest) if m.own and m.facts[0][0] == x), default=0)
        for older in (w for w in self.writes[t] if w[0] == x):
            for place in range(after_newest, len(rest) + 1):
                longer.append((*rest[:place], Message((older,), True), *rest[place:]))
        for value in self.values[x]:
            for before in longer:
                yield with_fifo(replace(c, memory=set_at(c.memory, x, value)), t, before)

    def before_locked(self, c: Configuration, t: int, action: Action) -> Iterator[Configuration]:
        if c.fifos[t] or any(c.memory[x] != v for x, v in dict(action.stores).items()):
            return
        written = {x for x, _ in action.stores}
        choices = [values if x in written else (c.memory[x],) for x, values in enumerate(self.values)]
        for memory in product(*choices):
            if all(memory[x] == v for x, v in action.loads):
                yield replace(c, memory=memory)


def before_loads(c: Configuration, t: int, loads: Facts) -> Iterator[Configuration]:
    """Owned variables give their newest own value; the others must all be in the oldest message."""
    fifo = c.fifos[t]
    own = {x: newest_own(fifo, x) for x, _ in loads}
    if any(own[x] not in (None, v) for x, v in loads):
        return
    rest = tuple((x, v) for x, v in loads if own[x] is None)
    if not rest or (fifo and fifo[0] == Message(rest)):
        yield c
    else:
        yield with_fifo(c, t, (Message(rest), *fifo))


def newest_own(fifo: Fifo, variable: int) -> int | None:
    return next((m.facts[0][1] for m in reversed(fifo) if m.own and m.facts[0][0] == variable), None)


def with_fifo(c: Configuration, t: int, fifo: Fifo) -> Configuration:
    return replace(c, fifos=set_at(c.fifos, t, fifo))


# The order: cut each FIFO at the newest own message of each variable.


def cut(fifo: Fifo) -> tuple[Fifo, tuple[Fifo, ...]]:
    """The newest own messages in order, and the words between them."""
    owned: list[Message] = []
    words: list[list[Message]] = [[]]
    for n, message in enumerate(fifo):
        if message.own and not any(m.own and m.facts[0][0] == message.facts[0][0] for m in fifo[n + 1 :]):
            owned.append(message)
            words.append([])
        else:
            words[-1].append(message)
    return tuple(owned), tuple(tuple(word) for word in words)


def key(c: Configuration) -> object:
    return c.controls, c.memory, tuple(cut(fifo)[0] for fifo in c.fifos)


def is_below(a: Configuration, b: Configuration) -> bool:
    """For configurations with equal keys."""
    pairs = (zip(cut(f)[1], cut(g)[1], strict=True) for f, g in zip(a.fifos, b.fifos, strict=True))
    return all(is_subword(word, other) for words in pairs for word, other in words)


def is_subword(word: Fifo, other: Fifo) -> bool:
    rest = iter(other)
    return all(message in rest for message in word)


# What a process does in one step, loads giving any value.


def initial_controls(process: Process) -> set[Control]:
    choices = ((0,) if r.transient else r.init for r in process.registers)
    return {Control(process.initial, registers) for registers in product(*choices)}


def actions(program: Program, process: Process, control: Control, values: list[tuple[int, ...]]) -> Iterator[Action]:
    if control.owed:
        first, *rest = control.owed
        yield Action((), (first,), False, False, replace(control, owed=tuple(rest)))
    elif control.location != -1:
        for _, transition in process.leaving(control.location):
            yield from _guesses(program, process, transition, control, values, ())


def _guesses(
    program: Program,
    process: Process,
    transition: Transition,
    control: Control,
    values: list[tuple[int, ...]],
    loads: Facts,
) -> Iterator[Action]:
    """The action with these loads, if they are all it needs; else with every value for the next one."""
    attempt = _Attempt(program, process, transition, control, dict(loads))
    outcome = attempt.run()
    if isinstance(outcome, int):
        for value in values[outcome]:
            more = tuple(sorted((*loads, (outcome, value))))
            yield from _guesses(program, process, transition, control, values, more)
    elif outcome is not None:
        stores = tuple(attempt.stores)
        if transition.locked:
            yield Action(loads, tuple(dict(stores).items()), False, True, outcome)
        elif outcome.location == -1:
            yield Action(loads, (), attempt.fenced, False, outcome)
        else:
            owing = replace(outcome, owed=stores[1:])
            yield Action(loads, stores[:1], attempt.fenced, False, owing)


class _Attempt:
    def __init__(
        self, program: Program, process: Process, transition: Transition, control: Control, loads: dict[int, int]
    ) -> None:
        self.program = program
        self.process = process
        self.transition = transition
        self.registers = list(control.registers)
        self.loads = loads
        self.stores: list[tuple[int, int]] = []
        self.fenced = False

    def run(self) -> Control | int | None:
        """Where it leads, the variable whose value it needs to know, or None where it blocks."""
        try:
            for op in self.transition.ops:
                match op:
                    case Load(register, _, when) if when is not None and not self.value(when):
                        self.set(register, 0)
                    case Load(register, address, _):
                        x = address.base + check_index(address, self.value(address.index))
                        known = {**self.loads, **dict(self.stores)}
                        if x not in known:
                            return x
                        self.set(register, known[x])
                    case Store(address, expr, _):
                        x = address.base + check_index(address, self.value(address.index))
                        self.stores.append((x, self.program.variables[x].domain.fit(self.value(expr))))
                    case Assign(register, expr):
                        self.set(register, self.value(expr))
                    case Assume(condition):
                        if not self.value(condition):
                            return None
                    case Assert(condition):
                        if not self.value(condition):
                            raise EvaluationError("assertion violated")
                    case Fence("mfence"):
                        if self.stores and not self.transition.locked:
                            return None
                        self.fenced = True
                    case Fence():
                        pass
                    case _:
                        raise NotImplementedError(op)
        except EvaluationError:
            self.stores.clear()
            return Control(-1, ())
        kept = (0 if r.transient else v for r, v in zip(self.process.registers, self.registers, strict=True))
        return Control(self.transition.target, tuple(kept))

    def value(self, expr: Expr) -> int:
        return evaluate(expr, lambda node, _: self.registers[node.index] if isinstance(node, Register) else 0)

    def set(self, register: int, value: int) -> None:
        self.registers[register] = self.process.registers[register].domain.fit(value)
