"""`never` claims and the labels `accept`, `progress` and `end` mean under SC what they mean in Spin."""

from __future__ import annotations

from pathlib import Path

import pytest
from random_claims import random_claim, random_processes
from spin import needs_spin, spin_finds_cycle

from memfence.pipeline import load_text
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions, CycleKind

TOGGLE = "byte x; active proctype P() { do :: x = 1 - x od }"

# What each says: whether there is a cycle, or the claim comes to its end.
CLAIMS = {
    "a guard that never holds": (f"{TOGGLE} never {{ S: do :: x == 5 -> goto S :: x == 1; 0 od }}", False),
    "every second step": (f"{TOGGLE} never {{ accept: do :: x == 0; x == 1 od }}", True),
    "the claim comes to its end": (f"{TOGGLE} never {{ do :: x == 1 -> break :: else od; skip }}", True),
    "a label on the last statement": (f"{TOGGLE} never {{ do :: x == 1 -> break :: else od; accept: x == 1 }}",
                                      False),
    "an assertion of the claim": (f"{TOGGLE} never {{ do :: assert(x == 0) od }}", True),
    "one step with its assertion": (f"{TOGGLE} never {{ do :: atomic {{ x == 1 -> assert(x == 1) }} :: else od }}",
                                    False),
    "it fails in the same step": (f"{TOGGLE} never {{ do :: atomic {{ x == 1 -> assert(x == 0) }} :: else od }}", True),
    "a goto to another place": (f"{TOGGLE} never {{ S: if :: x == 1 -> goto accept :: else -> goto S fi; accept: "
                                "do :: x == 0 -> goto S od }", True),
    "the program has come to its end": ("byte x; active proctype P() { x = 1 } never { do :: true :: x == 1 -> "
                                        "break od; accept: do :: x == 1 od }", True),
    "a process that waits for ever": ("byte x; active proctype P() { x == 1; x = 2 } never { accept: do :: x == 0 od }",
                                      True),
    "accept in the program": (f"{TOGGLE.replace('do ::', 'accept: do ::')} never {{ do :: x == 1 :: else od }}", True),
    "a claim with a name": (f"{TOGGLE} never mine {{ accept: do :: np_ od }}", True),
    "a variable of a process": ("byte x; active proctype P() { byte k; do :: k = 1 - k; x = k od } "
                                "never { do :: true :: P:k == 2 -> break od }", False),
    "a label of a process": ("byte x; active proctype P() { do :: x = 1; there: x = 0 od } "
                             "never { do :: true :: P@there && x == 0 -> break od }", False),
    "an if that begins an option": (f"{TOGGLE} never {{ do :: if :: x == 1 -> goto accept :: x == 0 fi od; "
                                    "accept: do :: x == 0; x == 1 od }", True),
    "else in the claim": (f"{TOGGLE} never {{ do :: x == 0 :: else -> break od; 0 }}", False),
}  # fmt: skip

CYCLES: dict[str, tuple[str, CycleKind, bool]] = {
    "a loop without progress": (TOGGLE, "non-progress", True),
    "progress in each round": ("byte x; active proctype P() { do :: x = 1 - x; progress: x = x od }", "non-progress",
                               False),
    "a way round progress": ("byte x; active proctype P() { do :: x = 1 - x :: x == 0; progress: x = x od }",
                             "non-progress", True),
    "the end is no cycle": ("byte x; active proctype P() { x = 1; progress: x = 2 }", "non-progress", False),
    "waiting is no cycle": ("byte x; active proctype P() { x == 1; progress: x = 2 }", "non-progress", False),
    "another one goes on": ("byte x; active proctype P() { x == 2; progress: x = 2 } active proctype Q() "
                            "{ do :: x = 1 - x od }", "non-progress", True),
    "accept in a loop": ("byte x; active proctype P() { do :: x = 1 - x; accept: x = x od }", "acceptance", True),
    "accept once": ("byte x; active proctype P() { accept: x = 1; do :: x = 1 - x od }", "acceptance", False),
    "accept and waiting for ever": ("byte x; active proctype P() { accept: x == 1 }", "acceptance", True),
    "a goto with a label": ("byte x; active proctype P() { again: x = 1 - x; accept: goto again }", "acceptance", True),
    "inside an atomic": ("byte x; active proctype P() { do :: atomic { x = 1 - x; accept: x = x } od }", "acceptance",
                         True),
    "several labels": ("byte x; active proctype P() { do :: x = 1; progress_1: accept_1: x = 0 od }", "acceptance",
                       True),
}  # fmt: skip


def finds_cycle(text: str, cycles: CycleKind | None = None, *, fair: bool = False) -> bool:
    program = load_text(SourceText("model.pml", text))
    return check(program, CheckOptions(model="sc", fair=fair, cycles=cycles)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_means_what_it_says(name: str) -> None:
    text, expected = CLAIMS[name]
    assert finds_cycle(text) == expected


@pytest.mark.parametrize("name", CYCLES)
def test_labels_mean_what_they_say(name: str) -> None:
    text, cycles, expected = CYCLES[name]
    assert finds_cycle(text, cycles) == expected


@needs_spin
@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_means_the_same_in_spin(name: str, tmp_path: Path) -> None:
    assert spin_finds_cycle(CLAIMS[name][0], tmp_path) == CLAIMS[name][1]


@needs_spin
@pytest.mark.parametrize("name", CYCLES)
def test_labels_mean_the_same_in_spin(name: str, tmp_path: Path) -> None:
    text, cycles, expected = CYCLES[name]
    assert spin_finds_cycle(text, tmp_path, progress=cycles == "non-progress") == expected


def agree(ours: bool, spins: bool, *, fair: bool) -> bool:
    """`pan -f` overlooks some fair runs; ours are checked by the definition, so there it only must not find more."""
    return ours or not spins if fair else ours == spins


@needs_spin
@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 120))])
def test_a_random_claim_is_violated_if_it_is_in_spin(seed: int, tmp_path: Path) -> None:
    processes = random_processes(seed)
    text, fair = processes + random_claim(seed, processes), seed % 3 == 0
    spins = spin_finds_cycle(text, tmp_path, fair=fair)
    assert agree(finds_cycle(text, fair=fair), spins, fair=fair), text


@needs_spin
@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 120))])
@pytest.mark.parametrize("cycles", ["acceptance", "non-progress"])
def test_a_random_program_has_a_cycle_if_it_has_one_in_spin(cycles: CycleKind, seed: int, tmp_path: Path) -> None:
    text, fair = random_processes(seed), seed % 3 == 0
    spins = spin_finds_cycle(text, tmp_path, progress=cycles == "non-progress", fair=fair)
    assert agree(finds_cycle(text, cycles, fair=fair), spins, fair=fair), text
