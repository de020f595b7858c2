"""A schedule that was run again, as text and as JSON."""

from __future__ import annotations

from memfence.questions.replay_run import ReplayedRun
from memfence.report.describe.run_json import place_object, step_object
from memfence.report.describe.run_text import finding_name, finding_text, steps_table
from memfence.report.formats.json import Object
from memfence.report.views.table import wrap
from memfence.tasks.answer import Verdict

NOTHING = "the program takes all steps of the schedule, and nothing goes wrong"


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
