"""The report of `memfence run` as the object of the JSON contract."""

from __future__ import annotations

from memfence.binary.places import SourceLine
from memfence.binary.records import GraphEvent
from memfence.binary.steps import ProgramStep, SuggestedFence
from memfence.questions.run_graphs import order_text
from memfence.questions.run_result import Confirmation, RunFinding, RunResult
from memfence.report.describe.run_text import (
    confirmation_text,
    fence_text,
    finding_text,
    leak_text,
    missing_text,
    race_text,
    shown_first,
    suggested_fences,
    unknown_text,
)  # fmt: skip
from memfence.report.formats.json import Object
from memfence.tasks.answer import Verdict


def run_object(result: RunResult) -> Object:
    """`memfence run --json`."""
    counts, asked = result.counts, result.options
    return {
        "files": list(result.files),
        "verdict": result.verdict.value,
        "model": asked.model,
        "reading": result.reading.name,
        "allow": list(result.reading.allowed),
        "robust": result.is_robust,
        "executions": counts.executions,
        "borderline": counts.borderline,
        "confirmed": result.confirmed,
        "failing": counts.failing,
        "deadlocked": counts.deadlocked,
        "dropped": counts.dropped,
        "blocked": counts.dropped + counts.redundant,
        "buffered": _buffered_object(result),
        "bound": _bound_object(result),
        "limit": unknown_text(result) if result.verdict is Verdict.UNKNOWN else None,
        "fences": [_fence_object(fence) for fence in suggested_fences(result)],
        "races": [
            {"text": race_text(race), "accesses": [step_object(race.first), step_object(race.second)]}
            for race in result.races
        ],
        "leaks": [
            {"text": leak_text(leak), "bytes": leak.bytes, "at": place_object(leak.place)} for leak in result.leaks
        ],
        "findings": [finding_object(finding) for finding in shown_first(result.findings)],
        "stats": {
            "steps": counts.steps,
            "redundant": counts.redundant,
            "reduced": counts.reduced,
            "restarts": counts.restarts,
            "threads": counts.threads,
            "seconds": round(counts.seconds, 6),
            "seed": asked.seed,
        },
    }


def _buffered_object(result: RunResult) -> Object | None:
    if result.simulated is None:
        return None
    return {"executions": result.simulated, "complete": result.is_simulation_complete}


def _bound_object(result: RunResult) -> Object | None:
    if result.is_complete:
        return None
    asked, counts = result.options, result.counts
    return {
        "preemptions": asked.preemptions,
        "random": asked.random,
        "seed": asked.seed if asked.random is not None else None,
        "depth": asked.depth if counts.truncated else None,
        "rounds": 100 if counts.spins_roughly else None,
        "spurious": asked.spurious if counts.more_wake_ups or counts.more_failures else None,
        "simulated": result.simulated,
    }


def finding_object(finding: RunFinding) -> Object:
    """One finding, with the schedule that shows it."""
    confirmation = finding.confirmation
    return {
        "kind": finding.kind,
        "cause": finding.cause,
        "text": finding_text(finding),
        "thread": finding.thread,
        "at": place_object(finding.place),
        "executions": finding.executions,
        "schedule": list(finding.schedule),
        "steps": [step_object(step) for step in finding.steps],
        "path": [step_object(step) for step in finding.stale.path] if finding.stale else [],
        "fences": [_fence_object(fence) for fence in finding.stale.fences] if finding.stale else [],
        "confirmation": None if confirmation is None else _confirmation_object(confirmation),
        **(
            {} if finding.race is None else {"reason": missing_text(finding), "race": [*map(step_object, finding.race)]}
        ),
        **({"graph": [_event_object(event) for event in finding.graph]} if finding.graph else {}),
    }


def _event_object(event: GraphEvent) -> Object:
    return {
        "thread": event.thread,
        "number": event.number,
        "kind": event.kind,
        "order": order_text(event),
        "update": event.is_update,
        "location": event.location,
        "value": event.value,
        "source": None if event.source is None else list(event.source),
        "waits": event.waits,
        "place": event.place,
    }


def _confirmation_object(confirmation: Confirmation) -> Object:
    return {
        "confirmed": confirmation.kind is not None,
        "kind": confirmation.kind,
        "attempts": confirmation.attempts,
        "text": confirmation_text(confirmation),
        "schedule": list(confirmation.schedule),
        "steps": [step_object(step) for step in confirmation.steps],
    }


def step_object(step: ProgramStep) -> Object:
    """One step."""
    return {
        "thread": step.thread,
        "kind": step.kind,
        "variable": step.variable or None,
        "value": step.value,
        "call": step.name,
        "spurious": step.is_spurious,
        "at": place_object(step.place),
    }


def _fence_object(fence: SuggestedFence) -> Object:
    return {
        "thread": fence.thread,
        "after": place_object(fence.after.place),
        "before": place_object(fence.before.place),
        "text": fence_text(fence),
    }


def place_object(place: SourceLine) -> Object | None:
    """A line of a file; None where it is not known."""
    if place.line == 0:
        return None
    return {"file": place.path, "line": place.line, "function": place.function}
