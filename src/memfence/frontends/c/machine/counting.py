"""How many threads are created: a number that nobody knows, and that only says when a loop ends.

`for (i = 0; i < n; i++) pthread_create(...)` with any `n` creates any number of threads. Once these stand for any
number anyway, neither `i` nor `n` tells anything: the loop may end after every round. This forgets such numbers, where

* a number that was drawn is only compared with others, and what it is compared with is used for nothing else;
* larger numbers go on where smaller ones stop, and who has stopped compares nothing any more.

Then every way through the loop is that of some number, or of a larger one with threads that do not move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from memfence.frontends.c.machine.process import SCRATCH, Location, Process
from memfence.frontends.c.machine.residual import Check, Draw, Guard, Modify, Op, Read, Set, Step, registers_read_by
from memfence.frontends.c.machine.undefined import SIGNED_OVERFLOW
from memfence.program.expressions import Binary, Expr, Register, registers_of

NO_OVERFLOW = "the counter of a loop that creates threads does not overflow"

LARGER = {"<": "right", "<=": "right", ">": "left", ">=": "left"}
"""On which side of the comparison a larger number makes it true."""


class Used(Exception):
    """The numbers are used for more than to say when a loop ends."""


def forget_numbers(processes: Sequence[Process]) -> bool:
    """Take numbers of threads out of these; True where that assumes that counters do not overflow."""
    assumes = False
    for process in processes:
        numbers = _Numbers(process)
        if process.thread.is_parameterised or not numbers.drawn:
            continue
        try:
            cuts = numbers.forget()
        except Used:
            continue
        assumes = assumes or cuts
    return assumes


@dataclass
class _Numbers:
    """`drawn`: registers that hold a drawn number; `forgotten`: these, and whatever is compared with them."""

    process: Process
    drawn: set[int] = field(default_factory=set)
    forgotten: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        before = -1
        while before != len(self.drawn) + len(self.forgotten):
            before = len(self.drawn) + len(self.forgotten)
            for step in self.steps():
                self._spread(step)

    def steps(self) -> Iterator[Step]:
        return (step for location in self.process.locations for step in location.steps)

    def _spread(self, step: Step) -> None:
        scratch: set[int] = set()
        for op in step.ops:
            match op:
                case Draw(register):
                    scratch.add(register)
                    self._add(self.drawn, register)
                case Set(register, Register(source)) if source in self.drawn | scratch:
                    self._add(self.drawn, register)
                case Set(register, value) if registers_of(value) & self.forgotten:
                    self._add(self.forgotten, register)
                case Guard(condition) if registers_of(condition) & (self.forgotten | self.drawn):
                    self.forgotten.update(r for r in registers_of(condition) if r < SCRATCH)
                case _:
                    pass
        self.forgotten |= self.drawn

    @staticmethod
    def _add(found: set[int], register: int) -> None:
        if register < SCRATCH:
            found.add(register)

    def forget(self) -> bool:
        """Used where they say more than when a loop ends; whether overflow was left out."""
        for step in self.steps():
            self._require_only_compared(step)
        overflows = {step.source for step in self.steps() if self._overflows(step)}
        choices = {step.source for step in self.steps() if self._chooses(step, overflows)}
        for source in choices:
            for step in self.process.locations[source].steps:
                if not self._goes_on(step) and choices & self._reached(step.target):
                    raise Used
        for location in self.process.locations:
            location.steps = [self._without(step) for step in location.steps if not self._overflows(step)]
        return bool(overflows)

    def _require_only_compared(self, step: Step) -> None:
        """Draws are copied, numbers guarded; nothing else happens to them."""
        drawn = {op.register for op in step.ops if isinstance(op, Draw)}
        for op in step.ops:
            held = registers_read_by([op]) & (self.forgotten | drawn)
            is_moved = isinstance(op, Set) and (op.register in self.forgotten or op.register in drawn)
            if held and not is_moved and not isinstance(op, Guard):
                raise Used
            if isinstance(op, Read | Modify) and op.register in self.forgotten:
                raise Used
            if isinstance(op, Guard) and held and registers_of(op.condition) - self.forgotten:
                raise Used

    def _guards(self, step: Step) -> list[Expr]:
        """What the step compares of the numbers."""
        guards = [op.condition for op in step.ops if isinstance(op, Guard)]
        return [condition for condition in guards if registers_of(condition) & self.forgotten]

    def _overflows(self, step: Step) -> bool:
        """Whether it is the step in which a counter gets too large, or is cut off because of that."""
        target: Location = self.process.locations[step.target]
        is_error = any(isinstance(op, Check) and op.text == SIGNED_OVERFLOW for op in step.ops)
        counts = any(not registers_of(condition) & self.drawn for condition in self._guards(step))
        return counts and (is_error or target.kind == "bound")

    def _chooses(self, step: Step, overflows: set[int]) -> bool:
        """Whether it is possible with some numbers only; beside an overflow: for another reason than that."""
        is_about_drawn = any(registers_of(condition) & self.drawn for condition in self._guards(step))
        return not self._overflows(step) and (
            is_about_drawn or (bool(self._guards(step)) and step.source not in overflows)
        )

    def _goes_on(self, step: Step) -> bool:
        """Whether it is possible with all numbers that are large enough."""
        guards = self._guards(step)
        return bool(guards) and all(self._is_for_larger(condition) for condition in guards)

    def _is_for_larger(self, condition: Expr) -> bool:
        if not isinstance(condition, Binary):
            return False
        sides = {"left": condition.left, "right": condition.right}
        held = [side for side, expr in sides.items() if isinstance(expr, Register) and expr.index in self.drawn]
        others = [expr for side, expr in sides.items() if side not in held]
        if len(held) != 1 or registers_of(others[0]) & self.drawn:
            return False
        return condition.op == "!=" or LARGER.get(condition.op) == held[0]

    def _reached(self, location: int) -> set[int]:
        seen = {location}
        waiting = [location]
        while waiting:
            for step in self.process.locations[waiting.pop()].steps:
                if step.target not in seen:
                    seen.add(step.target)
                    waiting.append(step.target)
        return seen

    def _without(self, step: Step) -> Step:
        drawn = {op.register for op in step.ops if isinstance(op, Draw)}

        def is_kept(op: Op) -> bool:
            if isinstance(op, Guard):
                return not registers_of(op.condition) & self.forgotten
            return not isinstance(op, Draw) and not (isinstance(op, Set) and op.register in self.forgotten | drawn)

        return replace(step, ops=tuple(op for op in step.ops if is_kept(op)))
