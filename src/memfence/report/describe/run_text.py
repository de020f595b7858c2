"""The report of `memfence run` as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memfence.binary.places import SourceLine
from memfence.binary.steps import ProgramStep, StaleLoad, SuggestedFence
from memfence.models.catalogue import model_titled
from memfence.questions.run_result import Confirmation, Leak, PlainRace, RunFinding, RunResult
from memfence.report.views.table import Column, render_table, wrap
from memfence.report.words.sentences import counted
from memfence.tasks.answer import Verdict

MOST_SHOWN = 3
"""Findings that are shown with their steps; the others in one line each."""


def run_text(result: RunResult, *, width: int, quiet: bool = False) -> str:
    """The whole report: verdict, counts, findings with their steps, and the fences to put in."""
    lines = wrap(verdict_line(result), width)
    if quiet:
        return verdict_line(result) + "\n"
    lines += [line for name, text in run_facts(result) for line in _fact(name, text, width)]
    for number, finding in enumerate(shown_first(result.findings)):
        lines += ["", *_finding_lines(finding, width, in_full=number < MOST_SHOWN)]
    fences = suggested_fences(result)
    if fences:
        lines += ["", "Fences that these executions ask for (in C: atomic_thread_fence(memory_order_seq_cst)):"]
        lines += [f"  {fence_text(fence)}" for fence in fences]
    return "\n".join(lines) + "\n"


def shown_first(findings: Sequence[RunFinding]) -> list[RunFinding]:
    """Plain failures, then confirmed borderline executions, then the others."""
    return sorted(findings, key=lambda f: (f.kind == "borderline", not f.is_confirmed, len(f.schedule)))


def _fact(name: str, text: str, width: int) -> list[str]:
    first, *rest = wrap(text, max(20, width - 10))
    return [f"  {name:<7} {first}", *(f"          {line.strip()}" for line in rest)]


def verdict_line(result: RunResult) -> str:
    """The verdict in one line."""
    name = " ".join(result.files)
    match result.verdict:
        case Verdict.HOLDS if result.options.graphs:
            return f"{name}: HOLDS under {result.options.model} (run): all executions are correct"
        case Verdict.HOLDS if not result.options.spec.has_buffers:
            return f"{name}: HOLDS under sc (run): all SC executions are correct"
        case Verdict.HOLDS if result.options.spec.reorders_stores:
            return f"{name}: HOLDS under pso (run): no execution with store buffers goes wrong"
        case Verdict.HOLDS if result.counts.borderline:
            return f"{name}: HOLDS (run): not robust, but no execution with store buffers goes wrong"
        case Verdict.HOLDS:
            return f"{name}: HOLDS (run): all SC executions are correct and none is borderline"
        case Verdict.VIOLATED:
            what = "borderline, and nothing is asserted" if is_only_borderline(result) else _found_text(result)
            return f"{name}: VIOLATED (run): {what}"
        case Verdict.HOLDS_UP_TO:
            return f"{name}: NO VIOLATION within {' and '.join(bound_words(result))} (run)"
        case Verdict.UNKNOWN if is_only_borderline(result):
            return f"{name}: NOT ROBUST (run): {unknown_text(result)}"
        case Verdict.UNKNOWN:
            return f"{name}: UNKNOWN (run): {unknown_text(result)}"


def is_only_borderline(result: RunResult) -> bool:
    """There are borderline executions, and that is all that is known against the program."""
    return bool(result.findings) and all(f.kind == "borderline" and not f.is_wrong for f in result.findings)


def _unconfirmed_text(result: RunResult) -> str:
    attempts = sum(f.confirmation.attempts for f in result.findings if f.confirmation is not None)
    tried = f"nothing went wrong in {counted(attempts, 'attempt')} to hold the store back"
    return f"borderline, but {tried}" if attempts else "borderline, and not tried with the store held back"


def _found_text(result: RunResult) -> str:
    return ", ".join(dict.fromkeys(finding_name(finding) for finding in shown_first(result.findings)))


def finding_name(finding: RunFinding) -> str:
    """What it is, in a word or two."""
    if finding.is_confirmed and finding.confirmation is not None:
        return f"borderline, confirmed ({finding.confirmation.kind})"
    return finding.kind if finding.kind != "failure" else finding.cause


def bound_words(result: RunResult) -> list[str]:
    """The bounds that the verdict is subject to, each in words."""
    asked, counts = result.options, result.counts
    words = []
    if asked.random is not None:
        words.append(f"{counted(counts.executions, 'random execution')} (seed {asked.seed})")
    elif asked.preemptions is not None and counts.cut:
        words.append(counted(asked.preemptions, "preemption"))
    if asked.spec.reorders_stores and not result.is_simulation_complete:
        words.append(f"{counted(result.simulated or 0, 'random execution')} with reordered stores")
    if counts.spins_roughly:
        words.append("100 rounds of loops that only read")
    if counts.more_wake_ups:
        words.append(f"{counted(asked.spurious, 'spurious wake-up')} per wait and thread")
    if counts.more_failures:
        words.append(f"{counted(asked.spurious, 'spurious failure')} per weak compare-exchange and thread")
    if counts.truncated and asked.graphs:
        words.append(f"{counted(asked.depth, 'event')} per thread, or rounds of loops that change nothing")
    elif counts.truncated:
        words.append(f"{counted(asked.depth, 'step')} of each of {counted(counts.executions, 'execution')}")
    return words


def unknown_text(result: RunResult) -> str:
    """Why there is no verdict."""
    limit = result.options.timeout_seconds
    if result.fault == "timeout" or result.counts.out_of_time:
        return "the time set aside is over" if limit is None else f"timeout {limit:g} s"
    if result.fault is not None:
        return f"the process of the program ended unexpectedly ({result.fault})"
    if is_only_borderline(result):
        return _unconfirmed_text(result)
    finding = next(finding for finding in result.findings if finding.kind != "borderline")
    return f"{finding.message} at {_at(finding.place)}"


def run_facts(result: RunResult) -> Iterator[tuple[str, str]]:
    """Lines below the verdict: what it covers, and what it cost."""
    counts = result.counts
    buffers = _buffers_text(result)
    if result.reading.text:
        yield "reading", result.reading.text
    if buffers:
        yield "buffers", buffers
    if result.verdict is Verdict.HOLDS and result.options.graphs:
        yield "scope", _graphs_scope(result)
    elif result.verdict is Verdict.HOLDS and not result.options.spec.has_buffers:
        yield (
            "scope",
            "for this input, as compiled without optimisation: all executions without store buffers. x86 allows more",
        )
    elif result.verdict is Verdict.HOLDS and not result.options.spec.reorders_stores:
        why = "every one with store buffers was run" if counts.borderline else "none with store buffers differs from SC"
        covers = "for this input, as compiled without optimisation, on x86: all executions"
        yield "scope", f"{covers}, since {why}. C11 and ARM allow more"
    yield (
        "runs",
        counted(counts.executions, "execution")
        + (f", {counts.borderline:,} borderline" if result.options.spec.has_buffers else "")
        + f", {counts.failing:,} failing, {counts.deadlocked:,} stuck"
        + (f", {counts.dropped:,} where an assumption is false" if counts.dropped else ""),
    )
    if result.options.graphs:
        yield (
            "search",
            f"every execution graph once: {counts.steps:,} steps, {counts.redundant:,} blocked, {counts.seconds:.2f} s",
        )
    kind = "one of each class of equivalent executions" if counts.reduced else "without reduction"
    if result.options.random is not None:
        kind = f"at random, seed {result.options.seed}"
    if not result.options.graphs:
        yield "search", f"{kind}: {counts.steps:,} steps, {counts.redundant:,} runs given up, {counts.seconds:.2f} s"
    for race in result.races[:MOST_SHOWN]:
        yield "warning", race_text(race)
    if len(result.races) > MOST_SHOWN:
        yield "warning", f"... and {len(result.races) - MOST_SHOWN} more data races between plain accesses"
    for leak in result.leaks if not result.options.leaks else ():
        yield "warning", leak_text(leak)
    if counts.truncated and not result.options.graphs:
        yield "note", f"{counts.truncated:,} executions are longer than {result.options.depth} steps and were cut off"
        yield "try", "fewer rounds in the program, `--preemptions 2` or `--random 10000`"
    if counts.out_of_time or (is_only_borderline(result) and result.simulated and not result.is_simulation_complete):
        yield "try", "a longer --timeout, `--preemptions 2` or `--random 10000`"


def _graphs_scope(result: RunResult) -> str:
    """All executions of the model; and what that says of a processor that allows more."""
    title = model_titled(result.options.model)
    covers = f"for this input, as compiled without optimisation: all executions under {title}"
    if result.counts.acquires:
        return f"{covers}. Every atomic load acquires and nothing races, so they are those of ARMv8 as well"
    return f"{covers}. Where loads do not acquire, ARM may allow more: ask `memfence check --model armv8`"


def _buffers_text(result: RunResult) -> str:
    """What was run with store buffers; empty: nothing, or a few executions at random, which the bound names."""
    if result.simulated is None:
        return ""
    ran = counted(result.simulated, "execution")
    if result.options.spec.reorders_stores:
        return f"{ran} in which stores wait and overtake each other" if result.is_simulation_complete else ""
    more = "" if result.is_simulation_complete else ", which are not all of them"
    return f"{ran} in which stores wait{more}"


def leak_text(leak: Leak) -> str:
    """Where the memory comes from."""
    return f"leak: {counted(leak.bytes, 'byte')} allocated at {_at(leak.place)} are never freed"


def race_text(race: PlainRace) -> str:
    """Both accesses, and why they matter."""
    return (
        f"data race on `{race.first.variable}`: {race.first.kind} at {_at(race.first.place)}, {race.second.kind} at "
        f"{_at(race.second.place)}; an optimising compiler may merge or move them"
    )


def _finding_lines(finding: RunFinding, width: int, *, in_full: bool) -> list[str]:
    lines = wrap(finding_text(finding), width)
    if not in_full:
        return lines
    confirmed = finding.confirmation if finding.is_confirmed else None
    if finding.stale is not None:
        lines += ["", *_path_lines(finding.stale)]
    if confirmed is not None:
        return [
            *lines,
            "",
            *wrap(confirmation_text(confirmed), width),
            "",
            *steps_table(confirmed.steps, confirmed.waiting, width, buffered=True),
        ]
    if finding.stale is None:
        lines += ["", *steps_table(finding.steps, finding.waiting, width, buffered=finding.is_buffered)]
    return lines


def finding_text(finding: RunFinding) -> str:
    """Who could read what, who fails, or who waits, in one sentence."""
    often = f" (in {counted(finding.executions, 'execution')}{' with store buffers' if finding.is_buffered else ''})"
    match finding.kind:
        case "borderline" if finding.stale is not None:
            load, missed = finding.stale.load, finding.stale.missed
            text = (
                f"Borderline: thread {load.thread} could miss the store to `{missed.variable}` by thread "
                f"{missed.thread} ({_at(missed.place)}) when it loads it at {_at(load.place)}: possible with store "
                "buffers, in no SC execution"
            )
        case "borderline":
            text = f"Borderline: thread {finding.thread} could load a stale value at {_at(finding.place)}"
        case "deadlock":
            text = "Deadlock: every thread that is left waits for another one"
        case "lost wake-up":
            text = "Lost wake-up: every thread that is left sleeps, and nobody will wake it"
        case "race" if finding.race is not None:
            first, second = finding.race
            text = (
                f"Data race on `{first.variable}`: {first.kind} by thread {first.thread} at {_at(first.place)}, "
                f"{second.kind} by thread {second.thread} at {_at(second.place)}; {missing_text(finding)}"
            )
        case "race":
            text = f"Data race at {_at(finding.place)}"
        case "failure" if finding.cause == "leak":
            text = f"Leak at {_at(finding.place)}: {finding.message} bytes are never freed"
        case "failure":
            who = "" if finding.thread is None else f" of thread {finding.thread}"
            text = f"{finding.cause.capitalize()}{who} at {_at(finding.place)}: {finding.message}"
    return text + often + "."


def missing_text(finding: RunFinding) -> str:
    """Why nothing orders two accesses that race."""
    missing = finding.missing
    if missing is None:
        if finding.race is None:
            return ""
        first, second = finding.race
        return f"thread {second.thread} has seen nothing that thread {first.thread} does after it"
    seen = (
        f"thread {missing.read.thread} has read `{missing.read.variable}` = {missing.value} ({_at(missing.read.place)})"
    )
    if missing.is_release:
        return f"{seen}, but the store of it ({_at(missing.write.place)}) does not release what came before"
    return f"{seen}, but this load does not acquire what was released with it"


def confirmation_text(confirmation: Confirmation) -> str:
    """What goes wrong with the store held back."""
    match confirmation.kind:
        case None:
            return f"Nothing went wrong in {counted(confirmation.attempts, 'attempt')} to hold the store back."
        case "deadlock" | "lost wake-up":
            what = "threads wait for ever" if confirmation.kind == "deadlock" else "the wake-up is lost"
            return f"Confirmed: with the store held back in its buffer, {what}:"
        case kind:
            who = "" if confirmation.thread is None else f" of thread {confirmation.thread}"
            return f"Confirmed: with the store held back in its buffer, {kind}{who}: {confirmation.message}:"


def _path_lines(stale: StaleLoad) -> Iterator[str]:
    yield "How the store happens before the load:"
    gaps = {(fence.after, fence.before) for fence in stale.fences}
    for position, step in enumerate(stale.path):
        crossed = position > 0 and (stale.path[position - 1], step) in gaps
        mark = "   <- a store buffer lets this load pass the store before it" if crossed else ""
        yield f"  thread {step.thread}  {step_text(step)}  ({_at(step.place)}){mark}"


def steps_table(
    steps: Sequence[ProgramStep], waiting: Sequence[ProgramStep], width: int, *, buffered: bool = False
) -> list[str]:
    """A line for each step, and one for each thread that waits at the end. `buffered`: stores wait in buffers."""
    held = _never_seen(steps) if buffered else set()
    columns = [
        Column("step", 4, align_right=True),
        Column("thread", 6, align_right=True),
        Column("does", 16),
        Column("at", 12),
    ]
    done = (
        f"{step_text(step)} (stays in its buffer)" if i in held else step_text(step) for i, step in enumerate(steps)
    )
    rows = [
        [str(i), str(step.thread), text, _at(step.place)]
        for i, (step, text) in enumerate(zip(steps, done, strict=True), 1)
    ]
    rows += [["", str(step.thread), f"waits: {step_text(step)}", _at(step.place)] for step in waiting]
    if not rows:
        return []
    return (render_table(columns, rows, max(width, 60)) or "\n".join(" ".join(row) for row in rows)).splitlines()


def _never_seen(steps: Sequence[ProgramStep]) -> set[int]:
    """The stores that reach memory in no step: those of each thread and variable leave in their order."""
    pending: dict[tuple[int, str], list[int]] = {}
    for number, step in enumerate(steps):
        queue = pending.setdefault((step.thread, step.variable), [])
        if step.kind == "store":
            queue.append(number)
        elif step.kind == "flush" and queue:
            queue.pop(0)
    return {number for queue in pending.values() for number in queue}


def step_text(step: ProgramStep) -> str:
    """What a step does, as short as C; of a graph with its order, and the step that it reads from."""
    order = f" ({step.order})" if step.order else ""
    if step.reads_from is None:
        return _step_text(step) + order
    source = f"step {step.reads_from}" if step.reads_from else "the initial value"
    return f"{_step_text(step)}{order} <- {source}"


def _step_text(step: ProgramStep) -> str:
    value = "?" if step.value is None else step.points_to or str(step.value)
    match step.kind:
        case "load":
            return f"load {step.variable}" if step.value is None else f"load {step.variable} = {value}"
        case "store":
            return f"store {step.variable} = {value}"
        case "rmw" if step.is_spurious:
            return f"weak compare-exchange of {step.variable} fails spuriously".replace("of  ", "")
        case "rmw":
            return f"locked {step.variable} = {value}"
        case "flush":
            return f"{step.variable} = {value} reaches memory"
        case "fence":
            return "fence"
        case "begin":
            return f"begins in {step.place.function}"
        case "end":
            return "ends the process"
        case "failure":
            return "fails"
        case "call":
            return f"{step.name} {step.variable}".rstrip()


def _at(place: SourceLine) -> str:
    return place.text if place.line > 0 else "-"


def suggested_fences(result: RunResult) -> list[SuggestedFence]:
    """Each place once, whatever the execution that shows it."""
    places: dict[tuple[str, str], SuggestedFence] = {}
    for finding in shown_first(result.findings):
        for fence in finding.stale.fences if finding.stale is not None else ():
            places.setdefault((fence.after.place.text, fence.before.place.text), fence)
    return list(places.values())


def fence_text(fence: SuggestedFence) -> str:
    """Where it goes."""
    return (
        f"after the store to `{fence.after.variable}` at {_at(fence.after.place)}, "
        f"before the load of `{fence.before.variable}` at {_at(fence.before.place)}"
    )
