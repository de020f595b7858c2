"""Schedules run the same again, C++ included; and programs that `memfence cc` builds run as usual."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memfence.api.run import replay, run, schedules
from memfence.binary.assembler import with_visible_fences
from memfence.binary.driver import understand
from memfence.binary.process import Replay, replay_text, run_process
from memfence.binary.records import Layout, Replayed
from memfence.report.describe.run import running_page
from memfence.report.describe.run_text import run_text as report
from memfence.report.schemas import json_schema
from memfence.tasks.answer import Verdict
from support.command_line import memfence
from support.run_programs import STORE_BUFFERING, run_text, two_threads

HERE = Path(__file__).parent
LATCH = two_threads(
    "volatile int x, y, r = 1, s = 1;",
    "x = 1; r = y; assert(r || s);",
    "y = 1; s = x; assert(r || s);",
)


def built(folder: Path, source: Path, *, is_cpp: bool) -> Path:
    program = folder / "program"
    done = memfence("c++" if is_cpp else "cc", "-std=c++20" if is_cpp else "-std=gnu11", source, "-o", program)
    assert done.returncode == 0, done.stderr
    return program


def test_everything_that_cpp_has_is_explored_and_runs_the_same_a_hundred_times(tmp_path: Path) -> None:
    program = built(tmp_path, HERE / "everything.cpp", is_cpp=True)
    assert subprocess.run([program], check=False).returncode == 0
    result = run(program, timeout_seconds=60)
    assert (result.verdict, result.counts.failing, result.fault) == (Verdict.HOLDS, 0, None)
    again = Replay((0, 1, 0, 0, 1, 1, 2, 0, 1, 0, 1, 0, 0), result.layout)
    first = None
    for _ in range(100):
        ran = run_process(program, (), {}, replay=again, seconds=20)
        (replayed,) = (record for record in ran.records if isinstance(record, Replayed))
        first = first or replayed
        assert replayed == first and replayed.taken > 5


def test_a_saved_finding_is_replayed_to_the_same_steps(tmp_path: Path) -> None:
    result = run_text(tmp_path, LATCH)
    assert result.confirmed > 0
    for finding, (name, text) in zip(result.findings, schedules(result), strict=True):
        saved = tmp_path / name
        saved.write_text(text)
        again = replay([tmp_path / "program.c"], saved)
        assert finding.confirmation is not None
        assert again.finding is not None and again.verdict is Verdict.VIOLATED
        assert again.steps == finding.confirmation.steps and again.finding.cause == finding.confirmation.kind


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_gdb_stops_where_the_program_fails(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(two_threads("volatile int x;", "assert(x == 1);", ""))
    found = memfence("run", tmp_path / "program.c", "--save", tmp_path / "found", "--quiet")
    assert found.returncode == 1
    (saved,) = (tmp_path / "found").iterdir()
    command = [sys.executable, "-m", "memfence", "run", tmp_path / "program.c", "--replay", saved, "--gdb"]
    done = subprocess.run(command, input="backtrace\n", capture_output=True, text=True, timeout=60, check=False)
    if "ptrace" in done.stdout + done.stderr:
        pytest.skip("gdb may not trace processes here")
    assert "__assert_fail" in done.stdout and "in one (" in done.stdout


def test_the_command_prints_what_the_schema_promises(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json_schema("run"))
    (tmp_path / "program.c").write_text(STORE_BUFFERING)
    for options in ((), ("--random", "5"), ("--model", "pso")):
        done = memfence("run", tmp_path / "program.c", "--json", *options)
        assert done.returncode == (0 if "pso" in options else 1), "borderline, and nothing goes wrong"
        assert [error.message for error in validator.iter_errors(json.loads(done.stdout))] == []


def test_arguments_behind_two_dashes_are_the_programs(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text("int main(int count, char **words) { return count - 3; }")
    assert memfence("run", tmp_path / "program.c", "--quiet", "--", "--one", "two").returncode == 0
    assert memfence("run", tmp_path / "program.c", "--quiet").returncode == 1


def test_what_cannot_be_compiled_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text("int main(void) { return x; }")
    done = memfence("run", tmp_path / "program.c")
    assert done.returncode == 3 and "error[MF006]" in done.stderr and "program.c:1" in done.stderr


def test_an_instruction_that_is_not_known_leaves_the_answer_open(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text('int main(void) { __asm__("rdtsc"); return 0; }')
    assert memfence("run", tmp_path / "program.c").returncode == 4


def test_an_executable_without_the_runtime_is_refused(tmp_path: Path) -> None:
    done = memfence("run", "/bin/true")
    assert done.returncode == 3 and "memfence cc" in done.stderr


def test_reports_for_other_tools_are_written(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(STORE_BUFFERING)
    sarif, junit = tmp_path / "out.sarif", tmp_path / "out.xml"
    memfence("run", tmp_path / "program.c", "--sarif", sarif, "--junit", junit, "--quiet")
    assert {r["level"] for r in json.loads(sarif.read_text())["runs"][0]["results"]} == {"warning"}
    assert 'failures="1"' in junit.read_text()


def test_a_compiler_command_line_is_understood() -> None:
    asked = understand(["-O2", "-c", "a.c", "-o", "a.o", "-I", "include", "-DX=1"])
    assert asked.sources == ("a.c",) and asked.output == "a.o" and asked.compiles_only and not asked.is_foreign
    assert asked.others == ("-O2", "-I", "include", "-DX=1")
    assert understand(["--version"]).is_foreign and understand(["-E", "a.c"]).is_foreign


def test_two_steps_of_a_build_give_a_program_that_runs_and_is_explored(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(STORE_BUFFERING)
    assert memfence("cc", "-O1", "-c", "program.c", "-o", "program.o", folder=tmp_path).returncode == 0
    assert memfence("cc", "program.o", "-o", "program", "-pthread", folder=tmp_path).returncode == 0
    assert subprocess.run([tmp_path / "program"], check=False).returncode == 0
    assert run(tmp_path / "program").counts.borderline == 2


def test_fences_in_assembler_become_calls() -> None:
    text = '\t#APP\n# 7 "a.c" 1\n\tmfence\n# 0 "" 2\n#NO_APP\n\tlock orq\t$0, (%rsp)\n\tmovl\t$1, x(%rip)\n'
    changed, refused = with_visible_fences(text.replace("\t#APP", "#APP"))
    assert changed.count("__memfence_fence") == 2 and refused == []


def test_a_schedule_is_handed_over_as_numbers() -> None:
    layout = Layout(0, ((-1, 0), (0, 0)), ((4096, 4),), (7,))
    assert replay_text(Replay((0, ~1), layout)) == "2 -1 0 0 0 1 4096 4 1 7 2 0 -2"


def test_the_page_steps_through_the_run_with_its_buffers(tmp_path: Path) -> None:
    text = two_threads("volatile int x, y; int r, s;", "x = 1; r = y; assert(r || 1);", "y = 1; s = x;")
    text = text.replace("pthread_join(b, 0);", "pthread_join(b, 0); assert(r || s);")
    (tmp_path / "program.c").write_text(text)
    result = run(tmp_path / "program.c", timeout_seconds=30)
    page = running_page(result)
    assert page.verdict == "VIOLATED" and page.run is not None and page.run.model == "tso"
    pending = [step for step in page.run.steps if any(queue for buffers in step.buffers for queue in buffers)]
    assert pending and page.run.overtaken and page.run.steps[-1].failure
    assert {page.run.variables[number] for number in page.run.shown} >= {"x", "y"}
    done = memfence("run", tmp_path / "program.c", "--html", tmp_path / "page.html", "--quiet")
    assert done.returncode == 1 and "store to `x`" in (tmp_path / "page.html").read_text().replace(
        "<code>", "`"
    ).replace("</code>", "`")


def test_a_store_that_never_leaves_its_buffer_is_shown_there(tmp_path: Path) -> None:
    read = "int *p = shared; hazard = p; if (p && p == shared) assert(*p == 7);"
    drop = "int *old = __atomic_exchange_n(&shared, 0, __ATOMIC_SEQ_CST); if (hazard != old) free(old);"
    text = two_threads("int *volatile shared; int *volatile hazard;", read, drop)
    text = text.replace("pthread_t a, b;", "pthread_t a, b; shared = malloc(4); *shared = 7;")
    result = run_text(tmp_path, text)
    table = " ".join(report(result, width=300).split())
    assert "store hazard = &heap+0x40000000 (stays in its buffer)" in table and "load hazard = 0" in table
    page = running_page(result)
    assert page.run is not None and page.run.how == "as the compiled program ran with simulated store buffers"
    hazard = page.run.variables.index("hazard")
    assert {step.memory[hazard] for step in page.run.steps} == {0}
    assert any(
        pending.variable == hazard for queues in page.run.steps[-1].buffers for queue in queues for pending in queue
    )
