"""A thread on its way through a step."""

from __future__ import annotations

from dataclasses import replace

from memfence.axiomatic.code import Barrier, Write
from memfence.program.expressions import Address, Expr
from memfence.program.ir import Assume, Op, Rmw, Transition
from memfence.records import Record


class Reserved(Record):
    """An exclusive load that the next exclusive store may belong to, where `guard` is true."""

    guard: Expr
    position: int
    address: Address


class State(Record):
    """Where `guard` is true the thread is here, and its registers have these values.

    `held`: writes and fences of the step so far, which happen once nothing is left that the step waits for; their own
    guards say what else they depend on. `loaded`: what the step has read for certain, and by which items.
    """

    guard: Expr
    registers: tuple[Expr, ...]
    reserved: tuple[Reserved, ...] = ()
    held: tuple[Write | Barrier, ...] = ()
    loaded: tuple[tuple[Address, int], ...] = ()


class Way(Record):
    """A step, or what is left of it: its number, and the number of its next op."""

    number: int
    transition: Transition
    op: int = 0

    @property
    def head(self) -> Op | None:
        """The next op; None at the end."""
        return self.transition.ops[self.op] if self.op < len(self.transition.ops) else None

    @property
    def locked(self) -> bool:
        """Whether all of the step is one instant."""
        return self.transition.locked or any(isinstance(op, Rmw) for op in self.transition.ops)

    @property
    def waits(self) -> bool:
        """Whether something is left that the step waits for."""
        return any(isinstance(op, Assume) for op in self.transition.ops[self.op :])

    @property
    def rest(self) -> Way:
        return replace(self, op=self.op + 1)
