"""`reproduce`, `conform` and `cost` on the command line."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

from support.command_line import memfence
from support.generators.cycles import cycles

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
QUICKLY = ("--seconds", "0.05")


def test_reproduce_counts_outcomes_and_keeps_the_program(tmp_path: Path) -> None:
    done = memfence("reproduce", str(EXAMPLES / "lost_wakeup.pml"), *QUICKLY, "--emit", str(tmp_path), "--json")
    value = json.loads(done.stdout)
    assert value["verdict"] in ("seen", "not_seen")
    assert done.returncode == (1 if value["verdict"] == "seen" else 4)
    assert value["rounds"] == sum(outcome["count"] for outcome in value["outcomes"]) > 0
    assert value["seen"] == sum(outcome["count"] for outcome in value["outcomes"] if outcome["wanted"])
    (source,) = tmp_path.glob("*.c")
    assert "waiter" in source.read_text()


def test_what_holds_is_not_looked_for() -> None:
    done = memfence("reproduce", str(EXAMPLES / "message_passing.pml"), *QUICKLY)
    assert (done.returncode, "nothing to reproduce" in done.stdout) == (0, True)


def test_conform_stays_within_the_model(tmp_path: Path) -> None:
    for number, cycle in enumerate(list(cycles(4))[::80]):
        (tmp_path / f"{number}.litmus").write_text(cycle.litmus())
    done = memfence("conform", str(tmp_path), "--seconds", "0.02", "--json")
    value = json.loads(done.stdout)
    assert value["verdict"] == "within" and value["tests"]
    assert all(not test["outside"] and test["refused"] is None for test in value["tests"])
    assert done.returncode in (0, 4)  # 4: there is one processor only


def test_conform_says_what_it_did_not_run() -> None:
    done = memfence("conform", str(EXAMPLES / "lost_wakeup.pml"))
    assert (done.returncode, "not a litmus test" in done.stdout) == (4, True)


def test_cost_lists_every_kind() -> None:
    done = memfence("cost", "--json")
    value = json.loads(done.stdout)
    assert [cost["name"] for cost in value["costs"]] == [
        "nothing",
        "mfence",
        "lock-or",
        "xchg",
        "sfence",
        "seq_cst-store",
    ]
    assert all(0 < cost["low"] <= cost["nanoseconds"] <= cost["high"] for cost in value["costs"])
    assert done.returncode == (0 if value["steady"] else 4)


def test_the_assumed_costs_need_no_measurement() -> None:
    done = memfence("cost", "--default")
    assert (done.returncode, done.stdout) == (0, "fix assumes: mfence 10, sfence 2, locked 10 (a loop is times 10)\n")


def test_fix_weighs_with_what_was_measured() -> None:
    done = memfence("fix", str(EXAMPLES / "lost_wakeup.pml"), "--minimise", "cost", "--costs", "measured", "--json")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (0, "fixed")


def test_every_way_to_write_a_fix_is_timed() -> None:
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("no clang")
    source = EXAMPLES / "c" / "musl_unlock.c"
    done = memfence("fix", source, "--bench", "cc -c {} -o out.o", "--json")
    value = json.loads(done.stdout)
    names = [variant["name"] for variant in value["variants"]]
    assert [variant["edits"] for variant in value["variants"][:2]] == [0, 1]
    assert names[:2] == ["as it is", "--style fence"] and "--style asm" in names
    assert all(variant["exit_code"] == 0 and variant["seconds"] > 0 for variant in value["variants"])
    assert done.returncode == 0


def test_a_benchmark_has_to_name_the_file() -> None:
    done = memfence("fix", EXAMPLES / "lost_wakeup.pml", "--bench", "true")
    assert (done.returncode, "where the file belongs" in " ".join(done.stderr.split())) == (2, True)
