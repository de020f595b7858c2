"""Fences for a compiled program, from its borderline executions: the fewest that leave none.

A candidate is a statement with a store that some later load of its thread could pass. Fences only remove executions:
if the program with a set of fences still has a borderline execution, so has it with any smaller set, and every solution
needs a candidate outside of the set. These are the clauses; a set that meets all of them and leaves no borderline
execution is smallest among the candidates (implicit hitting sets). Each text is compiled and run: nothing is inferred
about it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from itertools import combinations
from pathlib import Path

from memfence.binary.build import Sources, build_program
from memfence.binary.steps import ProgramStep
from memfence.deadline import Deadline
from memfence.frontends.c.edits import insert_fences, point_key
from memfence.frontends.c.statements import Statement, Statements
from memfence.program.ir import FencePoint
from memfence.questions.run import run_program
from memfence.questions.run_result import RunOptions, RunResult
from memfence.records import Record
from memfence.source import SourceText
from memfence.synthesis.patch import unified
from memfence.tasks.answer import Verdict

MOST_CANDIDATES = 16


class RunFixVerdict(Enum):
    """FIXED: with these fences no execution is borderline or fails. IMPOSSIBLE: fences do not help, the program fails
    without store buffers. UNKNOWN: a limit was hit, or no place for a fence was found."""

    FIXED = "fixed"
    ALREADY_HOLDS = "already_holds"
    IMPOSSIBLE = "impossible"
    UNKNOWN = "unknown"


class RunFix(Record):
    """`fences`: the statements behind which they go, by line. `first` and `last`: the program as it is, and as patched.
    `clauses`: sets of lines, of each of which one must be in any solution: why fewer fences are not enough."""

    path: str
    verdict: RunFixVerdict
    fences: tuple[int, ...]
    patched: str | None
    diff: str
    first: RunResult
    last: RunResult
    runs: int
    clauses: tuple[tuple[int, ...], ...] = ()


def fix_by_running(path: str, options: RunOptions) -> RunFix:
    """Put in fences until no borderline execution is left. InputError as for `run`."""
    return _Search(path, options).solve()


class _Search:
    """One file, its candidates so far, and the sets of fences that were found not to be enough."""

    def __init__(self, path: str, options: RunOptions) -> None:
        self.source = SourceText(path, Path(path).read_text(encoding="utf-8"))
        self.statements = Statements(self.source)
        self.deadline = options.deadline or Deadline(options.timeout_seconds)
        self.options = replace(options, confirm=False, deadline=self.deadline)
        self.candidates: dict[int, Statement] = {}
        self.failing: list[frozenset[int]] = []
        self.runs = 0

    def solve(self) -> RunFix:
        first = last = self.run(frozenset())
        chosen: frozenset[int] | None = frozenset()
        while chosen is not None and _is_borderline(last):
            if not self.learn(last, chosen):
                chosen = None
                break
            self.failing.append(self.grow(chosen))
            chosen = self.smallest()
            last = last if chosen is None else self.run(chosen)
        return self.result(first, last, chosen)

    def result(self, first: RunResult, last: RunResult, chosen: frozenset[int] | None) -> RunFix:
        verdict = _verdict(first, last, chosen)
        lines = tuple(sorted(chosen or ()))
        patched = self.text(lines) if verdict is RunFixVerdict.FIXED else None
        diff = "" if patched is None else unified(self.source, patched)
        clauses = tuple(tuple(sorted(self.candidates.keys() - failing)) for failing in self.failing)
        return RunFix(self.source.path, verdict, lines, patched, diff, first, last, self.runs, clauses)

    def run(self, fences: frozenset[int]) -> RunResult:
        """The program with these fences, compiled and explored."""
        self.runs += 1
        with tempfile.TemporaryDirectory(prefix="memfence-") as folder:
            patched = Path(folder) / Path(self.source.path).name
            patched.write_text(self.text(fences), encoding="utf-8")
            here = str(Path(self.source.path).parent)
            include = (*self.options.include, here)
            sources = Sources(files=(str(patched),), macros=self.options.macros, include=include, std=self.options.std)
            program = build_program(replace(sources, flags=self.options.flags), Path(folder))
            return run_program(program, (self.source.path,), self.options, self.deadline)

    def text(self, lines: Iterable[int]) -> str:
        points = []
        for line in sorted(lines):
            statement = self.candidates[line]
            key = point_key(statement.start, statement.end, statement.is_lone)
            points.append((FencePoint("", key, self.source.span(statement.start, statement.end)), "mfence"))
        return insert_fences(self.source, points)  # type: ignore[arg-type]

    def learn(self, found: RunResult, fences: frozenset[int]) -> bool:
        """Candidates from the borderline executions of the program with these fences; False: none is new or left."""
        shift = _LineShift(self.source.text, self.text(fences))
        for finding in found.findings:
            for fence in finding.stale.fences if finding.stale is not None else ():
                line = shift.original(fence.after.place.line)
                statement = self._statement(line, fence.after)
                if statement is not None and len(self.candidates) < MOST_CANDIDATES:
                    self.candidates.setdefault(line, statement)
        return bool(self.candidates.keys() - fences)

    def _statement(self, line: int, step: ProgramStep) -> Statement | None:
        """The statement of the store: one that begins in the line, best one that names the variable."""
        start = self.source.start_of_line(line)
        text = self.source.text[start : self.source.start_of_line(line + 1)]
        found = [self.statements.at(line, match.start() + 1) for match in re.finditer(r"\w+|\S", text)]
        simple = [statement for statement in found if statement is not None]
        name = re.match(r"\w+", step.variable)
        named = [s for s in simple if name is not None and name[0] in self.source.text[s.start : s.end]]
        return next(iter(named or simple), None)

    def grow(self, fences: frozenset[int]) -> frozenset[int]:
        """A larger set that is still not enough: its clause says more."""
        for line in sorted(self.candidates.keys() - fences):
            wider = fences | {line}
            if wider != self.candidates.keys() and _is_borderline(self.run(wider)):
                fences = wider
        return fences

    def smallest(self) -> frozenset[int] | None:
        """The smallest set of candidates with one outside of each failing set, the first in the order of lines."""
        lines = sorted(self.candidates)
        for size in range(len(lines) + 1):
            for choice in combinations(lines, size):
                if all(set(choice) - failing for failing in self.failing):
                    return frozenset(choice)
        return None


class _LineShift:
    """Lines of a patched text, back to those of the original: patches only add."""

    def __init__(self, original: str, patched: str) -> None:
        self._lines: list[int] = []
        before, number = original.splitlines(), 0
        for line in patched.splitlines():
            if number < len(before) and line.startswith(before[number][:1]) and before[number].rstrip() in line:
                number += 1
            self._lines.append(number)

    def original(self, line: int) -> int:
        return self._lines[line - 1] if 0 < line <= len(self._lines) else line


def _is_borderline(result: RunResult) -> bool:
    return result.counts.borderline > 0


def _verdict(first: RunResult, last: RunResult, chosen: frozenset[int] | None) -> RunFixVerdict:
    if first.counts.failing or first.counts.deadlocked:
        return RunFixVerdict.IMPOSSIBLE
    if last.verdict is not Verdict.HOLDS or chosen is None:
        return RunFixVerdict.UNKNOWN
    return RunFixVerdict.FIXED if chosen else RunFixVerdict.ALREADY_HOLDS
