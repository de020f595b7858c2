"""Programs with borderline executions that nothing confirms: their executions with store buffers decide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memfence.api.run import replay, schedules
from memfence.binary.build import Sources, build_program
from memfence.deadline import Deadline
from memfence.questions.run import explore_buffers
from memfence.questions.run_buffers import with_buffers
from memfence.questions.run_result import RunOptions, RunResult
from memfence.tasks.answer import Verdict
from support.command_line import memfence
from support.run_programs import run_text, two_threads

RING = Path(__file__).resolve().parents[3] / "examples" / "c" / "spsc_ring.c"
HARMLESS = two_threads("volatile int x, y;", "x = 1; assert(y < 2);", "y = 1; assert(x < 2);")
ONLY_WITH_BUFFERS = {
    "deadlock": two_threads(
        "volatile int x, y, z, w;",
        "x = 1; if (!y) while (!z) ; w = 1;",
        "y = 1; if (!x) while (!w) ; z = 1;",
    ),
    "assertion": two_threads(
        "volatile int x, y; atomic_int inside;",
        "x = 1; if (!y) { assert(atomic_fetch_add(&inside, 1) == 0); }",
        "y = 1; if (!x) { assert(atomic_fetch_add(&inside, 1) == 0); }",
    ),
    "use after free": two_threads(
        "volatile int x, y; int *p; __attribute__((constructor)) static void make(void) { p = malloc(4); }",
        "x = 1; if (!y) *p = 1;",
        "y = 1; if (!x) free(p);",
    ),
}


def with_all_buffers(folder: Path, text: str) -> RunResult:
    """As if no attempt to hold a store back had shown anything."""
    path = folder / "program.c"
    plain = run_text(folder, text, confirm=False)
    program = build_program(Sources(files=(str(path),)), folder)
    return with_buffers(plain, explore_buffers(program, (str(path),), RunOptions(), Deadline(60)))


@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_ring_that_is_not_robust_holds_since_no_execution_with_buffers_goes_wrong(threads: str) -> None:
    done = memfence("run", RING, "--json", "--timeout", "60", "--threads", threads)
    value = json.loads(done.stdout)
    assert (done.returncode, value["verdict"], value["robust"], value["confirmed"]) == (0, "holds", False, 0)
    assert value["borderline"] == 450 and value["buffered"] == {"executions": 1210, "complete": True}
    assert value["bound"] is None and {finding["kind"] for finding in value["findings"]} == {"borderline"}


def test_what_is_run_with_buffers_contains_what_is_run_without_reduction(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(HARMLESS)
    program = build_program(Sources(files=(str(tmp_path / "program.c"),)), tmp_path)
    counts = []
    for reduce in (True, False):
        result = explore_buffers(program, ("program.c",), RunOptions(reduce=reduce), Deadline(60))
        assert result.is_simulation_complete and not result.findings
        counts.append(result.counts.executions)
    assert counts[0] == 4 and counts[1] > 100, "each load sees the store or does not"


@pytest.mark.parametrize("cause", ONLY_WITH_BUFFERS)
def test_what_goes_wrong_with_buffers_alone_is_a_violation_that_can_be_run_again(tmp_path: Path, cause: str) -> None:
    result = with_all_buffers(tmp_path, ONLY_WITH_BUFFERS[cause])
    assert (result.counts.failing, result.counts.deadlocked) == (0, 0)
    assert result.verdict is Verdict.VIOLATED and result.confirmed == 1 and result.is_robust is False
    (found,) = (finding for finding in result.findings if finding.is_buffered)
    assert found.cause == cause
    (tmp_path / "saved.json").write_text(
        dict(schedules(result))[f"{len(result.findings):03d}-{cause.replace(' ', '-')}.json"]
    )
    again = replay([tmp_path / "program.c"], tmp_path / "saved.json")
    assert again.finding is not None and again.steps == found.steps and again.finding.cause == cause


def test_without_a_complete_exploration_it_stays_open(tmp_path: Path) -> None:
    result = run_text(tmp_path, HARMLESS, depth=11)
    assert result.counts.truncated == 0, "a store that reaches memory is a step as well"
    assert result.simulated and not result.is_simulation_complete and result.verdict is Verdict.UNKNOWN
    assert run_text(tmp_path, HARMLESS, depth=13).verdict is Verdict.HOLDS


@pytest.mark.parametrize("options", [{"random": 20}, {"preemptions": 1}, {"first": True}, {"confirm": False}])
def test_a_question_about_some_executions_is_not_widened(tmp_path: Path, options: dict[str, int]) -> None:
    result = run_text(tmp_path, HARMLESS, **options)
    assert result.verdict is Verdict.UNKNOWN and result.simulated is None
