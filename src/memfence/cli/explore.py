"""`memfence explore FILE`."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memfence.cli.exit_codes import Exit, exit_of
from memfence.cli.keywords import keywords_of, understood
from memfence.cli.option_groups import Compiling, File, Loading
from memfence.cli.output import Output
from memfence.cli.progress import ProgressLine
from memfence.cli.report_files import make_folder, write_report
from memfence.cli.verb import verb

if TYPE_CHECKING:
    from memfence.certificates.result import NamedProofs
    from memfence.deadline import Deadline
    from memfence.execution.schedule import Replayable
    from memfence.questions.explore import ExploreResult
    from memfence.report.report import Report
    from memfence.verbs.usage import Usage


@verb("Run SC executions one by one, and monitor each.", example="explore examples/lost_wakeup.pml --preemptions 3")
def explore(
    context: typer.Context,
    file: File,
    loading: Loading,
    compiling: Compiling,
    preemptions: int | None,
    depth: int,
    first: bool,
    no_monitor: bool,
    timing: bool,
    save_trace: Path | None,
    most_traces: int,
    save_schedule: Path | None,
    replay: Path | None,
    verify: bool,
    cluster: str | None,
    timeout: float | None,
    out: Output,
) -> None:
    """Run SC executions one by one: does an assertion fail, is one borderline for store buffers?

    --verify: where all are correct, certify what follows from that (no step fails under SC; every run under TSO has the
    trace of one under SC), and have it checked.
    """
    from memfence.cli.certifying import write_refused
    from memfence.deadline import Deadline
    from memfence.report.describe.explore import replay_report
    from memfence.report.described import report_of

    usage = understood(context, files=[file, *(compiling.also or ())])
    if replay is not None:
        replayed = _replayed(usage, file, replay, out)
        out.publish(_no_answer(file, Deadline(timeout)) if replayed is None else replay_report(replayed))
        raise typer.Exit(_exit_of_replay(replayed))
    out.require_places([("FILE", file)], [("--save-schedule", save_schedule)])
    if save_trace is not None:
        make_folder(save_trace, "--save-trace")
    deadline, progress = Deadline(timeout), ProgressLine(quiet=out.quiet)
    keep = most_traces if save_trace is not None else 0
    more = {"deadline": deadline, "monitor": not no_monitor, "save": keep}
    found = _explored(file, keywords_of(usage, progress) | more, progress, out, verify=verify)
    if found is None:
        out.publish(_no_answer(file, deadline))
        raise typer.Exit(Exit.UNKNOWN)
    result, proofs = found
    _save(result, proofs, deadline, save_trace, save_schedule, out)
    out.show(report_of(result, proofs))
    raise typer.Exit(write_refused(proof for _, proof in proofs) or exit_of(result.verdict))


def _explored(
    file: Path, keywords: dict[str, Any], progress: ProgressLine, out: Output, *, verify: bool
) -> tuple[ExploreResult, NamedProofs] | None:
    """What was found; None where the time was up before the runs to it were replayed: no verdict without that."""
    from memfence.deadline import TimeUp

    with progress, out.refusing(file), suppress(TimeUp):
        return _ask(file, keywords, verify=verify)
    return None


def _ask(file: Path, keywords: dict[str, Any], *, verify: bool) -> tuple[ExploreResult, NamedProofs]:
    """The answer, and what became of its proofs where these are asked for."""
    if not verify:
        from memfence.api.explore import explore as ask

        return ask(file, **keywords), ()
    from memfence.api.verified import explore_verified

    found = explore_verified(file, **keywords)
    return found.result, found.proofs


def _replayed(usage: Usage, file: Path, schedule: Path, out: Output) -> tuple[Replayable, ...] | None:
    """The runs of the schedule; None where the time was up before."""
    from memfence.api.explore import replay
    from memfence.deadline import TimeUp

    with out.refusing(file), suppress(TimeUp):
        return replay(file, schedule, **keywords_of(usage))
    return None


def _exit_of_replay(replayed: tuple[Replayable, ...] | None) -> Exit:
    """A walk claims nothing: that it can be replayed is all that was asked."""
    if replayed is None:
        return Exit.UNKNOWN
    return Exit.HOLDS if all(found.kind == "walk" for found in replayed) else Exit.VIOLATED


def _no_answer(file: Path, deadline: Deadline) -> Report:
    from memfence.report.describe.explore import no_answer_report

    return no_answer_report("<stdin>" if str(file) == "-" else str(file), deadline)


def _save(
    result: ExploreResult,
    proofs: NamedProofs,
    deadline: Deadline,
    traces: Path | None,
    schedule: Path | None,
    out: Output,
) -> None:
    """Every file that was asked for and that the time suffices for; what is missing is said, not hidden."""
    if traces is not None:
        _save_traces(result, deadline, traces)
    from memfence.deadline import TimeUp
    from memfence.report.described import report_of

    try:
        with deadline.enforced():
            if schedule is not None:
                _save_schedules(result, schedule)
            out.write(report_of(result, proofs))
    except TimeUp:
        sys.stderr.write(f"the files with the runs were not written: {_named(deadline)}\n")


def _named(deadline: Deadline) -> str:
    from memfence.report.words.sentences import timeout_text

    return timeout_text(deadline)


def _save_traces(result: ExploreResult, deadline: Deadline, folder: Path) -> None:
    """One file an execution, numbered."""
    from memfence.deadline import TimeUp
    from memfence.report.describe.explore_text import trace_text

    written, why = 0, "see --most-traces"
    for execution in result.executions:
        try:
            with deadline.enforced():
                text = trace_text(result, execution)
        except TimeUp:
            why = _named(deadline)
            break
        written += 1
        write_report(folder / f"execution-{written:06d}.jsonl", text, "--save-trace")
    left = result.counts.interleavings - written
    if left > 0:
        sys.stderr.write(f"{written} traces written, {left} executions not: {why}\n")


def _save_schedules(result: ExploreResult, path: Path) -> None:
    from memfence.report.describe.explore_text import schedules_text

    write_report(path, schedules_text(result), "--save-schedule")
