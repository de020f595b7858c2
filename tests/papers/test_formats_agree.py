"""Programs that exist in several formats: each is read in all of them, and where they model the same, they agree.

The formats are transition lists (`.txt`), Memorax's RMM (`.rmm`) and Remmex's dialect (`_Remmex.txt`). What differs
between the files of one program is told in docs/results/formats.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest

from memfence import CheckOptions, Verdict, check, load
from memfence.diagnostics import InputError
from memfence.models.spec import ModelName
from memfence.program.expressions import At, conjunction
from memfence.program.ir import Forbidden, Process, Program
from support.corpus import CORPUS, needs_corpus

pytestmark = needs_corpus

SINGLE = CORPUS / "persist" / "single"
SUFFIXES = (".txt", "_Remmex.txt", ".rmm")

# Files that are not valid in their own language, with the line and the code of the first mistake: there is none.
MALFORMED: dict[str, tuple[int, str]] = {}


def files_by_program() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in sorted(SINGLE.glob("*/*/*")):
        suffix = next((s for s in SUFFIXES[1:] if path.name.endswith(s)), path.suffix)
        if suffix in SUFFIXES:
            found.setdefault(path.name.removesuffix(suffix), []).append(path)
    return {name: paths for name, paths in found.items() if len(paths) > 1}


PROGRAMS = files_by_program()


def test_thirty_programs_exist_in_all_three_formats() -> None:
    assert len(PROGRAMS) == 30
    assert {len(paths) for paths in PROGRAMS.values()} == {3}


@pytest.mark.parametrize("path", [p for paths in PROGRAMS.values() for p in paths], ids=lambda path: path.name)
def test_the_file_is_read(path: Path) -> None:
    try:
        program = load(path)
    except InputError as error:
        first = error.diagnostics[0]
        assert (first.at.span.line, first.code.id) == MALFORMED[path.name]
    else:
        assert path.name not in MALFORMED
        assert program.processes


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_formats_have_the_same_number_of_processes(name: str) -> None:
    # The transition list of `parker` has one unparker more.
    counts = {len(load(path).processes) for path in PROGRAMS[name]}
    assert len(counts) == 1 or name == "parker"


# Where the critical section is: the state of the transition list before the exit protocol, and what the last statement
# of that kind in a Remmex proctype looks like. In RMM the label `CS` says it, and `forbidden` all pairs of processes.
CRITICAL_SECTION = {
    "simple_dekker": ("q7", r"store\(want"),
    "dekker": ("q7", r"store\(turn"),
    "dijkstra": ("q5", r"store\(flag"),
    "lamport2": ("q17", r"store\(y,0"),
    "lamport3": ("q17", r"store\(y,0"),
    "bakery3": ("q12", r"store\(n\[i\],0"),
    "clhlock": ("q11", r"store\(mem\[i\],false"),
    "burns": ("q5", r"store\(flag"),
    "spinlock": ("enter", r"store\(x,1"),
    "ticket_spin_lock": ("q6", r"store\(x,r2"),
}


def critical_sections(path: Path, program: Program) -> list[frozenset[int]]:
    """The locations of each process that are its critical section."""
    state, statement = CRITICAL_SECTION[path.name.removesuffix("_Remmex.txt").removesuffix(".txt")]

    def places(process: Process) -> frozenset[int]:
        if not path.name.endswith("_Remmex.txt"):
            return frozenset(n for n, location in enumerate(process.locations) if location.name == state)
        found = [(t.span.start, t.source) for t in process.transitions if re.match(statement, t.span.text)]
        return frozenset({max(found)[1]})

    return [places(process) for process in program.processes]


def exclusion(sections: Sequence[frozenset[int]]) -> tuple[Forbidden, ...]:
    """No two processes are in their critical sections at once."""
    assert all(sections)
    pairs = combinations(enumerate(sections), 2)
    return tuple(Forbidden(conjunction(At(p, a), At(q, b)), f"{p} and {q}") for (p, a), (q, b) in pairs)


def verdict(path: Path, model: ModelName) -> Verdict:
    program = load(path)
    forbid = () if path.suffix == ".rmm" else exclusion(critical_sections(path, program))
    return check(program, CheckOptions(model=model, forbid=forbid, timeout_seconds=60)).verdict


def verdicts(name: str, model: ModelName) -> dict[str, Verdict]:
    suffixes = {path: path.name.removeprefix(name) for path in PROGRAMS[name]}
    return {suffix: verdict(path, model) for path, suffix in suffixes.items()}


AGREEING: list[tuple[str, ModelName, Verdict]] = [
    ("simple_dekker", "sc", Verdict.HOLDS),
    ("simple_dekker", "tso", Verdict.VIOLATED),
    ("simple_dekker", "pso", Verdict.VIOLATED),
    ("lamport2", "sc", Verdict.HOLDS),
    ("lamport2", "tso", Verdict.VIOLATED),
    ("lamport2", "pso", Verdict.VIOLATED),
    ("lamport3", "sc", Verdict.HOLDS),
    ("lamport3", "tso", Verdict.VIOLATED),
    ("dekker", "tso", Verdict.VIOLATED),
    ("bakery3", "tso", Verdict.VIOLATED),
    ("burns", "tso", Verdict.VIOLATED),
    ("spinlock", "sc", Verdict.HOLDS),
    ("spinlock", "tso", Verdict.HOLDS),
    ("ticket_spin_lock", "sc", Verdict.HOLDS),
    ("ticket_spin_lock", "tso", Verdict.HOLDS),
]


@pytest.mark.parametrize(("name", "model", "expected"), AGREEING, ids=lambda value: str(value))
def test_all_formats_have_the_same_verdict(name: str, model: ModelName, expected: Verdict) -> None:
    assert verdicts(name, model) == dict.fromkeys(SUFFIXES, expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dekker", "dijkstra"])
def test_all_formats_have_the_same_verdict_under_sc_in_more_time(name: str) -> None:
    assert verdicts(name, "sc") == dict.fromkeys(SUFFIXES, Verdict.HOLDS)


def test_a_failed_compare_and_swap_of_clhlock_goes_on_in_the_transition_list_only() -> None:
    assert verdicts("clhlock", "sc") == {
        ".txt": Verdict.VIOLATED,
        "_Remmex.txt": Verdict.HOLDS,
        ".rmm": Verdict.HOLDS,
    }


def test_burns_waits_for_one_flag_instead_of_all_in_rmm_and_is_not_even_safe_under_sc() -> None:
    assert verdict(SINGLE / "mutex" / "burns" / "burns.rmm", "sc") is Verdict.VIOLATED
