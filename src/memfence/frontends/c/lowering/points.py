"""Where fences can be written: behind the statement of a store, once its last access is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memfence.frontends.c.edits import point_key
from memfence.frontends.c.llvm.metadata import Place
from memfence.frontends.c.lowering.sources import Sources
from memfence.frontends.c.machine.path import is_system
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
        if found is None or self._goes_on(step.target, found, FURTHEST):
            return None
        source, statement = found
        text = " ".join(source.text[statement.start : statement.end].split()).rstrip(";")
        span = source.span(statement.start, statement.end)
        path = "" if source.path == self.sources.first else source.path
        key = point_key(statement.start, statement.end, statement.is_lone, path)
        return FencePoint(step.function, key, span, text[:LONGEST_TEXT])

    def before(self, location: int, arriving: Sequence[Step]) -> FencePoint | None:
        """The point before the first statement of a call, where that is what accesses memory next.

        A fence there is one behind whatever the caller stored last, in the function that needs it.
        """
        leaving = [step for step in self.steps.get(location, ()) if _accesses(step)]
        if not leaving or not arriving or len(leaving) != len(self.steps.get(location, ())):
            return None
        depth = min(len(calls_of(step)) for step in leaving)
        if not depth or any(len(calls_of(step)) >= depth for step in arriving):
            return None
        found = {self.sources.statement_before(step.place) for step in leaving}
        first = found.pop()
        if found or first is None:
            return None
        source, statement = first
        path = "" if source.path == self.sources.first else source.path
        key = point_key(statement.start, statement.end, statement.is_lone, path, is_before=True)
        span = source.span(statement.start, statement.end)
        return FencePoint(leaving[0].function, key, span, " ".join(span.text.split("\n", 1)[0].split()))

    def _found(self, step: Step) -> tuple[SourceText, Statement] | None:
        """The statement of the step, in a file that may be patched: of a step elsewhere, the call that led there."""
        for place in (step.place, *reversed(step.stack)):
            found = self.sources.statement(place)
            if found is not None:
                return found
        return None

    def _goes_on(self, location: int, statement: tuple[SourceText, Statement], left: int) -> bool:
        """Whether another access of the same statement follows."""
        for step in self.steps.get(location, ()):
            accesses = _accesses(step)
            if accesses and self._found(step) == statement:
                return True
            if not accesses and left and self._goes_on(step.target, statement, left - 1):
                return True
        return False


def calls_of(step: Step) -> tuple[Place, ...]:
    """The user's calls that lead to the step, outermost first."""
    calls = [call for call in step.stack if not is_system(call)]
    return tuple(calls[: calls.index(step.place)] if step.place in calls else calls)


def _accesses(step: Step) -> bool:
    return any(isinstance(op, Read | Write | Modify) for op in step.ops)
