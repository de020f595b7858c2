"""Options that do not go together are refused, with the reason and something else to type; none is quietly ignored."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from support.command_line import memfence as in_process

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = "examples/lost_wakeup.pml"
INCREMENTS = """byte x = 0;
process A { state a, b; init a; trans a -> b { effect x = x + 1; }; }
process N { state s, t; init s; accept t; trans s -> t { guard x == 2; }, t -> t {}; }
system async property N;
"""


def memfence(*arguments: object, text: str = "") -> subprocess.CompletedProcess[str]:
    return in_process(*arguments, given=text, environment={"COLUMNS": "200"})


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ("check --criterion persistent --model pso", ("--criterion", "`persistent` is defined for TSO only")),
        ("check --criterion trf --model pso", ("--criterion", "`state-robust`")),
        ("fix --criterion persistent --model pso", ("--criterion", "`robust`")),
        ("why --criterion robust --criterion trf --model pso", ("--criterion", "`trf` is defined for TSO only")),
        ("check --buffer-bound 2 --engine symbolic", ("--buffer-bound", "--engine explicit")),
        ("check --buffer-bound 2 --engine dual", ("--buffer-bound", "--engine explicit")),
        ("check --buffer-bound 2 --criterion robust", ("--buffer-bound", "`robust`")),
        ("fix --buffer-bound 2 --criterion persistent", ("--buffer-bound", "`persistent`")),
        ("check --ltl true --criterion robust", ("--ltl", "--criterion safety")),
        ("check --forbid waiting==1 --criterion drf", ("--forbid", "--criterion safety")),
        ("fix --invariant true --criterion robust", ("--invariant", "--criterion safety")),
        ("why --forbid waiting==1 --criterion robust", ("--forbid", "--criterion safety")),
        ("check --deadlock --criterion robust", ("--deadlock", "--criterion safety")),
        ("check --engine symbolic --ltl true", ("--engine", "temporal")),
        ("check --engine dual --criterion state-robust", ("--engine", "`state-robust`")),
        ("fix --engine symbolic --criterion robust", ("--engine", "`robust`")),
        ("check --compact --ltl true", ("--compact", "temporal")),
        ("check --compact --engine dual", ("--compact", "--engine symbolic or dual")),
        ("check --fair", ("--fair", "--ltl")),
        ("check --define a=b", ("--define", "--ltl")),
        ("check --bound-per variable", ("--bound-per", "--ltl")),
        ("fix --fair", ("--fair", "--ltl")),
        ("fix --atomic list.txt", ("--atomic", "--ltl")),
        ("fix --atomic-waits own", ("--atomic-waits", "--ltl")),
        ("fix --cost mfence=3", ("--cost", "--minimise cost")),
        ("fix --via tso --model tso", ("--via", "--model pso")),
        ("fix --via tso", ("--via", "--model pso")),
        ("explore --replay s.json --preemptions 2", ("--preemptions", "--replay")),
        ("explore --replay s.json --timing", ("--timing", "--replay")),
        ("explore --replay s.json --first", ("--first", "--replay")),
        ("translate --to dve", ("--to", "--store-buffers")),
        ("translate --to dot --atomic list.txt", ("--atomic", "--store-buffers")),
    ],
)
def test_a_conflict_is_wrong_usage_that_names_both_sides(arguments: str, options: tuple[str, str]) -> None:
    command, *rest = arguments.split()
    done = memfence(command, EXAMPLE, *rest)
    assert (done.returncode, done.stdout) == (2, "")
    assert all(option in done.stderr for option in options)


@pytest.mark.parametrize(
    "options",
    [
        "--criterion robust",
        "--criterion drf --model pso",
        "--criterion state-robust --buffer-bound 2",
        "--criterion safety --engine symbolic",
        "--buffer-bound 2 --engine explicit",
        "--ltl true --criterion safety --fair --buffer-bound 2 --bound-per process",
    ],
)
def test_what_goes_together_is_answered_though_the_file_states_a_property(options: str) -> None:
    assert memfence("check", EXAMPLE, "-q", *options.split()).returncode in (0, 1, 4)


def test_a_temporal_property_of_the_file_is_one(tmp_path: Path) -> None:
    model = tmp_path / "increments.dve"
    model.write_text(INCREMENTS)
    done = memfence("check", model, "--fair", "--bound-per", "process", "-q")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_for_fences_only_does_not_blame_an_option_that_was_not_given(tmp_path: Path) -> None:
    model = tmp_path / "increments.dve"
    model.write_text(INCREMENTS)
    done = memfence("fix", model, "--all")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Invalid value for --all" in done.stderr and "--ltl" not in done.stderr


def test_the_fix_of_a_temporal_property_has_reports(tmp_path: Path) -> None:
    model = tmp_path / "increments.dve"
    model.write_text(INCREMENTS)
    done = memfence("fix", model, "--sarif", tmp_path / "sarif", "--html", tmp_path / "html", "--github", "-")
    assert done.returncode in (0, 1, 4), done.stderr
    assert (tmp_path / "sarif").is_file() and (tmp_path / "html").is_file()


@pytest.mark.parametrize("criterion", ["robust", "persistent", "state-robust"])
def test_sc_compared_with_itself_holds(criterion: str) -> None:
    done = memfence("check", EXAMPLE, "--criterion", criterion, "--model", "sc")
    assert done.returncode == 0
    assert "SC compared with itself" in done.stdout


@pytest.mark.parametrize("criterion", ["trf", "drf"])
def test_races_are_about_sc_runs_and_computed_under_sc(criterion: str) -> None:
    assert memfence("check", EXAMPLE, "--criterion", criterion, "--model", "sc", "-q").returncode == 1


@pytest.mark.parametrize("criterion", ["robust", "persistent"])
def test_nothing_is_to_be_fixed_under_sc(criterion: str) -> None:
    from memfence.pipeline import load
    from memfence.synthesis import fix
    from memfence.synthesis.options import FixOptions

    found = fix(load(ROOT / EXAMPLE), FixOptions(model="sc", criterion=criterion))  # type: ignore[arg-type]
    assert found.verdict.value == "already_holds"


@pytest.mark.parametrize(
    ("file", "options"),
    [
        (EXAMPLE, "--engine dual --forbid waiting==1"),
        (EXAMPLE, "--engine dual --deadlock"),
        (EXAMPLE, "--engine dual --model pso"),
        ("examples/store_buffering.litmus", "--engine symbolic"),
        ("examples/store_buffering.litmus", "--engine dual"),
    ],
)
def test_a_question_outside_the_engine_is_unknown_without_a_limit(file: str, options: str) -> None:
    done = memfence("check", file, *options.split())
    assert done.returncode == 4
    assert "the question is outside the" in done.stdout and "--engine auto" in done.stdout
    assert "limit" not in done.stdout and "Never" not in done.stdout
    value = json.loads(memfence("check", file, *options.split(), "--json").stdout)
    assert (value["verdict"], value["limit"]) == ("unknown", None)


@pytest.mark.parametrize("engine", ["auto", "explicit", "symbolic", "dual"])
def test_fences_are_found_with_every_engine(engine: str) -> None:
    done = memfence("fix", EXAMPLE, "--engine", engine, "--reduce", "none", "-q")
    assert done.returncode == 0
    assert "FIXED under tso (safety) with 2 fences" in done.stdout


def test_fence_synthesis_obeys_a_buffer_bound() -> None:
    done = memfence("fix", "examples/peterson.pml", "--buffer-bound", 1)
    assert done.returncode == 4
    assert "only runs with at most 1 pending stores" in done.stdout


def test_a_comparison_may_be_given_the_property() -> None:
    value = json.loads(memfence("compare", EXAMPLE, "--forbid", "false", "--no-fences", "--json").stdout)
    assert value["criteria"]["safety-tso"]["verdict"] == "holds"


def test_a_temporal_fix_names_the_criterion_as_the_check_does(tmp_path: Path) -> None:
    model = tmp_path / "increments.dve"
    model.write_text(INCREMENTS)
    found = [json.loads(memfence(command, model, "--json").stdout)["criterion"] for command in ("check", "fix")]
    assert found == ["liveness", "liveness"]


def test_the_program_may_come_from_standard_input() -> None:
    text = (ROOT / EXAMPLE).read_text()
    for command in ("check", "why", "compare", "explore"):
        done = memfence(command, "-", "--json", text=text)
        assert done.returncode in (0, 1) and '"file": "<stdin>"' in done.stdout, command
    assert "+++ b/<stdin>" in memfence("fix", "-", "--diff", text=text).stdout
    assert memfence("translate", "-", "--to", "dot", text=text).stdout.startswith("digraph")
    assert "error[MF003]" in memfence("check", "-", text="what is this?").stderr
    done = memfence("fix", "-", "--in-place", text=text)
    assert done.returncode == 2 and "standard input cannot be written back" in done.stderr


def test_a_byte_order_mark_is_kept_and_moves_nothing(tmp_path: Path) -> None:
    plain, marked = tmp_path / "plain.pml", tmp_path / "marked.pml"
    plain.write_bytes((ROOT / EXAMPLE).read_bytes())
    marked.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes())
    assert memfence("fix", plain, "--in-place", "-q").returncode == 0
    diff = memfence("fix", marked, "--diff").stdout
    assert memfence("fix", marked, "--in-place", "-q").returncode == 0
    assert marked.read_bytes() == b"\xef\xbb\xbf" + plain.read_bytes()
    assert "\ufeff" not in diff  # the first line is not part of it
    broken = tmp_path / "broken.pml"
    broken.write_bytes(b"\xef\xbb\xbfnonsense")
    assert f"{broken}:1:1" in memfence("check", broken).stderr


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("{}", "`kind` is missing"),
        ('{"kind": "crash", "model": "sc"}', "`kind` is `crash`, not one of assertion failure, deadlock, borderline"),
        ('{"findings": [3]}', "`3` is no object with `kind`"),
        ('{"kind": "borderline", "model": "tso", "registers": 7}', "`registers` is `7`, not a list"),
        ('{"kind": "borderline", "model": "tso", "registers": [["a"]]}', "not a list of whole numbers"),
        ('{"kind": "borderline", "model": "tso", "registers": [], "memory": []}', "does not fit the variables"),
    ],
)
def test_a_schedule_that_cannot_be_read_is_described_in_its_own_terms(
    schedule: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "schedule.json"
    path.write_text(schedule)
    done = memfence("explore", EXAMPLE, "--replay", path)
    assert done.returncode == 3
    assert "error[MF303]" in done.stderr and message in done.stderr
    assert "Error:" not in done.stderr


def test_everything_may_be_explored_for_any_criterion() -> None:
    assert memfence("check", EXAMPLE, "--forbid", "false", "--criterion", "robust").returncode == 1
