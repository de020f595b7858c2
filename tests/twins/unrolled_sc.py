"""Unrolled code under sequential consistency, by trying all interleavings of its steps: no solver, no relations.

A twin of the unrolling alone: what this finds must be what the reference search finds in the program itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import assert_never

from memfence.axiomatic.code import (
    Barrier,
    Branch,
    Check,
    Choose,
    Code,
    Cut,
    Define,
    End,
    Given,
    Join,
    Over,
    Read,
    Thread,
    Wait,
    Write,
)
from memfence.models.steps import set_at
from memfence.program.expressions import Address, EvaluationError, Expr, Register, check_index, evaluate
from twins.reference_search import Outcome, breadth_first

STOPPED = -1
"""The position of a thread that waits for ever, failed, or reached the bound."""


@dataclass(frozen=True, slots=True)
class Running:
    """A thread: the position of its next item, and the slots defined so far."""

    position: int
    slots: tuple[int, ...]

    def value(self, expr: Expr) -> int:
        def leaf(node: object, _: int) -> int:
            assert isinstance(node, Register)
            return self.slots[node.index]

        return evaluate(expr, leaf)

    def value_or_0(self, expr: Expr) -> int:
        try:
            return self.value(expr)
        except EvaluationError:
            return 0

    def variable(self, address: Address) -> int:
        return address.base + check_index(address, self.value(address.index))

    def next(self, slot: int | None = None, value: int = 0) -> Running:
        slots = self.slots if slot is None else set_at(self.slots, slot, value)
        return Running(self.position + 1, slots)


@dataclass(slots=True)
class Found:
    """How all threads can end, and whether some check fails or some cut is reached."""

    outcomes: set[Outcome] = field(default_factory=set)
    failures: set[str] = field(default_factory=set)
    is_cut: bool = False


Global = tuple[tuple[Running, ...], tuple[int, ...]]


def run_all(code: Code, *, most_states: int | None = None) -> Found:
    """Every interleaving of the steps of all threads."""
    found = Found()

    def follow(state: Global) -> Iterator[Global]:
        threads, memory = state
        for number, thread in enumerate(code.threads):
            for after, memory_after in _step(thread, threads[number], memory, found):
                yield set_at(threads, number, after), memory_after

    first = tuple(Running(0, (0,) * thread.slots) for thread in code.threads)
    starts = [(first, memory) for memory in product(*(v.init for v in code.program.variables))]
    for threads, memory in breadth_first(starts, follow, most=most_states):
        if all(r.position == len(t.items) for r, t in zip(threads, code.threads, strict=True)):
            found.outcomes.add((_registers(code, threads), memory))
    return found


def _registers(code: Code, threads: tuple[Running, ...]) -> tuple[tuple[int, ...], ...]:
    result = []
    for process, thread, running in zip(code.program.processes, code.threads, threads, strict=True):
        end = thread.items[-1]
        assert isinstance(end, End)
        values = zip(process.registers, end.registers, strict=True)
        result.append(tuple(running.slots[slot] for register, slot in values if not register.transient))
    return tuple(result)


def _step(
    thread: Thread, running: Running, memory: tuple[int, ...], found: Found, step: int | None = None
) -> Iterator[tuple[Running, tuple[int, ...]]]:
    """The thread up to the end of its next step, and what it computes behind that."""
    while 0 <= running.position < len(thread.items):
        item = thread.items[running.position]
        match item:
            case Choose(slot, values):
                for value in values:
                    yield from _step(thread, running.next(slot, value), memory, found, step)
                return
            case Define(slot, value):
                running = running.next(slot, running.value_or_0(value))
            case Join(slot, alternatives):
                taken = [value for guard, value in alternatives if running.value_or_0(guard)]
                running = running.next(slot, running.value(taken[0]) if taken else 0)
            case _ if not running.value(item.guard):
                running = Running(STOPPED, running.slots) if isinstance(item, End) else running.next()
            case Read() | Write() | Barrier():
                if step is not None and item.step != step:
                    break
                step = item.step
                running, memory = _access(item, running, memory)
            case Check(condition, _, error):
                if not running.value(condition):
                    found.failures.add(error)
                    running = replace(running, position=STOPPED)
                else:
                    running = running.next()
            case Wait(condition):
                running = running.next() if running.value(condition) else replace(running, position=STOPPED)
            case Given(condition):
                if not running.value(condition):
                    return
                running = running.next()
            case Over():
                running = replace(running, position=STOPPED)
            case Cut():
                found.is_cut = True
                running = replace(running, position=STOPPED)
            case Branch() | End():
                running = running.next()
            case _:
                assert_never(item)
    yield running, memory


def _access(item: Read | Write | Barrier, running: Running, memory: tuple[int, ...]) -> tuple[Running, tuple[int, ...]]:
    match item:
        case Read():
            return running.next(item.slot, memory[running.variable(item.address)]), memory
        case Write():
            return running.next(), set_at(memory, running.variable(item.address), running.value(item.value))
        case Barrier():
            return running.next(), memory
        case _:
            assert_never(item)
