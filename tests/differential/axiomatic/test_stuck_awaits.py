"""Loops that only read and never end: what the engines find with a place to wait is what a look at all states finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from memfence.models.spec import PSO, SC, TSO, ModelSpec
from memfence.passes.stuck_awaits import with_stuck_awaits
from memfence.program.ir import NoDeadlock, Program
from memfence.program.load_options import LoadOptions
from memfence.questions import check
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.generators.waiting_programs import waiting_program
from twins import waiting

MACHINES = pytest.mark.parametrize("spec", [SC, TSO, PSO], ids=lambda spec: spec.name)


def in_c(program: Program) -> Program:
    """The program, as if it had been read from C: there, loops without end count."""
    return replace(program, properties=(NoDeadlock(),), options=LoadOptions(language="c"))


def check_against(seeds: Iterable[int], spec: ModelSpec) -> tuple[int, int]:
    """How many programs wait for ever, and how many do not."""
    counts = [0, 0]
    for seed in seeds:
        program = in_c(waiting_program(seed, with_updates=bool(seed % 3)))
        result = check(program, CheckOptions(model=spec.name, criterion="safety"))
        assert result.verdict in (Verdict.HOLDS, Verdict.VIOLATED)
        found = result.verdict is Verdict.VIOLATED
        assert found == waiting.waits_for_ever(program, spec.definition), f"{program.name} under {spec.name}"
        counts[found] += 1
    return counts[1], counts[0]


@MACHINES
def test_a_loop_that_never_ends_is_a_deadlock(spec: ModelSpec) -> None:
    assert min(check_against(range(60), spec)) >= 10


@pytest.mark.slow
@MACHINES
def test_a_loop_that_never_ends_is_a_deadlock_in_many_programs(spec: ModelSpec) -> None:
    check_against(range(1_000, 3_000), spec)


def test_models_of_algorithms_may_go_round_for_ever() -> None:
    program = waiting_program(0)
    assert with_stuck_awaits(program) is program


def test_a_place_to_wait_adds_no_other_final_state() -> None:
    """The rest of the program is as it was: only locations, steps and registers behind the others are new."""
    for seed in range(30):
        program = in_c(waiting_program(seed))
        more = with_stuck_awaits(program)
        for before, after in zip(program.processes, more.processes, strict=True):
            assert after.transitions[: len(before.transitions)] == before.transitions
            assert after.locations[: len(before.locations)] == before.locations
            assert after.registers[: len(before.registers)] == before.registers
