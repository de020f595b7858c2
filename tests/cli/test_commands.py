"""The command line as scripts see it: output, streams and exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import ROOT
from support.command_line import memfence as in_process

STORE_BUFFERING = """\
program sb
vars x, y
procs
process P0
regs r
init l0
begin
l0: x = 1; goto l1
l1: r = y; goto l2
l2: skip; goto end0
end
process P1
regs r
init l0
begin
l0: y = 1; goto l1
l1: r = x; goto l2
l2: skip; goto end0
end
"""
BOTH_READ_0 = "P0@end0 && P1@end0 && P0.r == 0 && P1.r == 0"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "sb.pst"
    path.write_text(STORE_BUFFERING)
    return path


def memfence(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return in_process(*arguments, environment=environment)


def test_a_violation_exits_1_with_the_run_on_stdout(program: Path) -> None:
    done = memfence("check", program, "--forbid", BOTH_READ_0)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"{program}: VIOLATED under tso (safety): never {BOTH_READ_0}\n")
    assert "8: x = 1" in done.stdout
    assert "Why: " in done.stdout


def test_a_proof_exits_0(program: Path) -> None:
    done = memfence("check", program, "--forbid", BOTH_READ_0, "--model", "sc")
    assert done.returncode == 0
    assert " HOLDS under sc " in done.stdout


def test_forbid_false_explores_everything(program: Path) -> None:
    done = memfence("check", program, "--forbid", "false", "--json", "--reduce", "none")
    assert done.returncode == 0
    assert json.loads(done.stdout)["stats"]["states"] > 30


def test_quiet_prints_the_verdict_only(program: Path) -> None:
    done = memfence("check", program, "--forbid", BOTH_READ_0, "--quiet")
    assert len(done.stdout.splitlines()) == 1


def test_litmus_tests_are_reported_as_herd_does(tmp_path: Path) -> None:
    path = tmp_path / "SB.litmus"
    path.write_text(
        "X86 SB\n{ x=0; y=0; }\n P0          | P1          ;\n MOV [x],$1  | MOV [y],$1  ;\n"
        " MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n"
    )
    tso, sc = memfence("check", path), memfence("check", path, "--model", "sc")
    assert tso.stdout.startswith("Test SB Allowed\nStates 4\n")
    assert "Observation SB Sometimes 1 3" in tso.stdout
    assert "Observation SB Never 0 3" in sc.stdout
    assert (tso.returncode, sc.returncode) == (1, 0)
    states = json.loads(memfence("check", path, "--json").stdout)["states"]
    assert {"0:EAX": 0, "1:EAX": 0} in [state["values"] for state in states]


def test_json_is_one_object_and_nothing_else(program: Path) -> None:
    done = memfence("check", program, "--forbid", BOTH_READ_0, "--json")
    value = json.loads(done.stdout)
    assert (done.returncode, done.stderr, value["verdict"]) == (1, "", "violated")
    assert len(value["trace"]) == 6


def test_json_reports_bad_input_as_an_object_too(program: Path) -> None:
    program.write_text(STORE_BUFFERING.replace("x = 1", "x + 1", 1))
    done = memfence("check", program, "--json")
    value = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (3, "")
    assert (value["diagnostics"][0]["code"], value["diagnostics"][0]["line"]) == ("MF001", 8)


def test_a_bounded_search_is_not_a_proof(program: Path) -> None:
    program.write_text(STORE_BUFFERING.replace("goto end0", "goto l0"))
    done = memfence(
        "check", program, "--forbid", "false", "--buffer-bound", 1, "--engine", "explicit", "--reduce", "none"
    )
    assert done.returncode == 4
    assert "NO VIOLATION up to buffer bound 1" in done.stdout


def test_every_mistake_in_the_properties_is_shown(program: Path) -> None:
    done = memfence("check", program, "--forbid", "P0@nowhere", "--invariant", "z == 1")
    assert (done.returncode, done.stdout) == (3, "")
    assert "error[MF103]" in done.stderr
    assert "--> --forbid:1:4" in done.stderr
    assert "error[MF101]" in done.stderr
    assert "--> --invariant:1:1" in done.stderr


def test_a_property_that_cannot_be_read_is_coded(program: Path) -> None:
    done = memfence("check", program, "--forbid", "x = 1")
    assert done.returncode == 3
    assert "error[MF120]" in done.stderr
    assert "did you mean `==`?" in done.stderr


def test_a_missing_file_is_bad_input() -> None:
    done = memfence("check", "nowhere.pst")
    assert done.returncode == 3
    assert "error[MF002]" in done.stderr
    assert "No such file" in done.stderr


def test_an_unknown_language_is_bad_input(program: Path) -> None:
    assert "error[MF003]" in memfence("check", program, "--language", "fortran").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["chekc"],
        ["check"],
        ["check", "FILE", "--model", "arm"],
        ["check", "FILE", "--buffer-bound", "0"],
        ["check", "FILE", "--reduce", "magic"],
        ["check", "FILE", "--nonsense"],
        ["explain", "MF999"],
    ],
)
def test_wrong_usage_exits_2(arguments: list[str], program: Path) -> None:
    done = memfence(*(str(program) if word == "FILE" else word for word in arguments))
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_no_colour_and_no_progress_where_there_is_no_terminal(program: Path) -> None:
    done = memfence("check", program, "--forbid", BOTH_READ_0, TERM="xterm-256color")
    assert "\x1b" not in done.stdout + done.stderr


def test_the_same_question_gets_the_same_text(program: Path) -> None:
    def answer() -> str:
        shown = memfence("check", program, "--forbid", BOTH_READ_0).stdout
        return re.sub(r"[\d.]+ s, \d+ MB", "", shown)

    assert answer() == answer()


def test_the_table_follows_the_width_of_the_terminal(program: Path) -> None:
    narrow = memfence("check", program, "--forbid", BOTH_READ_0, COLUMNS="70").stdout
    table = [line for line in narrow.splitlines() if "│" in line or "┼" in line]
    assert table
    assert max(map(len, table)) <= 70


def test_the_version_is_that_of_the_package() -> None:
    from memfence.version import VERSION

    assert memfence("--version").stdout == f"memfence {VERSION}\n"


def test_an_internal_error_says_so_and_exits_70(program: Path) -> None:
    script = (
        "import sys, memfence.pipeline as p\n"
        "def broken(*a, **k): raise RuntimeError('broken on purpose')\n"
        "p.load = broken\n"
        f"sys.argv = ['memfence', 'check', {str(program)!r}]\n"
        "from memfence.cli.main import run\nrun()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 70
    assert done.stderr.startswith("internal error: RuntimeError: broken on purpose\n")
    assert "Please report it" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_is_a_clean_unknown(program: Path) -> None:
    script = (
        "import sys, memfence.pipeline as p\n"
        "def interrupted(*a, **k): raise KeyboardInterrupt\n"
        "p.load = interrupted\n"
        f"sys.argv = ['memfence', 'check', {str(program)!r}]\n"
        "from memfence.cli.main import run\nrun()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (4, "UNKNOWN: interrupted\n")


def test_explain_shows_the_summary_and_an_example() -> None:
    done = memfence("explain", "mf101")
    assert done.returncode == 0
    assert done.stdout.startswith("MF101: a shared variable is used but never declared\n\n")
    assert "--forbid" in done.stdout


def test_explain_without_a_code_lists_all() -> None:
    from memfence.codes import Code

    assert len(memfence("explain").stdout.splitlines()) == len(Code)


@pytest.mark.parametrize("target", ["promela", "dot"])
def test_translate_writes_to_stdout_or_to_a_file(target: str, program: Path, tmp_path: Path) -> None:
    shown = memfence("translate", program, "--to", target)
    written = memfence("translate", program, "--to", target, "-o", tmp_path / "out")
    assert (shown.returncode, written.returncode, written.stdout) == (0, 0, "")
    assert shown.stdout == (tmp_path / "out").read_text()
    assert ("proctype" if target == "promela" else "digraph") in shown.stdout


def test_check_has_the_options_of_the_contract() -> None:
    shown = memfence("check", "--help").stdout
    assert set(re.findall(r"--[a-z-]+", shown)) >= {
        "--model", "--criterion", "--forbid", "--invariant", "--ltl", "--deadlock", "--buffer-bound", "--int-bits",
        "--abstract", "--engine", "--reduce", "--timeout", "--memory", "--threads", "--compact",
        "--language", "--json", "--html", "--sarif", "--junit", "--quiet", "--verbose", "--help",
    }  # fmt: skip


def test_reports_go_to_files_beside_what_is_printed(program: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("report.html", "report.sarif", "report.xml")]
    options = zip(("--html", "--sarif", "--junit"), files, strict=True)
    done = memfence("check", program, "--forbid", BOTH_READ_0, *(word for pair in options for word in pair))
    assert (done.returncode, done.stderr) == (1, "")
    assert "VIOLATED" in done.stdout
    assert [path.read_text().split(maxsplit=1)[0] for path in files] == ["<!doctype", "{", "<?xml"]


def test_machine_formats_report_bad_input(program: Path, tmp_path: Path) -> None:
    program.write_text(STORE_BUFFERING.replace("x = 1", "x + 1", 1))
    done = memfence("check", program, "--sarif", tmp_path / "s", "--junit", tmp_path / "j", "--html", tmp_path / "h")
    assert done.returncode == 3
    assert "MF001" in (tmp_path / "s").read_text()
    assert "MF001" in (tmp_path / "j").read_text()
    assert not (tmp_path / "h").exists()


def test_a_report_that_cannot_be_written_is_wrong_usage(program: Path, tmp_path: Path) -> None:
    done = memfence("check", program, "--html", tmp_path / "nowhere" / "report.html")
    assert done.returncode == 2
    assert "cannot write" in done.stderr


FIGURE_6 = """byte x = 0; byte y = 0;
process A { state a1, a2, a3; init a1; trans a1 -> a2 { effect x = x + 1; }, a2 -> a3 { effect y = y + 1; }; }
process B { state b1, b2, b3; init b1; trans b1 -> b2 { effect x = x + 1; }, b2 -> b3 { effect y = y + 1; }; }
system async;
"""


def test_a_dve_model_is_written_with_its_store_buffers(tmp_path):
    source, listed = tmp_path / "figure6.dve", tmp_path / "atomic.txt"
    source.write_text(FIGURE_6)
    listed.write_text("(x, A.0)\n(*, B.b1->b2)\n")
    plain = memfence("translate", str(source), "--to", "dve", "--store-buffers")
    assert plain.returncode == 0 and "process MM" in plain.stdout and "sb_x_A" in plain.stdout
    atomic = memfence("translate", str(source), "--to", "dve", "--store-buffers", "--atomic", str(listed))
    assert "sb_y_A" in atomic.stdout and "sb_x_" not in atomic.stdout
    listed.write_text("(z, A.0)\n")
    wrong = memfence("translate", str(source), "--to", "dve", "--store-buffers", "--atomic", str(listed))
    assert wrong.returncode == 3 and "atomic.txt:1" in wrong.stderr


def test_writing_dve_without_store_buffers_is_wrong_usage(tmp_path):
    source = tmp_path / "figure6.dve"
    source.write_text(FIGURE_6)
    assert memfence("translate", str(source), "--to", "dve").returncode == 2
    assert memfence("translate", str(source), "--to", "dot", "--store-buffers").returncode == 2


def test_the_papers_example_is_fixed_by_two_atomic_writes(tmp_path):
    source, listed, fixed = tmp_path / "figure6.dve", tmp_path / "atomic.txt", tmp_path / "fixed.dve"
    source.write_text(FIGURE_6)
    asked = ("--ltl", "F (x == 2 && y > 0)")
    done = memfence("fix", source, *asked, "--atomic", listed, "-o", fixed)
    assert done.returncode == 0 and "FIXED under tso with 2 atomic writes" in done.stdout
    assert [line.split("  ")[0] for line in listed.read_text().splitlines()] == ["(x, A.0)", "(x, B.0)"]
    assert fixed.read_text().count("/*@atomic*/ x = x + 1") == 2
    assert memfence("check", fixed, *asked, "-q").returncode == 0
    assert memfence("check", source, *asked, "-q").returncode == 1
    again = memfence("fix", source, *asked, "--atomic", listed)
    assert again.returncode == 0 and "without another atomic write" in again.stdout
    literal = memfence("fix", source, *asked, "--atomic-waits", "all", "--json")
    assert len(json.loads(literal.stdout)["fences"]) == 1


def test_a_list_may_say_that_all_writes_of_a_transition_are_atomic(tmp_path):
    source, listed = tmp_path / "figure6.dve", tmp_path / "atomic.txt"
    source.write_text(FIGURE_6)
    listed.write_text("(*, A.0)\n")
    done = memfence("fix", source, "--ltl", "F (x == 2 && y > 0)", "--atomic", listed)
    assert done.returncode == 0 and "FIXED under tso with 1 atomic write:" in done.stdout
    assert [line.split("  ")[0] for line in listed.read_text().splitlines()] == ["(*, A.0)", "(x, B.0)"]


def test_a_temporal_property_is_called_liveness_and_an_assertion_safety():
    asked = memfence(
        "check", ROOT / "examples/dve/peterson.dve", "--ltl", "G (P@wait -> F P@cs)", "--model", "sc", "-q"
    )
    assert "under sc (liveness): G (P@wait -> F P@cs)" in asked.stdout
    assert "under sc (safety): " in memfence("check", ROOT / "examples/peterson.pml", "--model", "sc", "-q").stdout


def test_the_bound_of_an_ltl_check_is_for_each_variable_or_for_the_whole_buffer(tmp_path):
    """Two stores to x can be pending at once in TSO(2), not in TSO/var(1)."""
    source = tmp_path / "twice.dve"
    source.write_text("""byte x, y;
