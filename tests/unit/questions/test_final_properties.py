"""Properties of final states: all processes ended, all buffers empty; and the words that properties may use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command_line import memfence

SPINLOCK = """\
#include "memfence.h"
byte lock, counter;
byte done;

active [2] proctype P() {
    byte seen;
    atomic { lock == 0 -> lock = 1 };
    seen = counter;
    counter = seen + 1;
    lock = 0
}
"""
ALL_DONE = "P[0]@end && P[1]@end -> counter == 2"
JOINED = """\
byte x;
proctype P() { x = 1 }
init { run P(); _nr_pr == 1; assert(x == 1) }
"""
MTYPES = """\
mtype = { idle, busy };
mtype state = idle;
byte x;
active [2] proctype P() { mtype mine = idle; mine = busy; state = mine; x = 1; cs: skip }
"""


@pytest.fixture
def spinlock(tmp_path: Path) -> Path:
    path = tmp_path / "spinlock.pml"
    path.write_text(SPINLOCK.replace('#include "memfence.h"\n', ""))
    return path


def run(path: Path, text: str, *options: str) -> tuple[int, str, str]:
    path.write_text(text)
    done = memfence("check", path, *options)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_a_correct_spinlock_needs_no_fence_for_its_final_value(spinlock: Path, model: str) -> None:
    done = memfence("check", spinlock, "--final", "counter == 2", "--model", model)
    expected = 1 if model == "pso" else 0  # PSO lets the unlock overtake the counter
    assert done.returncode == expected, done.stdout
    assert "finally counter == 2" in done.stdout


def test_fix_adds_no_fence_for_a_final_value(spinlock: Path) -> None:
    done = memfence("fix", spinlock, "--final", "counter == 2", "--json")
    assert json.loads(done.stdout)["verdict"] == "already_holds"


def test_a_final_value_that_is_wrong_is_shown_with_a_run_to_the_end(spinlock: Path) -> None:
    done = memfence("check", spinlock, "--final", "counter == 3", "--json")
    shown = json.loads(done.stdout)
    assert done.returncode == 1 and shown["property"] == "finally counter == 3"
    assert shown["trace"][-1]["buffers"] == {"P_0": [], "P_1": []}


def test_finally_in_the_model_means_the_same(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    text = SPINLOCK.replace('#include "memfence.h"\n', "")
    code, shown, _ = run(path, text + "ltl total { finally counter == 2 }\n")
    assert code == 0 and "finally counter == 2" in shown
    assert run(path, text + "ltl total { finally (counter == 1) }\n")[0] == 1


def test_why_names_the_pending_store_that_the_property_did_not_see(spinlock: Path) -> None:
    text = spinlock.read_text().replace("lock = 0\n", "lock = 0;\nended: skip\n")
    spinlock.write_text(text)
    done = memfence("check", spinlock, "--invariant", "P[0]@ended && P[1]@ended -> counter == 2")
    assert done.returncode == 1
    why = " ".join(done.stdout.split())
    assert "looks at memory, where `P_0`'s store counter = " in why or "looks at memory, where `P_1`'s store" in why
    assert "--final 'counter == 2'" in why or "--final" in why


def test_fix_says_that_an_edit_only_makes_a_pending_store_visible(spinlock: Path) -> None:
    text = spinlock.read_text().replace("lock = 0\n", "lock = 0;\nended: skip\n")
    spinlock.write_text(text)
    done = memfence("fix", spinlock, "--invariant", "P[0]@ended && P[1]@ended -> counter == 2")
    assert "only makes a pending store visible" in " ".join(done.stdout.split())


def test_a_process_that_was_joined_has_nothing_pending(tmp_path: Path) -> None:
    assert run(tmp_path / "m.pml", JOINED)[0] == 0
    assert run(tmp_path / "m.pml", JOINED.replace("_nr_pr == 1; ", ""))[0] == 1


def test_an_implication_is_an_operator_of_every_property(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    assert run(path, MTYPES, "--invariant", "x == 1 -> x > 0")[0] == 0
    assert run(path, MTYPES, "--forbid", "x == 0 -> x == 1 -> true")[0] == 1
    assert run(path, MTYPES, "--invariant", "x == 1 -> x > 1")[0] == 1
    assert run(path, MTYPES, "--final", "P[0]@cs -> x > 1")[0] == 0


def test_names_of_mtypes_are_values_in_properties_and_in_runs(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    code, shown, _ = run(path, MTYPES, "--forbid", "state == busy && P[0].mine == busy && x == 1")
    assert code == 1
    assert "state=busy" in shown and "state=idle" in shown
    assert run(path, MTYPES, "--ltl", "[] (state == idle || state == busy)")[0] == 0
    error = run(path, MTYPES, "--forbid", "state == bussy")[2]
    assert "did you mean `busy`?" in error


def test_ltl_blocks_know_empty_buffers_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    assert run(path, MTYPES + "ltl a { [] (empty(P[0]) || x <= 1) }\n")[0] == 0
    assert run(path, MTYPES + "ltl a { <> (x == 1 && empty(P[0])) }\n")[0] == 0
    assert run(path, MTYPES + "ltl a { [] (P[0]@cs -> empty(P[0])) }\n")[0] == 1
    assert run(path, MTYPES + "ltl a { [] (_nr_pr == 2) }\n")[0] == 1
    assert run(path, MTYPES + "ltl a { [] empty(Q[0]) }\n")[0] == 3


def test_a_certificate_claims_final_properties_too(spinlock: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.mfc"
    done = memfence("check", spinlock, "--final", "counter == 2", "--final", "lock == 0", "--certificate", proof)
    assert done.returncode == 0
    assert memfence("verify", proof, spinlock).returncode == 0
    weaker = memfence("check", spinlock, "--final", "counter < 3", "--certificate", tmp_path / "weaker.mfc")
    assert weaker.returncode == 0
    assert proof.read_bytes() != (tmp_path / "weaker.mfc").read_bytes()
    claim = memfence("verify", proof, spinlock).stdout
    assert "counter == 2" in claim and "lock == 0" in claim


def test_fix_proves_a_final_property_of_the_text_that_it_writes(spinlock: Path, tmp_path: Path) -> None:
    fixed = tmp_path / "fixed.pml"
    done = memfence("fix", spinlock, "--final", "counter == 2 && P[0]@end", "--model", "pso", "-o", fixed)
    assert done.returncode == 0, done.stdout
    assert memfence("check", fixed, "--final", "counter == 2", "--model", "pso").returncode == 0


def test_a_label_that_is_missing_is_not_answered_with_names_that_nobody_wrote(tmp_path: Path) -> None:
    model = tmp_path / "model.pml"
    model.write_text("byte x; active proctype P() { x = 1; x = 2 }")
    done = memfence("check", model, "--forbid", "P@critical")
    assert done.returncode == 3 and "help: labels: `end`" in done.stderr
