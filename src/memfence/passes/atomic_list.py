"""Lists of atomic writes as text (`atomic.txt`): one pair `(variable, transition)` a line.

A transition is called `process.number`, counted from 0 in the order of the text, or `process.source->target` where only
one leads from there to there. `(*, transition)` means all writes of a transition. `#` and `//` start comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label, did_you_mean
from memfence.passes.atomic_writes import EVERY_VARIABLE, AtomicWrite, writes_of
from memfence.program.ir import Program
from memfence.program.text.steps import step_text
from memfence.source import SourceText, Span

_PAIR = re.compile(r"\s*\(\s*(?P<variable>\*|[\w$#]+)\s*,\s*(?P<transition>[^\s,()]+(?:\s*->\s*[\w$#]+)?)\s*\)\s*\Z")
_COMMENT = re.compile(r"(?://|#(?![\w$])).*")


def print_atomic_writes(program: Program, writes: Iterable[AtomicWrite]) -> str:
    """One line a write, with the text of its transition as a comment; `parse_atomic_writes` reads it back."""
    lines = []
    for write in sorted(set(writes)):
        process = program.processes[write.process]
        shown = step_text(program, write.process, process.transitions[write.transition])
        lines.append(f"({write.variable}, {process.name}.{write.transition})  // {shown}\n")
    return "".join(lines)


def parse_atomic_writes(source: SourceText, program: Program) -> tuple[AtomicWrite, ...]:
    """The writes listed in `source`; InputError with every line that is no pair or names nothing."""
    errors: list[Diagnostic] = []
    found: dict[AtomicWrite, None] = {}
    for text, start in _lines(source.text):
        code = _COMMENT.sub("", text)
        if not code.strip():
            continue
        span = source.span(start + len(code) - len(code.lstrip()), start + len(code.rstrip()))
        match = _PAIR.match(code)
        if match is None:
            hint = "write `(variable, process.number)` or `(*, process.source->target)`"
            what = f"`{code.strip()}` is no pair of a variable and a transition"
            errors.append(Diagnostic(Code.SYNTAX, what, Label(span, "not a pair"), hint=hint))
            continue
        write = _find(program, match["variable"], re.sub(r"\s", "", match["transition"]), span, errors)
        if write is not None:
            found[write] = None
    if errors:
        raise InputError(errors)
    return tuple(found)


def _lines(text: str) -> Iterator[tuple[str, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield line.rstrip("\r\n"), start
        start += len(line)


def _find(program: Program, variable: str, transition: str, span: Span, errors: list[Diagnostic]) -> AtomicWrite | None:
    """The write that a pair means, or None and a diagnostic."""

    def fail(code: Code, message: str, hint: str | None) -> None:
        errors.append(Diagnostic(code, message, Label(span), hint=hint))

    name, _, which = transition.partition(".")
    process = program.process_named(name)
    if process is None:
        names = [p.name for p in program.processes]
        fail(Code.UNKNOWN_PROCESS, f"unknown process `{name}`", did_you_mean(name, names))
        return None
    numbers = _transitions(program, process, which)
    if len(numbers) != 1:
        count = len(program.processes[process].transitions)
        hint = f"use a number: `{name}.0` to `{name}.{count - 1}`" if count else None
        several = "several transitions" if numbers else "no transition"
        fail(Code.UNKNOWN_LABEL, f"process `{name}` has {several} `{which}`", hint)
        return None
    (number,) = numbers
    written = [w.variable for w in writes_of(program) if (w.process, w.transition) == (process, number)]
    if not written or variable not in (EVERY_VARIABLE, *written):
        what = f"transition `{transition}` does not write `{variable}`" if written else f"`{transition}` writes nothing"
        fail(Code.UNKNOWN_VARIABLE, what, f"it writes {', '.join(f'`{w}`' for w in written)}" if written else None)
        return None
    return AtomicWrite(process, number, variable)


def _transitions(program: Program, process: int, which: str) -> list[int]:
    transitions = program.processes[process].transitions
    if which.isdecimal():
        return [int(which)] if len(which) < 9 and int(which) < len(transitions) else []
    locations = program.processes[process].locations
    return [n for n, t in enumerate(transitions) if f"{locations[t.source].name}->{locations[t.target].name}" == which]
