"""Executions in which threads wait for ever, as a literal: `axiomatic.waiting` says what that means."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.axiomatic.code import Wait
from memfence.engines.axiomatic.core import Core
from memfence.engines.axiomatic.terms import Leaf, Terms
from memfence.engines.axiomatic.vectors import Vector
from memfence.program.expressions import Register, Shared, registers_of


def waits_for_ever(core: Core, *, undecided: bool) -> int:
    """Where every thread has ended or waits for ever, and one waits that may not end so.

    `undecided`: also where nobody knows whether a thread goes on.
    """
    clauses, ended = core.clauses, core.events.ended
    waiting = [list(_Waits(core, thread).found(undecided=undecided)) for thread in range(len(ended))]
    settled = [clauses.any_of([end, *(stays for stays, _ in found)]) for end, found in zip(ended, waiting, strict=True)]
    wrong = [stays for found in waiting for stays, item in found if not item.may_end]
    return clauses.all_of([*settled, clauses.any_of(wrong)])


class _Waits:
    """Where one thread waits for ever."""

    def __init__(self, core: Core, thread: int) -> None:
        self.clauses = core.clauses
        self.memory = core.memory
        self.items = core.code.threads[thread].items
        self.slots = core.events.slots[thread]
        self.terms = Terms(core.clauses, self._leaf)

    def found(self, *, undecided: bool) -> Iterator[tuple[int, Wait]]:
        for item in self.items:
            if isinstance(item, Wait) and (item.goes_on is not None or undecided):
                stays = self.clauses.both(self.slots.is_true(item.guard), -self.slots.is_true(item.condition))
                if item.goes_on is not None:
                    self.slots.require(registers_of(item.goes_on))
                    stays = self.clauses.both(stays, -self.terms.is_true(item.goes_on))
                yield stays, item

    def _leaf(self, node: Leaf) -> Vector:
        match node:
            case Register(slot):
                return self.slots.slot(slot)
            case Shared(address):
                return self.memory.last_value_at(address, self.terms.value)
        raise AssertionError(f"{node} in what a thread waits for")
