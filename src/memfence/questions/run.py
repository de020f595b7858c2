"""Running a program: is any of its SC executions wrong, and could any go differently with store buffers (Sober)?

Both together prove the program correct on x86, for this input: a program whose SC executions are all store-buffer safe
has no others there (Theorem 1). With a borderline execution the program is not robust: it has other executions there.
Whether one of them goes wrong is tried by running it again with the store held back: only then is it VIOLATED.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Literal

from memfence.records import dataclass
from memfence.running.build import Sources, build_program
from memfence.running.places import NO_PLACE, Names, Place
from memfence.running.process import Ran, fault_of, run_process
from memfence.running.records import Hunt, Layout, RawConfirmation, RawFinding, RawRace, RunCounts, RunProgress
from memfence.running.steps import SLEEPS, ProgramStep, StaleLoad, explain_stale_load, named_steps
from memfence.tasks.answer import Verdict
from memfence.tasks.deadline import Deadline
from memfence.tasks.limits import all_processors

DEFAULT_DEPTH = 10_000
RunKind = Literal["borderline", "deadlock", "lost wake-up", "failure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Every option of `memfence run`, under the same name. `random`: so many executions at random instead of all.
    `reorders_stores`: as under PSO; then nothing is proved, since borderline is about TSO."""

    macros: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    std: str | None = None
    flags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    preemptions: int | None = None
    random: int | None = None
    seed: int = 1
    threads: int = 1
    depth: int = DEFAULT_DEPTH
    timeout_seconds: float | None = None
    hang_seconds: float = 5.0
    first: bool = False
    reduce: bool = True
    monitor: bool = True
    confirm: bool = True
    reorders_stores: bool = False
    progress: Callable[[RunProgress], object] | None = field(default=None, compare=False)
    deadline: Deadline | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What goes wrong with the store held back; `kind` None: nothing did in so many attempts."""

    attempts: int
    kind: str | None = None
    message: str = ""
    thread: int | None = None
    schedule: tuple[int, ...] = ()
    steps: tuple[ProgramStep, ...] = ()
    waiting: tuple[ProgramStep, ...] = ()


@dataclass(frozen=True, slots=True)
class RunFinding:
    """`cause`: for a failure, the runtime's word for it: `assertion`, `crash` and so on. `schedule`: who takes each
    step; ~t, negative, is a store of thread t that reaches memory."""

    kind: RunKind
    cause: str
    message: str
    thread: int | None
    place: Place
    executions: int
    schedule: tuple[int, ...]
    steps: tuple[ProgramStep, ...]
    waiting: tuple[ProgramStep, ...]
    stale: StaleLoad | None = None
    confirmation: Confirmation | None = None

    @property
    def is_confirmed(self) -> bool:
        return self.confirmation is not None and self.confirmation.kind is not None

    @property
    def is_wrong(self) -> bool:
        """Whether it shows a run that goes wrong, with store buffers or without."""
        return self.is_confirmed or (self.kind != "borderline" and self.cause != "unsupported")


@dataclass(frozen=True, slots=True)
class PlainRace:
    """A warning: two plain accesses that nothing orders, so that an optimising compiler may move or merge them."""

    first: ProgramStep
    second: ProgramStep


@dataclass(frozen=True, slots=True)
class RunResult:
    """The answer. HOLDS only if every class of executions was run to its end, and none is borderline.

    VIOLATED: something goes wrong, in an SC execution or with a store held back. `fault`: why there is no answer.
    """

    files: tuple[str, ...]
    verdict: Verdict
    counts: RunCounts
    findings: tuple[RunFinding, ...]
    layout: Layout
    options: RunOptions
    races: tuple[PlainRace, ...] = ()
    simulated: int | None = None
    fault: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all executions were run, each to its end."""
        asked, counts = self.options, self.counts
        bounded = (
            asked.random is not None or asked.reorders_stores or (asked.preemptions is not None and counts.cut > 0)
        )
        cut_off = counts.truncated or counts.out_of_time or counts.spins_roughly
        return asked.monitor and not (bounded or cut_off or self.fault)

    @property
    def is_robust(self) -> bool | None:
        """Whether every execution with store buffers is one without; None where that is open."""
        return False if self.counts.borderline else True if self.verdict is Verdict.HOLDS else None

    @property
    def confirmed(self) -> int:
        return sum(finding.is_confirmed for finding in self.findings)


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
    if options.random is None or workers == 1:
        return _run_one(program, files, options, deadline)
    parts = [
        replace(options, random=-(-options.random // workers), seed=options.seed + 1_000_003 * number)
        for number in range(workers)
    ]
    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(lambda part: _run_one(program, files, part, deadline), parts))
    return _joined(results, options)


def _joined(results: list[RunResult], options: RunOptions) -> RunResult:
    """Random executions of several processes as those of one: each finding once, the first that was met."""
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
        stale = None if finding.stale is None else finding.stale.missed.place
        findings.setdefault((finding.kind, finding.cause, finding.place, stale), finding)
    fault = next((result.fault for result in results if result.fault), None)
    joined = replace(results[0], counts=counts, findings=tuple(findings.values()), options=options, fault=fault)
    return replace(joined, verdict=_verdict(joined))


def _run_one(program: Path, files: tuple[str, ...], options: RunOptions, deadline: Deadline) -> RunResult:
    ran = run_process(
        program,
        options.arguments,
        _runtime_options(options, deadline),
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
    hunts = [r.confirmation for r in ran.records if isinstance(r, Hunt)]
    findings += tuple(_hunted(raw, names) for raw in hunts if raw.kind is not None)
    simulated = hunts[0].attempts if hunts else None
    fault = None if counts is not None else _fault(ran)
    races = tuple(_race(r, names) for r in ran.records if isinstance(r, RawRace))
    result = RunResult(
        files, Verdict.UNKNOWN, counts or RunCounts(), findings, layout, options, races, simulated, fault
    )
    return replace(result, verdict=_verdict(result))


def _hunted(raw: RawConfirmation, names: Names) -> RunFinding:
    """A failure under simulated store buffers."""
    finding = RawFinding(raw.kind or "", raw.schedule, raw.steps, raw.waiting, 1, raw.message, raw.thread)
    return _finding(finding, names)


def _race(raw: RawRace, names: Names) -> PlainRace:
    first, second = named_steps((raw.first, raw.second), names)
    return PlainRace(first, second)


def _fault(ran: Ran) -> str:
    if ran.was_killed:
        return "timeout"
    return fault_of(ran) or f"status {ran.exit_status}"


def _verdict(result: RunResult) -> Verdict:
    """A borderline execution that nothing confirms is no error: whether the program is right on x86 stays open."""
    if any(finding.is_wrong for finding in result.findings):
        return Verdict.VIOLATED
    if result.findings or result.fault or result.counts.out_of_time:
        return Verdict.UNKNOWN
    return Verdict.HOLDS if result.is_complete else Verdict.HOLDS_UP_TO


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
