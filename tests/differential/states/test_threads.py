"""Any number of threads gives the same answer, the same numbers and the same run, however they interleave.

Searches are larger than 50,000 states, below which only one thread works. In these programs most states have several
parents and the states looked for several shortest runs, so that an order that depends on threads would show.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.engines.native.explicit import Explored, explore
from memfence.models.spec import ModelSpec
from memfence.pipeline import load, load_text
from memfence.program.expressions import Shared, variable_address
from memfence.program.ir import Program
from memfence.program.text.properties import parse_expression
from memfence.source import SourceText
from memfence.tasks.evidence import BadState
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import Safety
from support.models import spec

LARGE = 50_000
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

WALK = """
active proctype {name}() {{
  do
  :: {variable} < {most} -> {variable} = {variable} + 1
  :: {variable} > 0 -> {variable} = {variable} - 1
  od
}}
"""
CHOOSE = """
active proctype {name}() {{ do :: {variable} < {most} -> {variable} = {variable} + 1 :: break od }}
"""


def program_of(template: str, most: int) -> Program:
    """Three processes, each with a variable of its own."""
    text = "byte x, y, z;\n" + "".join(
        template.format(name=name, variable=variable, most=most)
        for name, variable in (("A", "x"), ("B", "y"), ("C", "z"))
    )
    return load_text(SourceText("threads.pml", text))


def search(program: Program, memory: ModelSpec, question: Safety, threads: int, **limits: int) -> Explored:
    return explore(program, memory, question, limits=Limits(threads=threads, **limits))


def numbers_of(found: Explored) -> tuple[int, int, int, int]:
    return found.cost.states, found.cost.transitions, found.cost.depth, found.refused


@pytest.mark.parametrize(
    ("memory", "most", "bad"),
    [
        (spec("sc"), 16, "x == 14 && y == 13 && z == 12"),
        (spec("tso", 1), 10, "x == 7 && y == 6 && z == 6"),
        (spec("pso", 1), 10, "x == 6 && y == 7 && z == 6"),
    ],
    ids=["sc", "tso", "pso"],
)
def test_two_threads_find_the_run_of_one(memory: ModelSpec, most: int, bad: str) -> None:
    program = program_of(WALK, most)
    question = Safety(bad=parse_expression(bad, program, "--forbid"))
    one, *more = (search(program, memory, question, threads) for threads in (1, 2, 2))
    assert one.finding == BadState() and one.cost.states > LARGE
    for other in more:
        assert numbers_of(other) == numbers_of(one)
        assert other.trace().steps == one.trace().steps


def test_two_threads_show_the_final_states_of_one_and_the_same_way_there() -> None:
    program = program_of(CHOOSE, 31)
    total = Shared(variable_address(0))
    question = Safety(final_values=(total,))
    one, *more = (search(program, spec("sc"), question, threads) for threads in (1, 2, 2))
    assert one.cost.states > LARGE and len(one.final_states) == 32
    for other in more:
        for mine, theirs in zip(one.final_states, other.final_states, strict=True):
            assert (mine.values, mine.count) == (theirs.values, theirs.count)
            assert one.trace_to(mine.index).steps == other.trace_to(theirs.index).steps


def test_two_threads_count_what_one_counts() -> None:
    program = load(EXAMPLES / "lamport_fast.pml")
    one, two = (search(program, spec("pso", 2), Safety(failures=False), threads) for threads in (1, 2))
    assert one.stop is two.stop is Stop.NOTHING_LEFT and one.cost.states > LARGE
    assert numbers_of(one) == numbers_of(two)


def test_no_state_is_lost_or_counted_twice_while_the_table_grows() -> None:
    alone = load_text(SourceText("alone.pml", "byte x;\n" + WALK.format(name="A", variable="x", most=14)))
    one, together = (search(p, spec("sc"), Safety(), 1) for p in (alone, program_of(WALK, 14)))
    assert together.cost.states > LARGE
    assert together.cost.states == one.cost.states**3


def test_a_limit_on_states_ends_the_search_at_the_same_state() -> None:
    program = program_of(WALK, 20)
    one, two = (search(program, spec("sc"), Safety(), threads, most_states=100_000) for threads in (1, 2))
    assert one.stop is two.stop is Stop.STATES
    assert numbers_of(one) == numbers_of(two)
