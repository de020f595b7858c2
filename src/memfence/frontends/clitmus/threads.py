"""From the statements of one thread to a process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic
from memfence.frontends.c.edits import point_key
from memfence.frontends.clitmus import syntax
from memfence.frontends.clitmus.places import Names, Pointee
from memfence.frontends.clitmus.steps import Do, Emission, Fork, Leave, Loop, Step
from memfence.frontends.clitmus.values import Values
from memfence.program.ir import FencePoint, Process


class Thread:
    """Builds the process of one thread; `registers`: its local variables by name, and their numbers in it."""

    def __init__(self, thread: syntax.ThreadText, places: Mapping[str, Pointee], errors: list[Diagnostic]) -> None:
        self.thread = thread
        self.names = Names(thread, places, errors)
        self.values = Values(self.names)
        self.loops = 0

    @property
    def registers(self) -> dict[str, int]:
        return self.names.registers

    def lower(self) -> Process:
        builder = self.names.builder
        steps = self._statement(self.thread.body)
        end = builder.location(span=self.thread.name.span)
        start = Emission(builder).all(steps, end, {"return": end})
        return builder.build(start)

    def _statement(self, statement: syntax.Statement) -> tuple[Step, ...]:
        match statement:
            case syntax.Declaration():
                return self._with_point(self._declaration(statement), statement, is_lone=False)
            case syntax.Evaluate(value):
                if isinstance(value, syntax.Assignment):  # nobody asks for the value of `i++`
                    value = replace(value, gives_old=False)
                steps, _ = self.values.apart(value)
                return self._with_point(steps, statement, is_lone=statement.is_lone)
            case syntax.Block(body):
                self.names.open.append({})
                steps = tuple(step for inner in body for step in self._statement(inner))
                self.names.open.pop()
                return steps
            case syntax.If(condition, then, otherwise, span):
                steps, holds = self.values.apart(condition)
                return (*steps, Fork(holds, self._statement(then), self._statement(otherwise), span))
            case syntax.While():
                return (self._loop(statement),)
            case syntax.Jump(kind, span):
                if kind != "return" and not self.loops:
                    self.names.report(Code.SYNTAX, f"`{kind}` stands outside every loop", span)
                    return ()
                return (Leave(kind, span),)
            case _:
                assert_never(statement)

    def _declaration(self, declaration: syntax.Declaration) -> tuple[Step, ...]:
        register = self.names.declare(declaration)
        if declaration.value is None:
            return ()
        kept, self.values.steps = self.values.steps, []
        self.values.into(register, declaration.value, declaration.span, is_truth=declaration.is_truth)
        steps, self.values.steps = tuple(self.values.steps), kept
        return steps

    def _loop(self, loop: syntax.While) -> Loop:
        before, condition = self.values.apart(loop.condition)
        self.loops += 1
        body = self._statement(loop.body)
        self.loops -= 1
        return Loop(before, condition, body, self._statement(loop.step), loop.tests_last, loop.span)

    def _with_point(
        self, steps: tuple[Step, ...], statement: syntax.Declaration | syntax.Evaluate, *, is_lone: bool
    ) -> tuple[Step, ...]:
        """A fence behind the statement executes right after its last step."""
        if not statement.ends or not steps or not isinstance(steps[-1], Do):
            return steps
        span = statement.span
        key = point_key(span.start, span.end, is_lone)
        point = FencePoint(self.thread.name.text, key, span, " ".join(span.text.split()))
        return (*steps[:-1], replace(steps[-1], point=point))
