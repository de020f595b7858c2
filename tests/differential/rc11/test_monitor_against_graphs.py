"""Robustness against RC11: the engine, its slow twin, and all execution graphs of random programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from memfence.engines.rc11 import rows
from memfence.models.spec import Axioms
from memfence.program.ir import Program
from memfence.strategy.portfolio import decide
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.task import Keeps, Task
from support.rc11_programs import corner_cases, random_program
from twins import rc11_graphs, rc11_monitor

MOST_GRAPHS = 6000


def is_proved(program: Program) -> bool:
    answer = decide(Task(program, Axioms("rc11"), Keeps(Criterion.ROBUST)))
    assert answer.verdict in (Verdict.HOLDS, Verdict.UNKNOWN)
    return answer.verdict is Verdict.HOLDS


def compared(programs: int, seed: int) -> Counter[tuple[bool | None, bool, bool]]:
    """How often graphs, twin and engine say robust."""
    rng = Random(seed)
    found: Counter[tuple[bool | None, bool, bool]] = Counter()
    for _ in range(programs):
        program = random_program(rng)
        graphs = rc11_graphs.is_robust(program, MOST_GRAPHS)
        twin, engine = rc11_monitor.is_robust(program), is_proved(program)
        assert graphs is not False or not twin, program
        assert graphs is not False or not engine, program
        found[graphs, twin, engine] += 1
    return found


def false_alarms(found: Counter[tuple[bool | None, bool, bool]]) -> int:
    return sum(n for (graphs, _, engine), n in found.items() if graphs and not engine)


def test_what_is_called_robust_has_no_execution_beyond_sc():
    found = compared(150, seed=38)
    assert found[False, False, False] >= 10
    assert false_alarms(found) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_so_for_thousands_of_programs(seed):
    found = compared(500, seed=1000 + seed)
    assert found[False, False, False] >= 40
    assert false_alarms(found) <= 10


UNSOUND = {"tight": 400, "leads-to-reads": 400, "relaxed": 400, "sc-access": 400}
"""Planted mistakes that make the twin blind, and programs within which one shows it."""
TIMID = {"msg": 400, "sc-any": 1500, "fences": 400, "tight-update": 400}
"""Planted mistakes that raise alarms for nothing."""


def programs_from(seed: int, count: int) -> Iterator[Program]:
    yield from corner_cases()
    rng = Random(seed)
    yield from (random_program(rng) for _ in range(count))


@pytest.mark.slow
@pytest.mark.parametrize("forget", UNSOUND)
def test_a_blind_twin_is_found(forget):
    assert any(
        not rc11_monitor.is_robust(program)
        and rc11_monitor.is_robust(program, forget)
        and rc11_graphs.is_robust(program, MOST_GRAPHS) is False
        for program in programs_from(7, UNSOUND[forget])
    )


@pytest.mark.slow
@pytest.mark.parametrize("forget", TIMID)
def test_a_timid_twin_is_found(forget):
    assert any(
        rc11_monitor.is_robust(program)
        and not rc11_monitor.is_robust(program, forget)
        and rc11_graphs.is_robust(program, MOST_GRAPHS)
        for program in programs_from(7, TIMID[forget])
    )


@pytest.mark.parametrize("bits", [3, 7])
def test_tables_that_are_cut_into_blocks_say_the_same(monkeypatch, bits):
    """Programs of this size have few columns, so variables are made small instead."""
    rng = Random(62)
    programs = [random_program(rng) for _ in range(60)]
    whole = [is_proved(program) for program in programs]
    monkeypatch.setattr(rows, "BITS", bits)
    assert [is_proved(program) for program in programs] == whole
    assert 10 <= sum(whole) <= 55
