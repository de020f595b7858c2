"""The families of the persistence paper's Fig. 16: generated as the corpus has them, with the same fences a process."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from memfence.pipeline import load, load_text
from memfence.program.ir import Program
from memfence.program.isomorphism import are_isomorphic
from memfence.program.load_options import LoadOptions
from memfence.questions import check
from memfence.source import SourceText
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FixResult, FixVerdict
from memfence.synthesis.synthesise import fix_fences
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.corpus import CORPUS

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from family_programs import FAMILIES

# Files that differ from the algorithm, or from the other sizes of their family: one flag compared with itself, or with
# another number; flags read in another order; a ring of two that looks at its one neighbour once.
ODD = {"burns3", "dijkstra3", "dijkstra4", "dijkstra5", "partial-dekker2", "szymanski5"}
FILES = sorted((CORPUS / "persist" / "parameterized").glob("*/*.txt"))
INT_BITS = {"seqlock": 3}

# Fences of the first, each middle, and the last process; pgsql: of each waiter and each waker.
FENCES = {
    "burns": (1, 2, 2),
    "dclocking": (0, 0, 0),
    "dijkstra": (2, 2, 2),
    "increase-sequence": (0, 0, 0),
    "partial-dekker": (2, 2, 2),
    "szymanski": (4, 4, 4),
    "seqlock": (0, 0, 0),
}


def made(family: str, processes: int) -> Program:
    source = SourceText(f"{family}{processes}.txt", FAMILIES[family](processes))
    return load_text(source, LoadOptions(int_bits=INT_BITS.get(family)))


def fixed(family: str, processes: int, criterion: str) -> FixResult:
    return fix_fences(made(family, processes), FixOptions(criterion=criterion, timeout_seconds=60))  # type: ignore[arg-type]


def per_process(result: FixResult) -> list[int]:
    count = Counter(name for fence in result.chosen.fences for name in fence.processes)
    return [count[process.name] for process in result.program.processes]


def expected(family: str, processes: int) -> list[int]:
    if family == "pgsql":
        return [2] * (processes // 2) + [1] * (processes - processes // 2)
    first, middle, last = FENCES[family]
    return [first, *[middle] * (processes - 2), last]


@pytest.mark.skipif(not FILES, reason="needs the corpus")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_generator_writes_the_programs_of_the_corpus(path: Path) -> None:
    number = re.search(r"(\d+)$", path.stem)
    assert number is not None
    family = path.parent.name
    theirs = load(path, LoadOptions(int_bits=INT_BITS.get(family)))
    assert are_isomorphic(theirs, made(family, int(number[1]))) == (path.stem not in ODD)


def check_fences(family: str, processes: int, criterion: str) -> None:
    result = fixed(family, processes, criterion)
    wanted = expected(family, processes)
    assert result.verdict is (FixVerdict.FIXED if any(wanted) else FixVerdict.ALREADY_HOLDS)
    assert result.is_minimum
    assert per_process(result) == wanted
    assert all(fence.run is not None for fence in result.chosen.fences)


@pytest.mark.parametrize("criterion", ["persistent", "robust"])
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_fences_of_a_process_do_not_depend_on_how_many_there_are(family: str, criterion: str) -> None:
    for processes in (4, 6):
        check_fences(family, processes, criterion)


@pytest.mark.parametrize("criterion", ["persistent", "robust"])
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_check_confirms_the_fences_of_the_largest_members(family: str, criterion: str) -> None:
    """Whose states are far too many: up to 10^9."""
    processes = 20 if family in ("pgsql", "seqlock") else 10
    found = fixed(family, processes, criterion)
    patched = found.patched or FAMILIES[family](processes)
    program = load_text(SourceText("fixed.txt", patched), LoadOptions(int_bits=INT_BITS.get(family)))
    confirmed = check(program, CheckOptions(criterion=criterion, timeout_seconds=60))  # type: ignore[arg-type]
    assert confirmed.verdict is Verdict.HOLDS
    assert confirmed.stats.states <= (205 if family == "dclocking" else 2 * processes)
    if found.chosen.fences:  # one of them less, and there is an attack
        before, _, after = patched.rpartition("mfence")
        fragile = load_text(SourceText("fragile.txt", f"{before}noop{after}"))
        assert check(fragile, CheckOptions(criterion=criterion, timeout_seconds=60)).verdict is Verdict.VIOLATED  # type: ignore[arg-type]


@pytest.mark.parametrize("processes", [7, 9, 11, 13])
@pytest.mark.parametrize("criterion", ["persistent", "robust"])
def test_a_ring_may_have_any_size(processes: int, criterion: str) -> None:
    check_fences("partial-dekker", processes, criterion)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["persistent", "robust"])
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_largest_members_of_the_families_are_fixed(family: str, criterion: str) -> None:
    check_fences(family, 20 if family in ("pgsql", "seqlock") else 10, criterion)
