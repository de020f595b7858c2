"""The user's texts for the HTML report: lines with the steps that happen on them, and lines that a patch adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from memfence.execution.trace import Trace
from memfence.models.state import ProcessStep, Rendezvous
from memfence.report.page import Mark, SourceLine, SourceView
from memfence.report.views.colours import Part, coloured
from memfence.report.views.shown_run import shown_positions
from memfence.source import NOWHERE, SourceText

Marks = Mapping[int, Sequence[Mark]]


def sources_of(trace: Trace) -> tuple[SourceText, ...]:
    """The program's own text, then every other file that a step of the run comes from."""
    found = [trace.program.source]
    for taken in trace.steps:
        for run in _runs(taken.step):
            source = trace.program.processes[run.process].transitions[run.transition].span.source
            if source is not NOWHERE.source and source not in found:
                found.append(source)
    return tuple(found)


def marks_of(trace: Trace, source: SourceText) -> dict[int, list[Mark]]:
    """For each line of `source`: the steps of the run that start on it."""
    marks: dict[int, list[Mark]] = {}
    for position in shown_positions(trace):
        for run in _runs(trace.steps[position].step):
            span = trace.program.processes[run.process].transitions[run.transition].span
            if span.source is source:
                marks.setdefault(span.line, []).append(Mark(position + 1, run.process))
    return marks


def source_view(source: SourceText, marks: Marks, patched: str | None = None) -> SourceView:
    """The text, or its `patched` form with the added lines marked as such; marks stay with the original lines."""
    original = _lines(source.text)
    shown = coloured(source.path, original)
    if patched is None:
        return SourceView(source.path, tuple(_kept(parts, n, marks) for n, parts in enumerate(shown, 1)))
    new = _lines(patched)
    new_shown = coloured(source.path, new)
    lines: list[SourceLine] = []
    for kind, old_from, old_to, new_from, new_to in SequenceMatcher(a=original, b=new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [_kept(shown[i], i + 1, marks) for i in range(old_from, old_to)]
        else:
            lines += [SourceLine(parts, None, inserted=True) for parts in new_shown[new_from:new_to]]
    return SourceView(source.path, tuple(lines))


def _kept(parts: tuple[Part, ...], number: int, marks: Marks) -> SourceLine:
    return SourceLine(parts, number, tuple(marks.get(number, ())))


def _lines(text: str) -> list[str]:
    """Lines without their ends, and without the empty one behind the last end."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    return lines[:-1] if lines and not lines[-1] else lines


def _runs(step: object) -> tuple[ProcessStep, ...]:
    match step:
        case ProcessStep() as run:
            return (run,)
        case Rendezvous(sender, receiver):
            return (sender, receiver)
        case _:
            return ()
