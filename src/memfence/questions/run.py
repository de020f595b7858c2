"""Running a program: is any of its SC executions wrong, and could any go differently with store buffers (Sober)?

Both together prove the program correct on x86, for this input: a program whose SC executions are all store-buffer safe
has no others there (Theorem 1). With a borderline execution the program is not robust: it has other executions there.
Whether one of them goes wrong is tried by running it again with the store held back: then it is confirmed. Where none
is confirmed, the executions with store buffers are explored as well (run_buffers.py).
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

from memfence.binary.build import build_program
from memfence.binary.elsewhere import run_everywhere
from memfence.binary.endings import reading_of_program, reading_options
from memfence.binary.places import Names
from memfence.binary.process import Ran, fault_of, run_process
from memfence.binary.records import Hunt, Layout, RawFinding, RawLeak, RawRace, RunCounts
from memfence.cluster.jobs import processors
from memfence.cluster.session import connected
from memfence.deadline import Deadline
from memfence.failures import C, Reading
from memfence.questions.run_buffers import BUFFER_SECONDS, needs_buffers, with_buffers
from memfence.questions.run_findings import finding_of, hunted, leak_finding, leak_of, race_of
from memfence.questions.run_graphs import graph_finding
from memfence.questions.run_parts import joined, know_the_same
from memfence.questions.run_result import RunOptions, RunResult, verdict_of
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import all_processors

Part = dict[str, str | int | float | bool]


def run(files: tuple[str, ...], options: RunOptions) -> RunResult:
    """Build the sources and explore the program."""
    deadline = options.deadline or Deadline(options.timeout_seconds)
    with tempfile.TemporaryDirectory(prefix="memfence-") as folder:
        program = build_program(options.sources(files), Path(folder))
        return run_program(program, files, options, deadline)


def run_program(program: Path, files: tuple[str, ...], options: RunOptions, deadline: Deadline) -> RunResult:
    """Explore an executable that was linked with the runtime."""
    result = _explore(program, files, options, deadline)
    if not needs_buffers(result):
        return result
    return with_buffers(result, explore_buffers(program, files, options, deadline))


def explore_buffers(program: Path, files: tuple[str, ...], options: RunOptions, deadline: Deadline) -> RunResult:
    """All executions with store buffers, up to the first that goes wrong, whatever the SC ones are."""
    limit = None if options.spec.reorders_stores else BUFFER_SECONDS
    return _explore(program, files, options, deadline if deadline.left is not None else Deadline(limit), buffers=True)


def _explore(
    program: Path, files: tuple[str, ...], options: RunOptions, deadline: Deadline, *, buffers: bool = False
) -> RunResult:
    reading = reading_of_program(program, options.allow)
    if options.cluster is not None:
        with connected(options.cluster):
            workers = processors(options.cluster)
            parts = [_part(options, deadline, reading, number, workers, buffers=buffers) for number in range(workers)]
            ran = run_everywhere(options.cluster, program, options.arguments, parts, deadline.left)
    else:
        workers = options.threads or all_processors()
        parts = [_part(options, deadline, reading, number, workers, buffers=buffers) for number in range(workers)]
        ran = _run_parts(program, options, parts, deadline)
    results = [result_of(one, program, files, options, reading) for one in ran]
    if workers == 1:
        return results[0]
    if options.random is None and not know_the_same(results):
        whole = _part(options, deadline, reading, 0, 1, buffers=buffers)
        return result_of(_run_here(program, options, whole, deadline), program, files, options, reading)
    return joined(results, options)


def _run_parts(program: Path, options: RunOptions, parts: list[Part], deadline: Deadline) -> list[Ran]:
    """All at once. An interrupt reaches this thread alone: the others are told."""
    stop = Event()
    with ThreadPoolExecutor(len(parts)) as pool:
        try:
            return list(pool.map(lambda part: _run_here(program, options, part, deadline, stop), parts))
        except BaseException:
            stop.set()
            raise


def _part(options: RunOptions, deadline: Deadline, reading: Reading, number: int, count: int, *, buffers: bool) -> Part:
    """What the runtime is told by whom takes one part of several: of the tree, or of the executions at random."""
    if options.random is None or count == 1:
        here = {"part": number, "parts": count, "buffers": buffers}
        return {**_runtime_options(options, deadline), **reading_options(reading), **here}
    share = replace(options, random=-(-options.random // count), seed=options.seed + 1_000_003 * number)
    here = {"part": 0, "parts": 1, "buffers": buffers}
    return {**_runtime_options(share, deadline), **reading_options(reading), **here}


def _run_here(program: Path, options: RunOptions, part: Part, deadline: Deadline, stop: Event | None = None) -> Ran:
    if deadline.passed:
        return Ran((), 0, was_killed=True)
    seconds = deadline.left
    return run_process(program, options.arguments, part, seconds=seconds, progress=options.progress, stop=stop)


def _runtime_options(options: RunOptions, deadline: Deadline) -> dict[str, str | int | float | bool]:
    asked: dict[str, str | int | float | bool] = {
        "seed": options.seed,
        "depth": options.depth,
        "hang": options.hang_seconds,
        "first": options.first,
        "reduce": options.reduce,
        "prune": options.prune,
        "monitor": options.spec.has_buffers,
        "confirm": options.confirm,
        "spurious": options.spurious,
    }
    if options.preemptions is not None:
        asked["preemptions"] = options.preemptions
    if options.random is not None:
        asked["random"] = options.random
    if options.spec.reorders_stores:
        asked["reorder"] = True
    if options.graphs:
        asked["graphs"] = options.graphs
    if deadline.left is not None:
        asked["timeout"] = deadline.left
    return asked


def result_of(ran: Ran, program: Path, files: tuple[str, ...], options: RunOptions, reading: Reading = C) -> RunResult:
    """What the records of a process amount to."""
    layout = next((r for r in ran.records if isinstance(r, Layout)), Layout())
    counts = next((r for r in ran.records if isinstance(r, RunCounts)), None)
    names = Names(program, layout.load_address)
    found = graph_finding if options.graphs else finding_of
    findings = tuple(found(r, names) for r in ran.records if isinstance(r, RawFinding))
    all_hunts = [r for r in ran.records if isinstance(r, Hunt)]
    hunts = [hunt.confirmation for hunt in all_hunts]
    findings += tuple(hunted(raw, names) for raw in hunts if raw.kind is not None)
    simulated = hunts[0].attempts if hunts else None
    fault = None if counts is not None else _fault(ran)
    races = tuple(race_of(r, names) for r in ran.records if isinstance(r, RawRace))
    leaks = tuple(leak_of(r, names) for r in ran.records if isinstance(r, RawLeak))
    if options.leaks:
        findings += tuple(leak_finding(leak) for leak in leaks)
    all_simulated = any(hunt.is_complete for hunt in all_hunts)
    result = RunResult(
        files, Verdict.UNKNOWN, counts or RunCounts(), findings, layout, options, races, leaks, simulated,
        all_simulated, fault, names.asserts, reading,
    )  # fmt: skip
    return replace(result, verdict=verdict_of(result))


def _fault(ran: Ran) -> str:
    if ran.was_killed:
        return "timeout"
    return fault_of(ran) or f"status {ran.exit_status}"
