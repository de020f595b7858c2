"""Where fences can be written: behind the statement of a store, once its last access is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memfence.frontends.c.edits import point_key
from memfence.frontends.c.lowering.sources import Sources
from memfence.frontends.c.machine.residual import Modify, Read, Step, Write
from memfence.frontends.c.statements import Statement
from memfence.program.ir import FencePoint
from memfence.source import SourceText

FURTHEST = 6
LONGEST_TEXT = 60


class Points:
    """The fence points of one thread's steps. The same statement is the same point, whatever was inlined where."""

    def __init__(self, steps: Mapping[int, Sequence[Step]], sources: Sources) -> None:
        self.steps = steps
        self.sources = sources
        self._known: dict[int, Statement | None] = {}

    def after(self, step: Step) -> FencePoint | None:
        """The point behind the statement of a store, if the step is the statement's last access."""
        if not any(isinstance(op, Write) and not op.direct for op in step.ops) or step.locked:
            return None
        found = self._found(step)
        if found is None or self._goes_on(step.target, found[1], FURTHEST):
            return None
        source, statement = found
        text = " ".join(source.text[statement.start : statement.end].split()).rstrip(";")
        span = source.span(statement.start, statement.end)
        key = point_key(statement.start, statement.end, statement.is_lone)
        return FencePoint(step.function, key, span, text[:LONGEST_TEXT])

    def _found(self, step: Step) -> tuple[SourceText, Statement] | None:
        """The statement of the step in the file that is patched: of a step elsewhere, the call that led there."""
        for place in (step.place, *reversed(step.stack)):
            found = self.sources.statement(place)
            if found is not None:
                return found
        return None

    def _statement(self, step: Step) -> Statement | None:
        found = self._found(step)
        return None if found is None else found[1]

    def _goes_on(self, location: int, statement: Statement, left: int) -> bool:
        """Whether another access of the same statement follows."""
        for step in self.steps.get(location, ()):
            accesses = any(isinstance(op, Read | Write | Modify) for op in step.ops)
            if self._statement(step) == statement and accesses:
                return True
            if not accesses and left and self._goes_on(step.target, statement, left - 1):
                return True
        return False
