"""The labels of one process, for languages that are lowered backwards: a `goto` may lead forwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label, did_you_mean
from memfence.frontends.parsing.syntax import Name
from memfence.frontends.parsing.trees import TreeReader
from memfence.program.builder import ProcessBuilder


class Labels:
    """A location for every label, ahead; mistakes go to the reader's errors."""

    def __init__(self, reader: TreeReader, builder: ProcessBuilder) -> None:
        self.reader = reader
        self.builder = builder
        self.locations: dict[str, int] = {}

    def place(self, groups: Iterable[Sequence[Name]], twice: str = "defined twice") -> None:
        """Labels of one group name the same statement. `twice`: what is wrong with one that stands in two places."""
        places: dict[str, Name] = {}
        for labels in groups:
            location = None
            for label in labels:
                if label.text in places:
                    before = Label(places[label.text].span, "first here")
                    what = f"the label `{label.text}` is {twice}"
                    self.reader.errors.append(Diagnostic(Code.DUPLICATE, what, Label(label.span), (before,)))
                    continue
                places[label.text] = label
                if location is None:
                    names = [name.text for name in labels]
                    location = self.builder.location(label.text, names, label.span)
                self.locations[label.text] = location

    def target(self, label: Name) -> int:
        """Where a jump leads; 0, and a mistake, where nobody has such a label."""
        if label.text in self.locations:
            return self.locations[label.text]
        hint = did_you_mean(label.text, list(self.locations), f"write `{label.text}:` before a statement")
        self.reader.report(Code.UNKNOWN_LABEL, f"unknown label `{label.text}`", label.span, hint)
        return 0
