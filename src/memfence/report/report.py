"""What a verb found, described once: formats read nothing else, and know no verb.

`describe/` has a function per result that makes its report, `formats/` a function per format that writes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from memfence.records import Record
from memfence.source import SourceText, Span

if TYPE_CHECKING:
    from memfence.execution.trace import Trace
    from memfence.report.page import Page
    from memfence.synthesis.patch import PatchedFile


class Style(Record):
    """How text is laid out. `quiet`: the verdict only; `verbose`: every statistic."""

    width: int = 100
    quiet: bool = False
    verbose: bool = False


class Rule(Record):
    """What a finding is about: a criterion, a code of a diagnostic, ..."""

    id: str
    summary: str
    text: str = ""


class Patch(Record):
    """Files as they should be, and what that does."""

    text: str
    files: tuple[PatchedFile, ...]


Kind = Literal["fail", "pass", "open", "review"]
"""It is wrong; it is proved; neither is known; somebody should look at it."""
Level = Literal["error", "warning", "note", "none"]


class Finding(Record, kw_only=True):
    """One thing that was found. `at`: where, if it has a place; `related`: other places, and what is there. `run`: how
    it comes about. `facts`: what programs may want to know of it."""

    rule: Rule
    kind: Kind
    level: Level
    message: str
    at: Span | None = None
    related: tuple[tuple[Span, str], ...] = ()
    run: Trace | None = None
    patch: Patch | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


Problem = Literal["failure", "error"] | None
"""For CI: something is wrong; it is not known whether; None: a proof."""


class Case(Record, kw_only=True):
    """What was asked, as a test case for CI. `kind` is the verdict in one word; `text`: what is said of it, where
    that is not the whole report."""

    group: str
    name: str
    kind: str
    problem: Problem
    seconds: float = 0.0
    text: str = ""


class Report(Record, kw_only=True):
    """What a verb found. Each part is made when a format asks for it: most runs need the text alone."""

    line: Callable[[], str]
    """The verdict in one line."""
    text: Callable[[Style], str]
    """What is printed."""
    data: Callable[[], dict[str, Any]]
    """What `--json` prints."""
    page: Callable[[], Page]
    """What is there to look at, and to step through."""
    findings: Callable[[], Iterable[Finding]]
    case: Callable[[], Case]
    sources: Callable[[], Iterable[SourceText]]
    """The texts that it is about."""
    cases: Callable[[], Iterable[Case]] | None = None
    """Where there are several: the parts of the case."""
    brief: Callable[[], str] | None = None
    """In a word or two, for lists of results; without it, the line."""
    is_about_input: bool = False
    """The input could not be used: nothing was asked."""
