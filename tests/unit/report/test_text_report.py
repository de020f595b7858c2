"""The text report: what it says, and that it says it at any width."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memfence.deadline import Deadline
from memfence.execution.trace import Trace
from memfence.models.spec import TSO, ModelName
from memfence.models.state import Commit
from memfence.models.state import ProcessStep as Step
from memfence.models.steps import evaluate_in
from memfence.program.ir import Forbidden, Program
from memfence.report.describe.check_text import render_text
from memfence.report.views.run_table import run_table
from memfence.report.views.table import Column, render_table, wrap
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import BadFinalState, BadState, Bound, CounterexampleRun, Evidence, Exhausted, Limit
from memfence.tasks.limits import Cost, Limits, Stop
from memfence.tasks.result import CheckResult, Stats
from support.exploration import shortest_run
from support.models import memory_model
from support.samples import Sample, message_passing, store_buffering

STATS = Stats(31, 44, 0.0123, 12.3, (("automata", 1234),))


def result_of(program: Program, model: ModelName, verdict: Verdict = Verdict.VIOLATED) -> CheckResult:
    (forbidden,) = program.properties
    assert isinstance(forbidden, Forbidden)
    evidence: Evidence
    match verdict:
        case Verdict.VIOLATED:
            bad = forbidden.expr
            trace = shortest_run(program, memory_model(model), lambda s: bool(evaluate_in(program, s, 0, bad)))
            assert trace is not None
            evidence = CounterexampleRun(trace, BadState())
        case Verdict.HOLDS:
            evidence = Exhausted(TSO, 2)
        case Verdict.HOLDS_UP_TO:
            evidence = Bound(TSO.bounded(3))
        case Verdict.UNKNOWN:
            evidence = Limit(Stop.TIMEOUT, 31)
    answer = Answer(verdict, evidence, "explicit", Cost())
    limits = Limits(deadline=Deadline(2))
    return CheckResult(program, model, Criterion.SAFETY, program.properties, answer, limits, STATS)


def with_trace(result: CheckResult, trace: Trace) -> CheckResult:
    """The same, shown by another run, whatever that run shows."""
    answer = replace(result.answer, verdict=Verdict.VIOLATED, evidence=CounterexampleRun(trace, BadFinalState()))
    return replace(result, answer=answer)


def test_a_violation_shows_verdict_scope_run_and_reason() -> None:
    assert render_text(result_of(message_passing(), "pso")) == (
        "mp.txt: VIOLATED under pso (safety): never stale data\n"
        "  scope   a run was found and replayed step by step\n"
        "  search  explicit: 31 states, 44 transitions, 0.01 s, 12 MB\n"
        "\n"
        "Counterexample of 5 steps, replayed under pso:\n"
        "\n"
        "step │ writer        │ reader             │ memory         │ buffer writer\n"
        "─────┼───────────────┼────────────────────┼────────────────┼──────────────\n"
        "     │               │                    │ data=0  flag=0 │\n"
        "   1 │ 3: data := 1  │                    │ data=0  flag=0 │ data=1\n"
        "   2 │ 4: flag := 1  │                    │ data=0  flag=0 │ data=1 flag=1\n"
        "   3 │ commit flag=1 │                    │ data=0 *flag=1 │ data=1\n"
        "   4 │               │ 6: f := flag [f=1] │ data=0  flag=1 │\n"
        "   5 │               │ 7: d := data [d=0] │ data=0  flag=1 │\n"
        "\n"
        "Why: flag = 1 of `writer` (issued at line 4, step 2, committed in step 3) reached memory while its\n"
        "  own store data = 1 (line 3, step 1) was still in its store buffer: the later store overtook the\n"
        "  earlier one. So `reader` read data = 0 (line 7, step 5), not 1.\n"
    )


def test_the_reason_of_store_buffering_names_store_load_and_places() -> None:
    shown = " ".join(render_text(result_of(store_buffering(), "tso")).split())
    assert "read y = 0 from memory (line 4, step 2) while its own store x = 1 (line 3, step 1)" in shown
    assert "the load overtook the store" in shown


def test_a_run_under_sc_says_that_no_fence_can_help() -> None:
    sample = Sample("race", "x").process("P", "x := 1").process("Q", "r := x", "assert r == 1")
    trace = shortest_run(sample.build(), memory_model("sc"), lambda state: False)
    result = with_trace(result_of(store_buffering(), "tso", Verdict.HOLDS), trace)
    shown = render_text(result)
    assert "!! assertion violated" in shown
    assert "no fence can prevent it" in shown


def test_the_same_is_said_of_a_tso_run_that_overtakes_nothing() -> None:
    trace = Trace(store_buffering(), memory_model("tso"), 0, [Step(0, 0), Commit(0)])
    shown = " ".join(render_text(with_trace(result_of(store_buffering(), "tso"), trace)).split())
    assert "The same run is possible under sc" in shown


def test_a_step_that_reads_and_stores_is_named_where_its_store_comes_later() -> None:
    copy = Sample("copy", "x y").process("P", "r := x", "y := 1").process("Q", "x := 1").build()
    process = copy.processes[0]
    joined = replace(process.transitions[0], target=2, ops=tuple(t.ops[0] for t in process.transitions))
    program = replace(copy, processes=(replace(process, transitions=(joined,)), copy.processes[1]))
    steps = [Step(0, 0), Step(1, 0), Commit(1), Commit(0)]
    result = with_trace(result_of(store_buffering(), "tso"), Trace(program, memory_model("tso"), 0, steps))
    shown = " ".join(render_text(result).split())
    assert "`P` makes several accesses in one step (line 3, step 1)" in shown
    assert "its store y = 1 reached memory only in step 4" in shown
    assert "possible under sc" not in shown


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict.HOLDS, "sb.txt: HOLDS under tso"),
        (Verdict.HOLDS_UP_TO, "sb.txt: NO VIOLATION up to buffer bound 3 under tso"),
        (Verdict.UNKNOWN, "sb.txt: UNKNOWN under tso"),
    ],
)
def test_only_a_proof_is_called_holds(verdict: Verdict, words: str) -> None:
    result = result_of(store_buffering(), "tso", verdict)
    first = render_text(result).splitlines()[0]
    assert first.startswith(words)
    assert ("HOLDS" in first) == (verdict is Verdict.HOLDS)


def test_a_limit_says_what_was_hit_and_what_to_try() -> None:
    result = result_of(store_buffering(), "tso", Verdict.UNKNOWN)
    shown = render_text(result)
    assert "  limit   timeout 2 s was hit before the search ended\n" in shown
    assert "  try     a longer --timeout, or a smaller instance\n" in shown


def test_notes_are_part_of_every_verdict() -> None:
    program = replace(store_buffering(), notes=("integers are 8 bits wide and wrap around",))
    result = replace(result_of(store_buffering(), "tso", Verdict.HOLDS), program=program)
    assert "  note    integers are 8 bits wide and wrap around\n" in render_text(result)


def test_verbose_adds_every_statistic() -> None:
    result = result_of(store_buffering(), "tso", Verdict.HOLDS)
    assert "1,234" not in render_text(result)
    assert "automata 1,234" in render_text(result, verbose=True)


def many_processes(count: int) -> Trace:
    sample = Sample("many", " ".join(f"variable_{n}" for n in range(count)))
    for n in range(count):
        sample.process(f"process_{n}", f"variable_{n} := 1", f"register_{n} := variable_{(n + 1) % count}")
    steps = [Step(p, t) for p in range(count) for t in (0, 1)]
    return Trace(sample.build(), memory_model("tso"), 0, steps)


@pytest.mark.parametrize("count", [2, 3, 6, 12])
@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_no_line_of_the_table_is_wider_than_asked(count: int, width: int) -> None:
    table = run_table(many_processes(count), width)
    assert max(map(len, table.splitlines())) <= width
    for number in range(count):
        assert f"variable_{number}" in table.replace(" ", "")


def test_a_narrow_table_says_what_is_different() -> None:
    assert "one column for all 12 processes" in run_table(many_processes(12), 100)
    assert "At the start all of memory is 0." in run_table(many_processes(12), 100)


def test_variables_that_the_run_does_not_touch_are_left_out_and_named() -> None:
    program = Sample("unused", "x unused").process("P", "x := 1").build()
    table = run_table(Trace(program, memory_model("tso"), 0, [Step(0, 0)]), 100)
    assert table.endswith("(not accessed in this run: unused=0)")
    assert table.count("unused") == 1


def test_a_table_that_cannot_fit_is_refused_not_cut() -> None:
    columns = [Column("a", 10), Column("b", 10)]
    assert render_table(columns, [["x" * 10, "y" * 10]], 20) is None
    assert render_table(columns, [["x" * 10, "y" * 10]], 23) is not None


def test_wrapped_text_keeps_every_word_within_the_width() -> None:
    lines = wrap("the load overtook the store averyveryverylongwordindeed x", 12)
    assert max(map(len, lines)) <= 12
    assert "".join("".join(lines).split()) == "theloadovertookthestoreaveryveryverylongwordindeedx"


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_a_lasso_says_where_its_loop_begins(width: int) -> None:
    trace = result_of(message_passing(), "pso").trace
    assert trace is not None
    table = run_table(trace, width, 3)
    assert [line.split()[0] for line in table.splitlines() if line.strip().startswith(">")] == [">4"]
    assert table.endswith("Steps 4 to 5 repeat for ever.")
    assert run_table(trace, width, 4).endswith("Step 5 repeats for ever.")
    assert run_table(trace, width, 5).endswith("Then nothing can happen any more.")
    assert ">" not in run_table(trace, width)
