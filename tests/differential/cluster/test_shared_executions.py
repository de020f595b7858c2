"""The parts of a tree of executions, however many there are, add up to the executions of one machine."""

from __future__ import annotations

from random import Random

import pytest

from memfence.cluster.jobs import JobLost
from memfence.engines.cluster.executions import Errand, joined, run_errand
from memfence.engines.native.stateless import Asked, Counts, Ran, encode_for_exploration, explored, run_part
from memfence.program.ir import Program
from memfence.tasks.limits import Limits, Stop
from support.generators.cyclic_programs import cyclic_program
from support.generators.racing_programs import racing_program

SAME = ("interleavings", "borderline", "failed", "deadlocked", "truncated", "cut")
"""What parts have in common is run by each of them: steps, and executions given up, are more than one machine's."""


def parts_of(program: Program, asked: Asked, count: int) -> list[Ran | JobLost]:
    return [run_errand(Errand(program, asked, part, count, None)) for part in range(count)]


def numbers(counts: Counts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in SAME}


def check_seeds(seeds: range) -> None:
    found = {"finding": 0, "kept": 0, "cut": 0}
    for seed in seeds:
        random = Random(seed)
        program = cyclic_program(seed) if seed % 2 else racing_program(seed)
        asked = Asked(preemptions=random.choice([None, 1, 2]), depth=12 if seed % 2 else 1_000, keep=5)
        encoded = encode_for_exploration(program)
        one = run_part(encoded, asked, Limits())
        if one.reduced and one.counts.truncated:
            continue  # what is cut off at a number of steps has no class: which prefixes are run depends on the order
        many = joined(parts_of(program, asked, random.randint(1, 5)), asked)
        assert numbers(many.counts) == numbers(one.counts)
        assert (many.stop, many.reduced) == (one.stop, one.reduced)
        assert (many.finding is None, many.failure is None) == (one.finding is None, one.failure is None)
        assert len(many.executions) == len(one.executions)
        if many.finding is not None:
            explored(program, encoded, many).borderline_trace()
        found["finding"] += many.finding is not None
        found["kept"] += len(many.executions)
        found["cut"] += many.counts.cut > 0
    assert all(found.values())


def test_parts_run_the_executions_of_one_machine() -> None:
    check_seeds(range(500))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(5_000, 8_000, 500))
def test_parts_run_the_executions_of_one_machine_on_many_programs(start: int) -> None:
    check_seeds(range(start, start + 500))


def test_a_part_that_is_lost_leaves_the_exploration_incomplete() -> None:
    program = racing_program(0)
    first, *rest = parts_of(program, Asked(), 3)
    whole = explored(program, encode_for_exploration(program), joined([first, JobLost("gone"), *rest[1:]], Asked()))
    assert whole.stop is Stop.LOST and not whole.complete


def test_of_parts_that_are_all_lost_nothing_is_known() -> None:
    ran = joined([JobLost("gone"), JobLost("gone")], Asked())
    assert ran.stop is Stop.LOST and ran.counts.interleavings == 0 and ran.finding is None
