"""A schedule that was run again, as text and as JSON."""

from __future__ import annotations

from memfence.questions.replay_run import ReplayedRun
from memfence.reports.json import Object
from memfence.reports.running import steps_table
from memfence.reports.running_json import step_object
from memfence.reports.table import wrap


def replay_text(run: ReplayedRun, *, width: int) -> str:
    """What it shows, and its steps."""
    name = " ".join(run.saved.files)
    lines = wrap(f"{name}: VIOLATED (replayed): {_outcome(run)}", width)
    return "\n".join([*lines, "", *steps_table(run.steps, run.waiting, width)]) + "\n"


def _outcome(run: ReplayedRun) -> str:
    if run.replayed.kind is not None:
        return f"{run.saved.kind}: {run.replayed.message}"
    return run.saved.kind


def replay_object(run: ReplayedRun) -> Object:
    """`memfence run --replay --json`."""
    return {
        "files": list(run.saved.files),
        "verdict": "violated",
        "kind": run.saved.kind,
        "outcome": run.replayed.kind,
        "message": run.replayed.message or None,
        "schedule": list(run.saved.schedule),
        "steps": [step_object(step) for step in run.steps],
        "waiting": [step_object(step) for step in run.waiting],
    }
