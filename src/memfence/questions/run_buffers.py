"""Borderline, and nothing confirmed: the executions with store buffers decide, each store on its way to memory a step.

They contain the SC executions. If all were run and none goes wrong, the program holds, robust or not; if one does, that
is the run that violates it. Under PSO, which borderline says nothing about, they are always asked for.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.questions.run_result import RunFinding, RunResult, verdict_of

BUFFER_SECONDS = 60.0
"""Without a limit on time, what exploring store buffers may take: they may have far more executions than there are SC
ones, and not finishing only leaves the verdict as it was."""


def needs_buffers(result: RunResult) -> bool:
    """Whether the SC executions leave the question open, and it was asked about all executions."""
    asked, counts = result.options, result.counts
    if asked.spec.reorders_stores:
        return counts.failing + counts.deadlocked == 0 and result.fault is None
    if not asked.confirm or asked.first or asked.random is not None or asked.preemptions is not None:
        return False
    is_open = bool(result.findings) and all(f.kind == "borderline" and not f.is_confirmed for f in result.findings)
    return is_open and result.asserts and result.fault is None and not counts.out_of_time


def with_buffers(result: RunResult, buffered: RunResult) -> RunResult:
    """What both explorations amount to. Of the second one only what goes wrong counts, and whether it was complete."""
    counts = replace(
        result.counts,
        seconds=result.counts.seconds + buffered.counts.seconds,
        cpu_seconds=result.counts.cpu_seconds + buffered.counts.cpu_seconds,
    )
    found = tuple(_as_buffered(finding, buffered) for finding in buffered.findings)
    whole = replace(
        result,
        counts=counts,
        findings=(*result.findings, *found),
        simulated=buffered.simulated,
        is_simulation_complete=buffered.is_simulation_complete,
        fault=buffered.fault if result.options.spec.reorders_stores else None,
    )
    return replace(whole, verdict=verdict_of(whole))


def _as_buffered(finding: RunFinding, buffered: RunResult) -> RunFinding:
    return replace(finding, is_buffered=True, layout=buffered.layout)
