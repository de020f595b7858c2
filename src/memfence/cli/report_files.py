"""Reports that go to files beside what is printed: `--html`, `--sarif`, `--junit`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memfence.output_files import CannotWrite, make_folders, write_file
from memfence.records import Record

if TYPE_CHECKING:
    from memfence.certificates.result import Certified, NamedProofs, Proof
    from memfence.diagnostics import InputError
    from memfence.questions.compare import Comparison
    from memfence.questions.explore import ExploreResult
    from memfence.questions.monitor import MonitorResult
    from memfence.questions.portable_result import PortableResult
    from memfence.questions.run_result import RunResult
    from memfence.report.report import Page
    from memfence.simulation.walk import Walk
    from memfence.synthesis.atomic_writes import AtomicFix
    from memfence.synthesis.necessity import WhyResult
    from memfence.synthesis.result import FixResult
    from memfence.tasks.implications import Requirement
    from memfence.tasks.result import CheckResult


Places = Sequence[tuple[str, Path | None]]
"""Files of a command, each with the name that users know it by; None: not given."""


class ReportFiles(Record):
    """Where to write what; None: not asked for."""

    html: Path | None = None
    sarif: Path | None = None
    junit: Path | None = None
    witness: Path | None = None

    @property
    def is_asked(self) -> bool:
        """Whether any report is, but for a witness."""
        return any(path is not None for path in (self.html, self.sarif, self.junit))

    def require_places(self, inputs: Places = (), outputs: Places = ()) -> None:
        """Refuse a place where nothing can be written now, not after the search, and one that is read from or written
        to already: `inputs` and `outputs` are the other files of the command."""
        mine = (("--html", self.html), ("--sarif", self.sarif), ("--junit", self.junit), ("--witness", self.witness))
        for option, path in (*mine, *outputs):
            require_place(path, option)
        require_apart(inputs, (*outputs, *mine))

    def write_models(self, result: PortableResult) -> None:
        """The page about several models."""
        if self.html is not None:
            from memfence.report.describe.portable_page import portable_page

            self._write(lambda: portable_page(result))

    def write_check(self, result: CheckResult, proof: Certified | None = None) -> None:
        """Every report of a check that was asked for."""
        if self.is_asked:
            from memfence.report.describe.check import check_page
            from memfence.report.formats.junit import render_junit
            from memfence.report.formats.sarif import render_sarif

            self._write(
                lambda: check_page(result, proof),
                sarif=lambda: render_sarif(result),
                junit=lambda: render_junit(result),
            )
        if self.witness is not None:
            self._write_witness(self.witness, result)

    def _write_witness(self, path: Path, result: CheckResult) -> None:
        """The witness of a violation, if there is one."""
        from datetime import UTC, datetime

        from memfence.report.formats.svcomp_witness import has_witness, render_witness

        if has_witness(result):
            write_report(path, render_witness(result, created=datetime.now(UTC)), "--witness")

    def write_comparison(self, comparison: Comparison, proofs: Mapping[Requirement, Proof]) -> None:
        """The page of a comparison, if it was asked for."""
        if self.html is not None:
            from memfence.report.describe.compare import comparison_page

            self._write(lambda: comparison_page(comparison, proofs))

    def write_fix(self, result: FixResult | AtomicFix, proof: Certified | None = None) -> None:
        """Every report of fence synthesis that was asked for; there is none about atomic writes."""
        from memfence.synthesis.result import FixResult

        if not isinstance(result, FixResult):
            return
        if self.is_asked:
            from memfence.report.describe.fix import fix_page
            from memfence.report.formats.junit import render_junit_fix
            from memfence.report.formats.sarif import render_sarif_fix

            self._write(
                lambda: fix_page(result, proof),
                sarif=lambda: render_sarif_fix(result),
                junit=lambda: render_junit_fix(result),
            )

    def write_run(self, result: RunResult) -> None:
        """Every report of `memfence run` that was asked for."""
        if self.is_asked:
            from memfence.report.describe.run import running_page
            from memfence.report.describe.run_files import render_junit_run, render_sarif_run

            self._write(
                lambda: running_page(result),
                sarif=lambda: render_sarif_run(result),
                junit=lambda: render_junit_run(result),
            )

    def write_why(self, results: Sequence[WhyResult]) -> None:
        """The page of `memfence why`, if it was asked for."""
        if self.html is not None:
            from memfence.report.describe.why import why_page

            self._write(lambda: why_page(results))

    def write_explore(self, result: ExploreResult, proofs: NamedProofs) -> None:
        """The page of an exploration, if it was asked for."""
        if self.html is not None:
            from memfence.report.describe.explore import explore_page

            self._write(lambda: explore_page(result, proofs))

    def write_walk(self, walk: Walk) -> None:
        """The page of a walk, if it was asked for."""
        if self.html is not None:
            from memfence.report.describe.simulate import walk_page

            self._write(lambda: walk_page(walk))

    def write_monitor(self, result: MonitorResult) -> None:
        """The page of a monitored trace, if it was asked for."""
        if self.html is not None:
            from memfence.report.describe.monitor import monitor_page

            self._write(lambda: monitor_page(result))

    def write_errors(self, file: Path, error: InputError) -> None:
        """The machine formats report bad input, too; there is no page to look at."""
        if self.is_asked:
            from memfence.report.formats.junit import render_junit_errors
            from memfence.report.formats.sarif import render_sarif_errors

            name = "<stdin>" if str(file) == "-" else str(file)
            self._write(sarif=lambda: render_sarif_errors(error), junit=lambda: render_junit_errors(name, error))

    def _write(self, page: Callable[[], Page] | None = None, **texts: Callable[[], str]) -> None:
        """Each report that was asked for, and only those are made."""
        if self.html is not None and page is not None:
            from memfence.report.formats.html import render_html

            write_report(self.html, render_html(page()), "--html")
        for path, name in ((self.sarif, "sarif"), (self.junit, "junit")):
            if path is not None and name in texts:
                write_report(path, texts[name](), f"--{name}")


def require_place(path: Path | None, option: str) -> None:
    """Refuse a file that cannot be written (exit code 2); what is there already stays as it is."""
    obstacle = None if path is None else _obstacle(path)
    if obstacle is not None:
        raise typer.BadParameter(f"cannot write `{path}`: {os.strerror(obstacle)}", param_hint=option)


def require_apart(inputs: Places, outputs: Places) -> None:
    """Refuse an output that is an input or another output (exit code 2)."""
    wanted = [(option, path) for option, path in outputs if path is not None]
    for number, (option, path) in enumerate(wanted):
        for name, read in inputs:
            if read is not None and _is_same(path, read):
                other = "; use --in-place" if (option, name) == ("--output", "FILE") else ""
                raise typer.BadParameter(f"`{path}` would overwrite {name}{other}", param_hint=option)
        for before, there in wanted[:number]:
            if _is_same(path, there):
                raise typer.BadParameter(f"both {before} and {option} are `{path}`", param_hint=option)


def _is_same(written: Path, other: Path) -> bool:
    """Whether both are one file, by whatever name; a device or pipe may be written to by several."""
    try:
        if str(other) == "-":
            return written.is_file() and os.path.samestat(written.stat(), os.fstat(sys.stdin.fileno()))
        if written.exists() and not written.is_file():
            return False
        return written.resolve() == other.resolve() or (written.exists() and written.samefile(other))
    except (OSError, ValueError, RuntimeError, AttributeError):  # not there, no number, a loop of links
        return False


def _obstacle(path: Path) -> int | None:
    """The number of the error that writing would end with, as far as can be told beforehand."""
    try:
        if path.is_dir():
            return errno.EISDIR
        if not path.parent.is_dir():
            return errno.ENOTDIR if path.parent.exists() else errno.ENOENT
        return None if os.access(path if path.exists() else path.parent, os.W_OK) else errno.EACCES
    except OSError as problem:  # a name that is too long
        return problem.errno


def write_report(path: Path, text: str, option: str) -> None:
    """Write the file; where that is impossible, the option was wrong (exit code 2)."""
    with writing(option):
        write_file(path, text.encode("utf-8"))


def make_folder(path: Path, option: str) -> None:
    """Make the folder, and those above it, unless it exists."""
    with writing(option, "make the folder"):
        make_folders(path)


@contextmanager
def writing(option: str, deed: str = "write") -> Iterator[None]:
    """What cannot be written inside is wrong usage of the option (exit code 2)."""
    try:
        yield
    except CannotWrite as problem:
        message = f"cannot {deed} `{problem.filename}`: {problem.strerror}"
        raise typer.BadParameter(message, param_hint=option) from None
