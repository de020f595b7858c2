"""Where control goes: locations, labels, jumps, and the lock regions that jumps leave."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.codes import Code
from memfence.diagnostics import Label, did_you_mean
from memfence.frontends.promela.declarations import Errors
from memfence.frontends.promela.syntax import Goto, Name, Step, all_steps
from memfence.program.builder import ProcessBuilder
from memfence.program.ir import Unlock
from memfence.records import Record
from memfence.source import Span

Key = tuple[str, int]
"""A label, and the call of an `inline` that it belongs to."""


SPECIAL = ("accept", "end", "progress")


def is_kept(step: Step) -> bool:
    """Whether the `goto` is a step of its own: Spin keeps one whose label means something."""
    return any(label.text.startswith(SPECIAL) for label in step.labels)


class Region(Record):
    """An `atomic` that became a lock region; jumping to a label that is not inside leaves it."""

    labels: frozenset[Key]


class Jumps:
    """The labels of one process, and where it is while it is lowered: in which region, in which loops."""

    def __init__(self, builder: ProcessBuilder, errors: Errors, steps: tuple[Step, ...]) -> None:
        self.builder, self.errors, self.steps = builder, errors, steps
        self.region: Region | None = None
        self._labels: dict[Key, Step] = {}
        self._label_locations: dict[int, int] = {}  # by id of the labelled step
        self._named = {
            (step.statement.label.text, frame)
            for step in all_steps(steps)
            if isinstance(step.statement, Goto)
            for frame in (0, step.statement.label.frame)
        }
        self._taken: list[tuple[Key, Region | None, Span]] = []
        self._regions: list[Region] = []
        self._resolving: list[str] = []
        self._breaks: list[tuple[int, Region | None]] = []
        self._used_names: dict[str, int] = {}

    def location(self, span: Span, name: str = "", labels: Sequence[str] = ()) -> int:
        """A fresh location, called after its label or its line."""
        name = name or (labels[0] if labels else f"l{span.line}")
        self._used_names[name] = self._used_names.get(name, 0) + 1
        unique = name if self._used_names[name] == 1 else f"{name}_{self._used_names[name]}"
        may_end = any(label.startswith("end") for label in labels)
        return self.builder.location(unique, labels, span, may_end=may_end)

    def start_of(self, step: Step) -> int:
        """The location where `step` starts: that of its label, or a fresh one."""
        if id(step) in self._label_locations:
            return self._label_locations[id(step)]
        return self.location(step.span)

    def collect_labels(self) -> None:
        for step in all_steps(self.steps):
            for label in step.labels:
                known = self._labels.get((label.text, label.frame))
                if known is not None:
                    first = Label(known.labels[0].span, "first one")
                    self.errors.add(Code.DUPLICATE, f"label `{label.text}` is defined twice", label.span, first)
                self._labels[label.text, label.frame] = step
            if step.labels and (not isinstance(step.statement, Goto) or is_kept(step)):
                names = tuple(label.text for label in step.labels)
                self._label_locations[id(step)] = self.location(step.span, labels=names)

    def target_of(self, label: Name) -> int:
        """The location of a label; a labelled `goto` is where that one leads."""
        key = (label.text, label.frame) if (label.text, label.frame) in self._labels else (label.text, 0)
        step = self._labels.get(key)
        if step is None:
            hint = did_you_mean(label.text, sorted({name for name, _ in self._labels}))
            self.errors.add(Code.UNKNOWN_LABEL, f"unknown label `{label.text}`", label.span, hint=hint)
            return self.location(label.span)
        if id(step) in self._label_locations:
            self._taken.append((key, self.region, label.span))
            return self._past_region(key, self._label_locations[id(step)], label.span)
        assert isinstance(step.statement, Goto)
        if label.text in self._resolving:  # `L: goto L` runs in a circle for ever
            here = self._label_locations[id(step)] = self.location(step.span, labels=[label.text])
            self.builder.emit(here, here, span=step.span)
            return here
        self._resolving.append(label.text)
        target = self.target_of(step.statement.label)
        self._resolving.pop()
        return target

    def _past_region(self, key: tuple[str, int], target: int, span: Span) -> int:
        if self.region is None or key in self.region.labels:
            return target
        return self.unlock_before(target, span)

    def unlock_before(self, target: int, span: Span) -> int:
        here = self.location(span)
        self.builder.emit(here, target, Unlock(), span=span)
        return here

    def refuse_jumps_into_regions(self) -> None:
        for key, region, span in self._taken:
            if any(key in other.labels and other is not region for other in self._regions):
                message = f"`goto {key[0]}` jumps into an `atomic`"
                self.errors.add(Code.UNSUPPORTED, message, span, hint="put the label in front of the `atomic`")

    def lead_to(self, step: Step) -> bool:
        """Whether some `goto` names a label of `step`."""
        return any((label.text, label.frame) in self._named for label in step.labels)

    def enter_region(self, steps: tuple[Step, ...]) -> None:
        self.region = Region(frozenset((label.text, label.frame) for step in all_steps(steps) for label in step.labels))
        self._regions.append(self.region)

    def leave_region(self) -> None:
        self.region = None

    def enter_loop(self, target: int) -> None:
        """`break` leads to `target` from here on."""
        self._breaks.append((target, self.region))

    def leave_loop(self) -> None:
        self._breaks.pop()

    def break_target(self, step: Step) -> int:
        if not self._breaks:
            self.errors.add(Code.SYNTAX, "`break` outside of any loop", step.span)
            return self.location(step.span)
        target, region = self._breaks[-1]
        return target if region is self.region else self.unlock_before(target, step.span)
