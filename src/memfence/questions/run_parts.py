"""One exploration by several processes: whether their parts make up the tree, and what they found together."""

from __future__ import annotations

from dataclasses import fields, replace

from memfence.binary.records import RunCounts
from memfence.questions.run_result import RunFinding, RunOptions, RunResult, verdict_of

FLAGS = ("out_of_time", "spins_roughly", "more_wake_ups", "more_failures")
"""Of the counts: what is true of all processes together if it is of one."""


def know_the_same(results: list[RunResult]) -> bool:
    """Processes learn what is shared while they run. Their parts make up the tree only if they all ended up knowing the
    same; else somebody has cut the tree in another way."""
    layouts = {
        (r.layout.threads, frozenset(r.layout.cells), frozenset(r.layout.loops), frozenset(r.layout.unguarded))
        for r in results
    }
    return len(layouts) == 1


def joined(results: list[RunResult], options: RunOptions) -> RunResult:
    """The executions of several processes as those of one: each finding once, the first that was met."""
    totals = {
        one.name: sum(getattr(result.counts, one.name) for result in results)
        for one in fields(RunCounts)
        if one.name not in ("seconds", "threads", "reduced", *FLAGS)
    }
    flags = {name: any(getattr(r.counts, name) for r in results) for name in FLAGS}
    counts = replace(
        results[0].counts, **totals, **flags, seconds=max(result.counts.seconds for result in results)
    )  # the processes ran at the same time
    findings: dict[tuple[object, ...], RunFinding] = {}
    for finding in (finding for result in results for finding in result.findings):
        missed = None if finding.stale is None else (finding.stale.missed.thread, finding.stale.missed.place)
        key = (finding.kind, finding.cause, finding.thread, finding.place, missed)
        findings[key] = _merged(findings[key], finding) if key in findings else finding
    fault = next((result.fault for result in results if result.fault), None)
    leaks = {leak.place: leak for result in reversed(results) for leak in result.leaks}
    simulated = [result.simulated for result in results if result.simulated is not None]
    whole = replace(
        results[0],
        counts=counts,
        findings=tuple(findings.values()),
        options=options,
        leaks=tuple(leaks.values()),
        simulated=sum(simulated) if simulated else None,
        is_simulation_complete=all(result.is_simulation_complete for result in results),
        fault=fault,
    )
    return replace(whole, verdict=verdict_of(whole))


def _merged(first: RunFinding, second: RunFinding) -> RunFinding:
    shown = second if second.is_confirmed and not first.is_confirmed else first
    return replace(shown, executions=first.executions + second.executions)
