"""Running a program: is any of its SC executions wrong, and could any go differently with store buffers (Sober)?

Both together prove the program correct on x86, for this input: a program whose SC executions are all store-buffer safe
has no others there (Theorem 1). With a borderline execution the program is not robust: it has other executions there.
Whether one of them goes wrong is tried by running it again with the store held back: then it is confirmed.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path

from memfence.questions.run_result import (
    Confirmation,
    Leak,
    PlainRace,
    RunFinding,
    RunKind,
    RunOptions,
    RunResult,
    verdict_of,
)
from memfence.running.build import Sources, build_program
from memfence.running.places import NO_PLACE, Names, Place
from memfence.running.process import Ran, fault_of, run_process
from memfence.running.records import Hunt, Layout, RawConfirmation, RawFinding, RawLeak, RawRace, RunCounts
from memfence.running.steps import SLEEPS, ProgramStep, StaleLoad, explain_stale_load, named_steps
from memfence.tasks.answer import Verdict
from memfence.tasks.deadline import Deadline
from memfence.tasks.limits import all_processors


def run(files: tuple[str, ...], options: RunOptions) -> RunResult:
    """Build the sources and explore the program."""
    deadline = options.deadline or Deadline(options.timeout_seconds)
    sources = Sources(files=files, macros=options.macros, include=options.include, std=options.std, flags=options.flags)
    with tempfile.TemporaryDirectory(prefix="memfence-") as folder:
        program = build_program(sources, Path(folder))
        return run_program(program, files, options, deadline)


def run_program(program: Path, files: tuple[str, ...], options: RunOptions, deadline: Deadline) -> RunResult:
    """Explore an executable that was linked with the runtime."""
    workers = options.threads or all_processors()
    if workers == 1:
        return _run_one(program, files, options, deadline)

    def run_part(number: int) -> RunResult:
        if options.random is None:
            return _run_one(program, files, options, deadline, part=(number, workers))
        share = replace(options, random=-(-options.random // workers), seed=options.seed + 1_000_003 * number)
        return _run_one(program, files, share, deadline)

    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(run_part, range(workers)))
    if options.random is None and not _know_the_same(results):
        return _run_one(program, files, options, deadline)
    return _joined(results, options)


def _know_the_same(results: list[RunResult]) -> bool:
    """Processes learn what is shared while they run. Their parts make up the tree only if they all ended up knowing the
    same; else somebody has cut the tree in another way."""
    layouts = {(r.layout.threads, frozenset(r.layout.cells), frozenset(r.layout.loops)) for r in results}
    return len(layouts) == 1


def _joined(results: list[RunResult], options: RunOptions) -> RunResult:
    """The executions of several processes as those of one: each finding once, the first that was met."""
    totals = {
        one.name: sum(getattr(result.counts, one.name) for result in results)
        for one in fields(RunCounts)
        if one.name not in ("seconds", "threads", "reduced", "out_of_time", "spins_roughly")
    }
    flags = {name: any(getattr(r.counts, name) for r in results) for name in ("out_of_time", "spins_roughly")}
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
    joined = replace(
        results[0],
        counts=counts,
        findings=tuple(findings.values()),
        options=options,
        leaks=tuple(leaks.values()),
        simulated=sum(simulated) if simulated else None,
        is_simulation_complete=all(result.is_simulation_complete for result in results),
        fault=fault,
    )
    return replace(joined, verdict=verdict_of(joined))


def _merged(first: RunFinding, second: RunFinding) -> RunFinding:
    shown = second if second.is_confirmed and not first.is_confirmed else first
    return replace(shown, executions=first.executions + second.executions)


def _run_one(
    program: Path, files: tuple[str, ...], options: RunOptions, deadline: Deadline, part: tuple[int, int] = (0, 1)
) -> RunResult:
    ran = run_process(
        program,
        options.arguments,
        {**_runtime_options(options, deadline), "part": part[0], "parts": part[1]},
        seconds=deadline.left,
        progress=options.progress,
    )
    return result_of(ran, program, files, options)


def _runtime_options(options: RunOptions, deadline: Deadline) -> dict[str, str | int | float | bool]:
    asked: dict[str, str | int | float | bool] = {
        "seed": options.seed,
        "depth": options.depth,
        "hang": options.hang_seconds,
        "first": options.first,
        "reduce": options.reduce,
        "monitor": options.monitor,
        "confirm": options.confirm,
    }
    if options.preemptions is not None:
        asked["preemptions"] = options.preemptions
    if options.random is not None:
        asked["random"] = options.random
    if options.reorders_stores:
        asked["reorder"] = True
    if deadline.left is not None:
        asked["timeout"] = deadline.left
    return asked


def result_of(ran: Ran, program: Path, files: tuple[str, ...], options: RunOptions) -> RunResult:
    """What the records of a process amount to."""
    layout = next((r for r in ran.records if isinstance(r, Layout)), Layout())
    counts = next((r for r in ran.records if isinstance(r, RunCounts)), None)
    names = Names(program, layout.load_address)
    findings = tuple(_finding(r, names) for r in ran.records if isinstance(r, RawFinding))
    all_hunts = [r for r in ran.records if isinstance(r, Hunt)]
    hunts = [hunt.confirmation for hunt in all_hunts]
    findings += tuple(_hunted(raw, names) for raw in hunts if raw.kind is not None)
    simulated = hunts[0].attempts if hunts else None
    fault = None if counts is not None else _fault(ran)
    races = tuple(_race(r, names) for r in ran.records if isinstance(r, RawRace))
    leaks = tuple(Leak(names.place(r.pc), r.bytes, r.schedule) for r in ran.records if isinstance(r, RawLeak))
    if options.leaks:
        findings += tuple(_leak_finding(leak) for leak in leaks)
    all_simulated = any(hunt.is_complete for hunt in all_hunts)
    result = RunResult(
        files, Verdict.UNKNOWN, counts or RunCounts(), findings, layout, options, races, leaks, simulated,
        all_simulated, fault, names.asserts,
    )  # fmt: skip
    return replace(result, verdict=verdict_of(result))


def _hunted(raw: RawConfirmation, names: Names) -> RunFinding:
    """A failure under simulated store buffers."""
    finding = RawFinding(raw.kind or "", raw.schedule, raw.steps, raw.waiting, 1, raw.message, raw.thread)
    return _finding(finding, names)


def _leak_finding(leak: Leak) -> RunFinding:
    return RunFinding("failure", "leak", str(leak.bytes), None, leak.place, 1, leak.schedule, (), ())


def _race(raw: RawRace, names: Names) -> PlainRace:
    first, second = named_steps((raw.first, raw.second), names)
    return PlainRace(first, second)


def _fault(ran: Ran) -> str:
    if ran.was_killed:
        return "timeout"
    return fault_of(ran) or f"status {ran.exit_status}"


def _finding(raw: RawFinding, names: Names) -> RunFinding:
    stale = explain_stale_load(raw, names) if raw.kind == "borderline" else None
    steps, waiting = named_steps(raw.steps, names), named_steps(raw.waiting, names)
    kind = _kind(raw.kind, waiting)
    return RunFinding(
        kind,
        raw.kind,
        raw.message,
        raw.reader if raw.kind == "borderline" else raw.thread,
        _place(stale, steps, waiting),
        raw.executions,
        raw.schedule,
        steps,
        waiting,
        stale,
        None if raw.confirmation is None else _confirmation(raw.confirmation, names),
    )


def _place(stale: StaleLoad | None, steps: tuple[ProgramStep, ...], waiting: tuple[ProgramStep, ...]) -> Place:
    if stale is not None:
        return stale.load.place
    if steps and steps[-1].kind == "failure":
        return steps[-1].place
    known = [step.place for step in (*waiting, *reversed(steps)) if step.place.line > 0]
    return next(iter(known), NO_PLACE)


def _kind(kind: str, waiting: tuple[ProgramStep, ...]) -> RunKind:
    """Nobody can go on. If everybody who waits does so asleep, or for somebody asleep, a wake-up was lost."""
    if kind == "borderline":
        return "borderline"
    if kind != "deadlock":
        return "failure"
    own = [step for step in waiting if step.name != "pthread_join"]
    return "lost wake-up" if own and all(step.name in SLEEPS for step in own) else "deadlock"


def _confirmation(raw: RawConfirmation, names: Names) -> Confirmation:
    waiting = named_steps(raw.waiting, names)
    kind = None if raw.kind is None else _kind(raw.kind, waiting) if raw.kind == "deadlock" else raw.kind
    return Confirmation(
        raw.attempts, kind, raw.message, raw.thread, raw.schedule, named_steps(raw.steps, names), waiting
    )
