"""`timeout`: true where no statement of any process can be executed, `timeout` taken for false, and nothing is pending.

While the processes are lowered a mark stands for it, since it depends on all of them. A process that is inside an
`atomic` counts as one that can move: nobody else sees it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from memfence.codes import Code
from memfence.frontends.promela.declarations import INT, Errors
from memfence.passes.lock_regions import reached_with_lock
from memfence.program import expressions
from memfence.program.facts.effects import op_expressions
from memfence.program.facts.ends import halting_locations
from memfence.program.ir import Assign, Assume, Load, Op, Process, RegisterVar, Transition
from memfence.program.traversal import map_transition

MARK = expressions.At(0, frozenset({-2}))
"""Stands for `timeout` until all processes are known."""

Read = Callable[[expressions.Address, expressions.Expr], expressions.Expr]
"""The value at an address, which is only looked at where the condition is true."""


def nobody_can_move(processes: Sequence[Process], read: Read) -> expressions.Expr:
    """True where nothing is pending, and each process has ended or waits for something that is not true."""
    empty = [expressions.BufferEmpty(number) for number, _ in enumerate(processes)]
    waits = [expressions.disjunction(*_waiting(number, process, read)) for number, process in enumerate(processes)]
    return expressions.conjunction(*empty, *waits)


def in_memory(address: expressions.Address, condition: expressions.Expr) -> expressions.Expr:
    """How a property reads a variable."""
    return (
        expressions.Conditional(condition, expressions.Shared(address), expressions.FALSE)
        if condition != expressions.TRUE
        else expressions.Shared(address)
    )


def with_timeouts(processes: Sequence[Process], errors: Errors) -> list[Process]:
    """The processes with every mark replaced: a statement with `timeout` loads what the others wait for."""
    return [_replaced(process, processes, errors) for process in processes]


def _waiting(number: int, process: Process, read: Read) -> Iterator[expressions.Expr]:
    """Where the process can be without being able to move, outside of lock regions."""
    ends = halting_locations(process)
    if ends:
        yield expressions.At(number, ends)
    held = {location for location, holds in reached_with_lock(process) if holds}
    leaving: dict[int, list[Transition]] = {}
    for transition in process.transitions:
        leaving.setdefault(transition.source, []).append(transition)
    for location in sorted(leaving.keys() - held):
        here = expressions.At(number, frozenset({location}))
        ways = [_can_be_taken(number, t, here, read) for t in leaving[location]]
        blocked = expressions.fold(expressions.conjunction(*(expressions.negate(way) for way in ways)))
        if blocked != expressions.FALSE:
            yield expressions.Binary("&&", here, blocked)


def _can_be_taken(number: int, transition: Transition, here: expressions.Expr, read: Read) -> expressions.Expr:
    """Whether the step is possible where the process stands at its source: all that it assumes is true."""
    known: dict[int, expressions.Expr] = {}

    def seen(expr: expressions.Expr) -> expressions.Expr:
        def leaf(node: expressions.Expr) -> expressions.Expr:
            match node:
                case expressions.Register(index):
                    return known.get(index, expressions.RegisterOf(number, index))
                case _:
                    return expressions.FALSE if node == MARK else node

        return expressions.fold(expressions.rewrite(expr, leaf))

    needed: list[expressions.Expr] = []
    for op in transition.ops:
        match op:
            case Load(register, address, when):
                chosen = replace(address, index=seen(address.index))
                condition = expressions.TRUE if address.variable is not None else here
                if when is not None:
                    condition = expressions.conjunction(here, seen(when))
                known[register] = read(chosen, condition)
            case Assign(register, value):
                known[register] = seen(value)
            case Assume(expr):
                needed.append(seen(expr))
            case _:
                pass  # it never waits where nothing is pending
    return expressions.fold(expressions.conjunction(*needed))


@dataclass(slots=True)
class _Loads:
    """The loads of one step that looks whether others can move; each into a register of its own."""

    first: int
    ops: list[Op] = field(default_factory=list)
    known: dict[tuple[expressions.Address, expressions.Expr], expressions.Expr] = field(default_factory=dict)

    def read(self, address: expressions.Address, condition: expressions.Expr) -> expressions.Expr:
        if (address, condition) not in self.known:
            register = self.first + len(self.ops)
            self.ops.append(Load(register, address, None if condition == expressions.TRUE else condition))
            self.known[address, condition] = expressions.Register(register)
        return self.known[address, condition]


def _replaced(process: Process, processes: Sequence[Process], errors: Errors) -> Process:
    if not any(map(_is_marked, process.transitions)):
        return process
    loads = _Loads(len(process.registers))
    meaning = nobody_can_move(processes, loads.read)
    registers = tuple(RegisterVar(f"%timeout{n}", INT, transient=True) for n, _ in enumerate(loads.ops))
    inside = {location for location, holds in reached_with_lock(process) if holds}

    def changed(transition: Transition) -> Transition:
        if not _is_marked(transition):
            return transition
        if transition.source in inside:
            message = "`timeout` is only possible as the first statement of an `atomic`"
            errors.add(Code.UNSUPPORTED, message, transition.span, hint="wait for `timeout` in front of the `atomic`")
        done = map_transition(
            transition, lambda expr: expressions.rewrite(expr, lambda leaf: meaning if leaf == MARK else leaf)
        )
        return replace(done, ops=(*loads.ops, *done.ops))

    steps = tuple(map(changed, process.transitions))
    return replace(process, registers=(*process.registers, *registers), transitions=steps)


def _is_marked(transition: Transition) -> bool:
    leaves = (leaf for op in transition.ops for expr in op_expressions(op) for leaf in expressions.walk(expr))
    return any(leaf == MARK for leaf in leaves)
