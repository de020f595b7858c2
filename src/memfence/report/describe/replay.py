"""The report of `memfence run --replay`: a schedule that was run again."""

from __future__ import annotations

from memfence.binary.places import SourceLine
from memfence.questions.replay_run import ReplayedRun
from memfence.report.describe.found import PROBLEMS, finding_of, tone_of_problem
from memfence.report.describe.run import read_source, span_of
from memfence.report.describe.run_json import place_object, step_object
from memfence.report.describe.run_text import finding_name, finding_text, steps_table
from memfence.report.formats.json import Object
from memfence.report.page import Page
from memfence.report.report import Case, Report
from memfence.report.views.program_view import program_view
from memfence.report.views.source_view import source_view
from memfence.report.views.table import wrap
from memfence.tasks.answer import Verdict

NOTHING = "the program takes all steps of the schedule, and nothing goes wrong"


def replayed_report(run: ReplayedRun) -> Report:
    """One execution: VIOLATED if it goes wrong, and nothing is claimed about others."""
    problem = PROBLEMS[run.verdict]
    return Report(
        line=lambda: _verdict_line(run),
        text=lambda style: replay_text(run, width=style.width, quiet=style.quiet),
        data=lambda: replay_object(run),
        page=lambda: _page(run),
        findings=lambda: [
            finding_of(
                "replay",
                problem,
                _verdict_line(run) if run.finding is None else finding_text(run.finding),
                span_of(SourceLine(run.files[0], 1) if run.finding is None else run.finding.place, run.files),
                facts={"schedule": list(run.saved.schedule)},
            )
        ],
        case=lambda: Case(group="memfence.run", name=" ".join(run.files), kind=run.verdict.value, problem=problem),
        sources=lambda: map(read_source, run.files),
    )


def _page(run: ReplayedRun) -> Page:
    paths = dict.fromkeys([*run.files, *(step.place.path for step in run.steps)])
    sources = [source for path in paths if path and (source := read_source(path)).text]
    is_wrong = run.finding is not None and run.finding.is_wrong
    failure = run.finding.message if run.finding is not None and is_wrong else ""
    waiting = run.waiting if is_wrong else ()
    return Page(
        title=f"{' '.join(run.files)}: an execution that was run again",
        subject=" ".join(run.files),
        verdict=run.verdict.name,
        tone=tone_of_problem(PROBLEMS[run.verdict]),
        headline=NOTHING if run.finding is None else finding_text(run.finding),
        facts=(("Scope", "this execution only; others of the same program may differ"),),
        run=program_view(run.steps, waiting, sources, failure, buffered=run.saved.has_buffers) if run.steps else None,
        run_title="The execution",
        sources=tuple(source_view(source, {}) for source in sources),
    )


def replay_text(run: ReplayedRun, *, width: int, quiet: bool = False) -> str:
    """What it shows, and its steps."""
    if quiet:
        return _verdict_line(run) + "\n"
    shown = [] if run.finding is None else [*wrap(finding_text(run.finding), width), ""]
    table = steps_table(run.steps, run.waiting, width, buffered=run.saved.has_buffers)
    return "\n".join([*wrap(_verdict_line(run), width), "", *shown, *table]) + "\n"


def _verdict_line(run: ReplayedRun) -> str:
    name = " ".join(run.files)
    what = NOTHING if run.finding is None else finding_name(run.finding)
    match run.verdict:
        case Verdict.VIOLATED:
            return f"{name}: VIOLATED (replayed): {what}"
        case _ if run.finding is not None and run.finding.kind == "borderline":
            return f"{name}: NOT ROBUST (replayed): {what}"
        case _:
            return f"{name}: UNKNOWN (replayed): {what}"


def replay_object(run: ReplayedRun) -> Object:
    """`memfence run --replay --json`. `kind`: what the run shows; `saved_kind`: what the file says that it shows."""
    finding = run.finding
    return {
        "files": list(run.files),
        "verdict": run.verdict.value,
        "kind": None if finding is None else finding.kind,
        "outcome": None if finding is None else finding.cause,
        "message": None if finding is None else finding.message or None,
        "text": NOTHING if finding is None else finding_text(finding),
        "thread": None if finding is None else finding.thread,
        "at": None if finding is None else place_object(finding.place),
        "saved_kind": run.saved.kind,
        "schedule": list(run.saved.schedule),
        "steps": [step_object(step) for step in run.steps],
        "waiting": [step_object(step) for step in run.waiting],
    }
