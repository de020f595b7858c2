"""What a verb prints, and the reports that it writes beside that: one way for all verbs and all formats."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memfence.cli.progress import close_progress
from memfence.cli.report_files import Places, require_apart, require_place, write_report
from memfence.records import Record
from memfence.report.formats.table import FORMATS

if TYPE_CHECKING:
    from memfence.diagnostics import Diagnostic
    from memfence.report.report import Report

PRINTED = ("json", "quiet", "verbose")
"""Options that say what is printed; a verb has those that the table of options gives it."""
STREAM = "-"
"""Given as the place of a report: standard output, instead of what is printed there."""


class Output(Record):
    """What was asked for. `places`: where the report in each format goes, by the name of the format."""

    json: bool
    quiet: bool
    verbose: bool
    places: Mapping[str, Path | None]

    def require_places(self, inputs: Places = (), outputs: Places = ()) -> None:
        """Refuse a place where nothing can be written now, not after the search, and one that is read from or written
        to already: `inputs` and `outputs` are the other files of the command."""
        mine = [(f"--{name}", path) for name, path in self.places.items()]
        require_apart(inputs, (*outputs, *mine))
        for option, path in (*mine, *outputs):
            require_place(None if str(path) == STREAM else path, option)

    @property
    def is_text(self) -> bool:
        """Whether people read what is printed."""
        return not (self.json or self._prints_report)

    @property
    def _prints_report(self) -> bool:
        return any(str(path) == STREAM for path in self.places.values())

    def publish(self, report: Report) -> None:
        """Print what was found, and write every report that was asked for."""
        self.show(report)
        self.write(report)

    def warn(self, warnings: Sequence[Diagnostic]) -> None:
        """Say what to be warned of, where people read it."""
        if warnings and not (self.quiet or self.json):
            from memfence.cli import terminal
            from memfence.diagnostics import render

            terminal.write(render(warnings) + "\n", sys.stderr)

    def show(self, report: Report, *, instead: str | None = None) -> None:
        """Print what was found; `instead` of the text for people, this."""
        close_progress()
        if self.json:
            from memfence.report.formats.json import render

            sys.stdout.write(render(report))
        elif instead is not None:
            sys.stdout.write(instead)
        elif not self._prints_report:
            from memfence.cli import terminal
            from memfence.report.report import Style

            terminal.write(report.text(Style(terminal.width(), self.quiet, self.verbose)))

    def write(self, report: Report) -> None:
        """Every report that was asked for, and only those are made."""
        for form in FORMATS:
            path = self.places.get(form.name)
            if path is None or (report.is_about_input and form.for_people):
                continue
            if str(path) == STREAM:
                sys.stdout.write(form.render(report))
            else:
                write_report(path, form.render(report), f"--{form.name}")

    @contextmanager
    def refusing(self, file: Path | str | None = None) -> Iterator[None]:
        """Bad input inside ends with its diagnostics and exit code 3, wrong usage with exit code 2, and a time that is
        up before there is anything to report with exit code 4. Formats report bad input, too, where `file` is given."""
        from memfence.cli.refusal import refuse, refusing
        from memfence.diagnostics import InputError

        with refusing(self.json):
            try:
                yield
            except InputError as error:
                if file is not None:
                    from memfence.report.describe.error import error_report

                    self.write(error_report(error, "<stdin>" if str(file) == "-" else str(file)))
                raise typer.Exit(refuse(error, self.json)) from None
