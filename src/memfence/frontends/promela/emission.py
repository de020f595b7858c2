"""Statements of one step: the transition that a statement becomes, or several where reads are split."""

from __future__ import annotations

from collections.abc import Callable

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.frontends.promela import fence_points as points
from memfence.frontends.promela.evaluation import Evaluation, Names
from memfence.frontends.promela.jumps import Jumps
from memfence.frontends.promela.syntax import Expression, Reference, Step
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import negate
from memfence.program.ir import Assume, FencePoint, Load, Op, Store
from memfence.source import Span

Recipe = Callable[[Evaluation], None]


def assignment(variable: Reference, value: Expression) -> Recipe:
    return lambda evaluation: evaluation.assign(variable, value)


class Emission:
    """Adds the steps of one process."""

    def __init__(
        self,
        names: Names,
        builder: ProcessBuilder,
        pid: int,
        template: str,
        jumps: Jumps,
        warnings: dict[Diagnostic, None],
        split_reads: bool,
    ) -> None:
        self.names, self.builder, self.pid, self.template = names, builder, pid, template
        self.jumps, self.warnings, self.split_reads = jumps, warnings, split_reads

    def emit(self, head: int, target: int, step: Step, recipe: Recipe) -> None:
        """Add the one transition of a statement, or the chain of them when reads are split."""
        evaluation = Evaluation(self.names, self.builder, self.pid)
        recipe(evaluation)
        loads = sum(isinstance(op, Load) for op in evaluation.ops)
        point: FencePoint | None = None
        if self.jumps.region is None and any(isinstance(op, Load | Store) for op in evaluation.ops):
            point = points.after(step, self.template)
        if loads > 1 and self.jumps.region is None:
            if self.split_reads:
                self._emit_split(head, target, step.span, recipe, point)
                return
            self._warn_of_several_reads(step.span)
        self.builder.emit(head, target, *evaluation.ops, span=step.span, point=point)

    def _emit_split(self, head: int, target: int, span: Span, recipe: Recipe, point: FencePoint | None) -> None:
        """One transition a load; where the condition is false in the end, all of it starts again."""
        evaluation = Evaluation(self.names, self.builder, self.pid, split=True)
        recipe(evaluation)
        here, pending = head, list[Op]()
        for op in evaluation.ops:
            if isinstance(op, Load) and any(isinstance(earlier, Load) for earlier in pending):
                following = self.jumps.location(span)
                self.builder.emit(here, following, *pending, span=span)
                here, pending = following, []
            pending.append(op)
        self.builder.emit(here, target, *pending, span=span, point=point)
        if isinstance(pending[-1], Assume):
            self.builder.emit(here, head, *pending[:-1], Assume(negate(pending[-1].condition)), span=span)

    def _warn_of_several_reads(self, span: Span) -> None:
        warning = Diagnostic(
            Code.SEVERAL_READS,
            f"`{_first_line(span)}` reads several shared variables in one atomic step",
            Label(span),
            hint="`--split-reads` reads them one by one, as a processor does",
            severity="warning",
        )
        self.warnings.setdefault(warning)


def _first_line(span: Span) -> str:
    return span.text.split("\n", 1)[0].strip()
