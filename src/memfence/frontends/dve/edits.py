"""Writing atomic writes into a DVE text: as comments, since DVE has no syntax for them and other tools read it too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.dve.reader import read_model
from memfence.frontends.dve.syntax import Model, Step, Variable
from memfence.program.ir import FencePoint
from memfence.source import SourceText

if TYPE_CHECKING:
    from memfence.frontends.frontend import EditKind

MARK = "/*@atomic*/"


def insert_fences(source: SourceText, points: Sequence[tuple[FencePoint, EditKind]]) -> str:
    """`source` with the global writes of the transitions at `points` marked as atomic (kind `locked`).

    InputError (MF004) for any other kind: DVE has no fences.
    """
    refused = [point for point, kind in points if kind != "locked"]
    if refused:
        raise InputError([_no_fences(point) for point in refused])
    model = read_model(source)
    wanted = {point.key for point, _ in points}
    offsets = {offset for key, step in _steps(model).items() if key in wanted for offset in _marks(model, key, step)}
    text = source.text
    for offset in sorted(offsets, reverse=True):
        text = f"{text[:offset]}{MARK} {text[offset:]}"
    return text


def _no_fences(point: FencePoint) -> Diagnostic:
    hint = "make the write itself atomic (`locked`)"
    return Diagnostic(Code.UNSUPPORTED, "DVE has no fence instruction", Label(point.span, "after this"), hint=hint)


def _steps(model: Model) -> dict[str, Step]:
    """Every transition by its key, `process.number`."""
    return {f"{p.name.text}.{number}": step for p in model.processes for number, step in enumerate(p.steps)}


def _marks(model: Model, key: str, step: Step) -> list[int]:
    """Where the marks of one transition go: before every write to a global variable that has none yet."""
    process = next(p for p in model.processes if p.name.text == key.rpartition(".")[0])
    local = {declaration.name.text for declaration in process.declarations}
    offsets = [e.target.span.start for e in step.effects if not e.atomic and e.target.name.text not in local]
    if step.sync is not None and not step.sync.sends and not step.sync.atomic:
        received = [value for value in step.sync.values if isinstance(value, Variable)]
        if any(value.name.text not in local for value in received):
            offsets.append(step.sync.span.source.text.index("?", step.sync.channel.span.end) + 1)
    return offsets


def mark_atomic_writes(source: SourceText, writes: Iterable[tuple[str, int, str]]) -> str:
    """`source` with single writes marked as atomic: each is a process, the number of its transition, and a variable.

    `*` means every global variable. What a rendezvous receives is marked as a whole.
    """
    model = read_model(source)
    steps = _steps(model)
    offsets: set[int] = set()
    for process, number, variable in writes:
        step = steps[f"{process}.{number}"]
        every = set(_marks(model, f"{process}.{number}", step))
        targets = {e.target.span.start: e.target.name.text for e in step.effects}
        offsets |= {at for at in every if variable == "*" or targets.get(at, variable) == variable}
    text = source.text
    for offset in sorted(offsets, reverse=True):
        text = f"{text[:offset]}{MARK} {text[offset:]}"
    return text
