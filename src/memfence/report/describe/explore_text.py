"""The report of `memfence explore`, as text and as the object of the JSON contract."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.certificates.result import NamedProofs
from memfence.deadline import Deadline
from memfence.engines.native.stateless import Execution
from memfence.execution.recording import render_trace
from memfence.execution.schedule import Replayable, schedule_object
from memfence.execution.trace import Trace
from memfence.models.spec import TSO
from memfence.models.state import ProcessStep
from memfence.program.facts.torn_steps import processes_with_torn_steps
from memfence.program.ir import NoDeadlock, Program
from memfence.program.text.steps import step_text
from memfence.questions.explore import ExploreFinding, ExploreResult, Iteration
from memfence.report.describe.check_data import trace_list
from memfence.report.describe.verify import proof_object
from memfence.report.formats.json import Object, dump
from memfence.report.views.run_table import run_table
from memfence.report.views.table import Column, render_table, wrap
from memfence.report.words.coverage import assumptions, covered_facts
from memfence.report.words.findings import deadlock_text
from memfence.report.words.reason import why_sentences
from memfence.report.words.sentences import limit_fact, stop_text, timeout_text
from memfence.source import NOWHERE
from memfence.tasks.answer import Verdict

PROVED = {"safe": "no step of a run under SC fails", "robust": "every run under TSO has the trace of one under SC"}


def explore_text(result: ExploreResult, proofs: NamedProofs = (), *, width: int, quiet: bool = False) -> str:
    """The whole report: verdict, counts, and each finding with its run."""
    lines = [explore_line(result)]
    if quiet:
        return lines[0] + "\n"
    lines += [f"  {name:<7} {text}" for name, text in (*_explore_facts(result), *proof_lines(proofs))]
    if len(result.iterations) > 1 or result.iterations[0].seconds_alone is not None:
        lines += ["", _iteration_table(result.iterations, width)]
    for finding in result.findings:
        lines += ["", *_finding_lines(finding, width)]
    return "\n".join(lines) + "\n"


def explore_line(result: ExploreResult) -> str:
    """The verdict in one line."""
    name, what = _path(result.program), claim(result)
    match result.verdict:
        case Verdict.HOLDS:
            return f"{name}: HOLDS (stateless exploration): {what}"
        case Verdict.VIOLATED:
            kinds = " and ".join(finding.kind for finding in result.findings)
            return f"{name}: VIOLATED (stateless exploration): {kinds}"
        case Verdict.HOLDS_UP_TO:
            return f"{name}: NO VIOLATION within {' and '.join(_bound_words(result))} (stateless exploration)"
        case Verdict.UNKNOWN:
            return f"{name}: UNKNOWN (stateless exploration): {stop_text(result.stop, result.limits)}"


def claim(result: ExploreResult) -> str:
    """What was looked at, as a sentence that may be true or false."""
    borderline = " and none is borderline" if result.counts.monitored else ""
    return f"all SC executions are correct{borderline}"


def torn_note(result: ExploreResult) -> str | None:
    """What an exploration cannot decide about this program, if anything."""
    torn = processes_with_torn_steps(result.program) if result.counts.monitored else ()
    if not torn:
        return None
    names = ", ".join(f"`{name}`" for name in torn)
    return (
        f"a step of {names} makes several stores; that they reach memory one by one is not explored "
        "(`memfence check --criterion robust` decides it)"
    )


def _bound_words(result: ExploreResult) -> list[str]:
    words = []
    if torn_note(result) is not None:
        words.append("runs in which the stores of one step reach memory together")
    if result.bound is not None:
        words.append(f"{result.bound} preemption{'' if result.bound == 1 else 's'}")
    if result.depth is not None:
        words.append(f"{result.depth} steps")
    return words


def _path(program: Program) -> str:
    return program.source.path if program.source.path != "<generated>" else program.name


def _explore_facts(result: ExploreResult) -> Iterator[tuple[str, str]]:
    counts = result.counts
    if result.verdict is Verdict.HOLDS and counts.monitored:
        yield "scope", "every TSO execution is sequentially consistent, and no assertion fails"
    elif result.verdict is Verdict.HOLDS:
        yield "scope", "no assertion fails in any SC execution; nothing is claimed about store buffers"
    for note in (*result.program.notes, torn_note(result)):
        if note is not None:
            yield "note", note
    yield from covered_facts(result.program, TSO.name, verbose=False)
    if any(not isinstance(stated, NoDeadlock) for stated in result.program.properties):
        yield "note", "only assertions are checked here; `memfence check` checks the stated properties"
    kind = "one of each class of equivalent executions" if result.reduced else "all of them, without reduction"
    yield "runs", f"{counts.interleavings:,} interleavings, {counts.borderline:,} borderline, {counts.failed:,} failing"
    yield (
        "search",
        (f"{kind}: {counts.steps:,} steps, {counts.redundant:,} runs given up as redundant, {counts.seconds:.2f} s"),
    )
    if counts.deadlocked and not any(isinstance(stated, NoDeadlock) for stated in result.program.properties):
        yield "note", f"{counts.deadlocked:,} executions end with a process blocked"
    if counts.truncated:
        yield "note", f"{counts.truncated:,} executions are longer than {result.depth} steps and were not run on"
    limit = stop_text(result.stop, result.limits)
    if limit is not None:
        yield "limit", limit_fact(limit)


def _iteration_table(iterations: tuple[Iteration, ...], width: int) -> str:
    timed = any(i.seconds_alone is not None for i in iterations)
    columns = [
        Column(title, 8, align_right=True)
        for title in ("preemptions", "interleavings", "borderline", "first [s]", "time [s]")
    ]
    rows = [
        [
            "any" if i.preemptions is None else str(i.preemptions),
            f"{i.counts.interleavings:,}",
            f"{i.counts.borderline:,}",
            "-" if i.counts.first_borderline_seconds is None else f"{i.counts.first_borderline_seconds:.3f}",
            f"{i.counts.seconds:.3f}",
        ]
        for i in iterations
    ]
    if timed:
        columns.append(Column("without monitor [s]", 8, align_right=True))
        rows = [
            [*row, "-" if i.seconds_alone is None else f"{i.seconds_alone:.3f}"]
            for row, i in zip(rows, iterations, strict=True)
        ]
    return render_table(columns, rows, width) or "\n".join(" ".join(row) for row in rows)


def _finding_lines(finding: ExploreFinding, width: int) -> list[str]:
    trace = finding.trace or finding.schedule
    return [*wrap(f"{finding.kind.capitalize()}: {finding_text(finding)}.", width), *_run_lines(trace, width)]


def finding_text(finding: ExploreFinding) -> str:
    """Who fails, or who could read what, in one line."""
    trace = finding.schedule
    program = trace.program
    if finding.reader is not None:
        seen = ", ".join(f"{program.variables[read.variable].name} = {read.value}" for read in finding.stale)
        reader = program.processes[finding.reader].name
        return f"`{reader}` could read the stale {seen}, which no SC execution allows it"
    if finding.kind == "deadlock":
        return deadlock_text(trace).partition(": ")[2]
    reason = "the program fails" if trace.failure is None else trace.failure.reason
    return f"{_who(trace)}: {reason}"


def _who(trace: Trace) -> str:
    step = trace.steps[-1].step
    run = step if isinstance(step, ProcessStep) else getattr(step, "sender", None)
    if run is None:
        return trace.program.name
    process = trace.program.processes[run.process]
    transition = process.transitions[run.transition]
    text = step_text(trace.program, run.process, transition)
    place = "" if transition.span.source is NOWHERE.source else f" ({transition.span.place})"
    return f"`{process.name}` at `{text}`{place}"


def _run_lines(trace: Trace, width: int) -> list[str]:
    if not trace.steps:
        return []
    count = len(trace.steps)
    lines = [f"Run of {count} step{'' if count == 1 else 's'}, replayed under {trace.model}:", ""]
    lines += [run_table(trace, width), ""]
    sentences = why_sentences(trace)
    return lines + (wrap("Why: " + " ".join(sentences), width) if sentences else [])


def proof_lines(proofs: NamedProofs) -> Iterator[tuple[str, str]]:
    """What was certified beside the answer, and what the checkers say of it; else why it was not."""
    for name, proof in proofs:
        if proof.verified is None or proof.verified.checked is None:
            why = "REFUSED; do not rely on this answer" if proof.is_refused else proof.missing
            yield "proof", f"none that {PROVED[name]}: {why}"
        else:
            checked = proof.verified.checked
            yield "checked", f"{PROVED[name]}: {checked.states:,} states, {checked.checker} checker"


def explore_object(result: ExploreResult, proofs: NamedProofs = ()) -> Object:
    """`memfence explore --json`."""
    counts = result.counts
    return {
        "file": result.program.source.path,
        "verdict": result.verdict.value,
        "interleavings": counts.interleavings,
        "borderline": counts.borderline,
        "failed": counts.failed,
        "bound": result.bound,
        "depth": result.depth,
        "limit": stop_text(result.stop, result.limits),
        "reduced": result.reduced,
        "deadlocked": counts.deadlocked,
        "truncated": counts.truncated,
        "notes": list(result.program.notes),
        "assumptions": list(assumptions(result.program, TSO.name)),
        "iterations": [_iteration_object(i) for i in result.iterations],
        "findings": [_finding_object(f) for f in result.findings],
        "stats": {"steps": counts.steps, "redundant": counts.redundant, "seconds": round(counts.seconds, 6)},
    } | ({"proofs": {name: proof_object(proof) for name, proof in proofs}} if proofs else {})


def _iteration_object(iteration: Iteration) -> Object:
    counts = iteration.counts
    return {
        "preemptions": iteration.preemptions,
        "interleavings": counts.interleavings,
        "borderline": counts.borderline,
        "failed": counts.failed,
        "complete": iteration.complete,
        "first_borderline_seconds": counts.first_borderline_seconds,
        "first_failure_seconds": counts.first_failure_seconds,
        "seconds": round(counts.seconds, 6),
        "seconds_without_monitor": None if iteration.seconds_alone is None else round(iteration.seconds_alone, 6),
    }


def _finding_object(finding: ExploreFinding) -> Object:
    trace = finding.trace or finding.schedule
    return {
        "kind": finding.kind,
        "text": finding_text(finding),
        "schedule": schedule_object(finding.replayable),
        "trace": trace_list(trace),
        "why": list(why_sentences(trace)),
    }


def replay_text(replayed: tuple[Replayable, ...], *, width: int, quiet: bool = False) -> str:
    """Every schedule that was replayed, as its run."""
    blocks = []
    for found in replayed:
        trace = found.trace
        line = f"{_path(trace.program)}: VIOLATED (replayed under {trace.model}): {found.kind}"
        if found.kind == "walk":
            line = f"{_path(trace.program)}: REPLAYED under {trace.model}: a walk of {len(trace.steps)} steps"
        blocks.append(line if quiet else "\n".join([line, "", *_run_lines(trace, width)]).rstrip())
    return "\n\n".join(blocks) + "\n"


def no_answer_text(file: str, deadline: Deadline, *, quiet: bool) -> str:
    """The time was up before a run that was found could be replayed: no verdict without that."""
    limit = timeout_text(deadline)
    what = f"  limit   {limit} was hit before the runs were replayed\n  try     a longer --timeout\n"
    return f"{file}: UNKNOWN (stateless exploration): {limit}\n{'' if quiet else what}"


def no_answer_object(file: str, deadline: Deadline) -> Object:
    """`memfence explore --json` where the time was up before there was anything to report."""
    return {
        "file": file,
        "verdict": Verdict.UNKNOWN.value,
        "interleavings": 0,
        "borderline": 0,
        "failed": 0,
        "bound": None,
        "limit": timeout_text(deadline),
        "findings": [],
    }


def replay_object(replayed: tuple[Replayable, ...]) -> Object:
    """`memfence explore --replay --json`: as for an exploration that ran these executions and no others."""
    borderline = sum(found.kind == "borderline" for found in replayed)
    failed = sum(found.kind in ("assertion failure", "deadlock") for found in replayed)
    return {
        "file": replayed[0].trace.program.source.path,
        "verdict": Verdict.VIOLATED.value if borderline or failed else Verdict.UNKNOWN.value,
        "interleavings": len(replayed),
        "borderline": borderline,
        "failed": failed,
        "bound": None,
        "limit": None,
        "findings": [
            {
                "kind": found.kind,
                "schedule": schedule_object(found),
                "trace": trace_list(found.trace),
                "why": list(why_sentences(found.trace)),
            }
            for found in replayed
        ],
    }


def trace_text(result: ExploreResult, execution: Execution) -> str:
    """One execution, as `memfence monitor` reads it."""
    return render_trace(result.events(execution))


def schedules_text(result: ExploreResult) -> str:
    """The findings, as `--replay` reads them."""
    return dump({"findings": [schedule_object(finding.replayable) for finding in result.findings]})
