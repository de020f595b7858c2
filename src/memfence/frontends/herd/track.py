"""One thread of a litmus test in columns as far as its instructions do not matter: locations, labels, fence points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label, did_you_mean
from memfence.frontends.herd.syntax import Instruction, Item, LabelHere, Target
from memfence.program.builder import ProcessBuilder
from memfence.program.ir import FencePoint
from memfence.source import Span


class Track(Generic[Instruction]):
    """Places one location before each instruction and one at the end, with the labels that stand there.

    `span_of`: where an instruction is written.
    """

    def __init__(
        self,
        number: int,
        builder: ProcessBuilder,
        items: Sequence[Item[Instruction]],
        span_of: Callable[[Instruction], Span],
        errors: list[Diagnostic],
    ) -> None:
        self.number = number
        self.items = items
        self.span_of = span_of
        self.errors = errors
        self.labels: dict[str, tuple[int, Span]] = {}
        for here, item in enumerate(items):
            names = [label.name for label, _ in item.labels]
            span = span_of(item.instruction) if item.instruction is not None else builder.span
            builder.location(names[0] if names else "", names, span, self._location_point(here))
            for label, _ in item.labels:
                self._define(label, here)

    @property
    def end(self) -> int:
        """The location behind the last instruction."""
        return len(self.items) - 1

    def _define(self, label: LabelHere, location: int) -> None:
        if label.name in self.labels:
            before = Label(self.labels[label.name][1], "first here")
            what = f"the label `{label.name}` is defined twice in P{self.number}"
            self.errors.append(Diagnostic(Code.DUPLICATE, what, Label(label.span), (before,)))
        else:
            self.labels[label.name] = (location, label.span)

    def target(self, wanted: Target) -> int:
        """The location of a label; 0, and an error, if there is none."""
        if wanted.name in self.labels:
            return self.labels[wanted.name][0]
        hint = did_you_mean(wanted.name, list(self.labels), f"define it in P{self.number} with `{wanted.name}:`")
        what = f"the label `{wanted.name}` is not defined in P{self.number}"
        self.errors.append(Diagnostic(Code.UNKNOWN_LABEL, what, Label(wanted.span), hint=hint))
        return 0

    def _location_point(self, here: int) -> FencePoint | None:
        """A row between two instructions is passed whichever way control comes, unless there is a label to jump to."""
        return self._point(here - 1) if here and not self.items[here].labels else None

    def transition_point(self, here: int) -> FencePoint | None:
        """Before a label a row is passed only by who comes from the instruction above."""
        return self._point(here) if self.items[here + 1].labels else None

    def _point(self, here: int) -> FencePoint | None:
        item = self.items[here]
        if item.instruction is None:
            return None
        span = self.span_of(item.instruction)
        return FencePoint(f"P{self.number}", f"{self.number}:{item.row}", span, " ".join(span.text.split()))
