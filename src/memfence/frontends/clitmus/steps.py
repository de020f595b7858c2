"""The statements of a thread after its expressions were taken apart: one memory access a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, assert_never

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Const, Expr, negate
from memfence.program.ir import Assume, FencePoint, Op
from memfence.records import Record
from memfence.source import Span


class Do(Record):
    """One step. `point`: a fence can be written behind it."""

    ops: tuple[Op, ...]
    span: Span
    point: FencePoint | None = None


class Fork(Record):
    condition: Expr
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...]
    span: Span


class Loop(Record):
    """`before` computes what `condition` needs, in every round; `step` follows the body."""

    before: tuple[Step, ...]
    condition: Expr
    body: tuple[Step, ...]
    step: tuple[Step, ...]
    tests_last: bool
    span: Span


class Leave(Record):
    kind: Literal["break", "continue", "return"]
    span: Span


Step = Do | Fork | Loop | Leave
Targets = dict[str, int]


class Emission:
    """Adds steps to a process, from the last to the first, so that each knows where it leads."""

    def __init__(self, builder: ProcessBuilder) -> None:
        self.builder = builder

    def all(self, steps: Sequence[Step], target: int, targets: Targets, at: int | None = None) -> int:
        """The location where `steps` begin that end at `target`: `at`, if that is given. `targets` of jumps by kind."""
        if not steps and at is not None:
            self.builder.emit(at, target)
            return at
        for number in reversed(range(len(steps))):
            target = self._one(steps[number], target, targets, at if number == 0 else None)
        return target

    def _one(self, step: Step, target: int, targets: Targets, at: int | None) -> int:
        if isinstance(step, Leave):
            if at is None:
                return targets[step.kind]
            self.builder.emit(at, targets[step.kind], span=step.span)
            return at
        here = self.builder.location(span=step.span) if at is None else at
        match step:
            case Do(ops, span, point):
                self.builder.emit(here, target, *ops, span=span, point=point)
            case Fork(condition, then, otherwise, span):
                yes, no = self.all(then, target, targets), self.all(otherwise, target, targets)
                self._test(here, condition, yes, no, span)
            case Loop():
                self._loop(step, here, target, targets)
            case _:
                assert_never(step)
        return here

    def _test(self, here: int, condition: Expr, yes: int, no: int, span: Span) -> None:
        for holds, there in ((True, yes), (False, no)):
            if not isinstance(condition, Const):
                self.builder.emit(here, there, Assume(condition if holds else negate(condition)), span=span)
            elif (condition.value != 0) == holds:
                self.builder.emit(here, there, span=span)

    def _loop(self, loop: Loop, here: int, target: int, targets: Targets) -> None:
        if loop.tests_last:
            test = self.builder.location(span=loop.span)
            again = self.all(loop.before, test, targets)
            self._test(test, loop.condition, here, target, loop.span)
            self.all(loop.body, again, {**targets, "break": target, "continue": again}, here)
            return
        test = self.builder.location(span=loop.span) if loop.before else here
        again = self.all(loop.step, here, targets)
        body = self.all(loop.body, again, {**targets, "break": target, "continue": again})
        self._test(test, loop.condition, body, target, loop.span)
        if loop.before:
            self.all(loop.before, test, targets, here)