process P { byte r; state a, b, c, d; init a; trans a -> b { effect x = 1; }, b -> c { effect x = 2; },
  c -> d { effect r = y; }; }
process Q { byte r; state a, b, c, d; init a; trans a -> b { effect y = 1; }, b -> c { effect y = 2; },
  c -> d { effect r = x; }; }
system async;
""")
    asked = ("check", source, "--ltl", "G !(P@d && Q@d && P.r == 0 && Q.r == 0)", "-q")
    assert memfence(*asked, "--buffer-bound", "1").returncode == 4
    assert memfence(*asked).returncode == 1
    assert memfence(*asked, "--buffer-bound", "2").returncode == 1
    assert memfence(*asked, "--buffer-bound", "2", "--bound-per", "process").returncode == 1
    assert memfence(*asked, "--buffer-bound", "1", "--bound-per", "process").returncode == 4


def test_atomic_writes_for_a_formula_that_fails_under_sc_are_refused_with_the_run(tmp_path):
    source = tmp_path / "figure6.dve"
    source.write_text(FIGURE_6)
    done = memfence("fix", source, "--ltl", "F x == 3")
    assert done.returncode == 1 and "sequential consistency" in done.stdout and "Then nothing can happen" in done.stdout


def test_an_abstraction_for_another_criterion_is_wrong_usage(program: Path) -> None:
    done = memfence("check", program, "--criterion", "robust", "--abstract", "2")
    assert done.returncode == 2
    assert "persistent" in done.stderr
