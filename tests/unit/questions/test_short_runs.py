"""Counterexamples after shortening: runs still, of what they showed before, and as short as is claimed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import memfence
from memfence.execution.pruning import pruned, switches
from memfence.execution.trace import Trace
from memfence.models.spec import SPECS
from memfence.models.state import ProcessStep as Step
from memfence.models.steps import evaluate_in
from memfence.program.expressions import Binary, Const, Shared, variable_address
from memfence.program.ir import Forbidden, Program
from memfence.questions import check as ask
from memfence.questions.shortening import shortened
from memfence.tasks.evidence import CounterexampleRun
from memfence.tasks.options import CheckOptions
from support.command_line import ROOT
from support.generators.programs import Shape, programs
from twins.reference_search import shortest_steps

SIX = "byte x, y;\n" + "".join(
    f"active proctype W{n}() {{ byte r; r = x; r = y; r = r + 1; r = r + 1 }}\n" for n in range(4)
) + (
    "active proctype P() { byte r; x = 1; r = y; pdone: skip }\n"
    "active proctype Q() { byte r; y = 1; r = x; qdone: skip }\n"
)  # fmt: skip
BOTH = "P@pdone && Q@qdone && P.r == 0 && Q.r == 0"
SHAPE = Shape(features=frozenset({"fences", "locked", "branches", "loops"}))
BAD = Binary("==", Shared(variable_address(0)), Const(1))


@pytest.mark.parametrize("engine", ["auto", "explicit", "symbolic"])
def test_six_processes_of_which_two_matter_give_a_run_of_two(engine: str) -> None:
    result = memfence.check(SIX, language="promela", forbid=BOTH, engine=engine)
    assert result.trace is not None
    assert len(result.trace.steps) == 4
    used = {getattr(taken.step, "process", None) for taken in result.trace.steps}
    assert len(used) == 2


@pytest.mark.parametrize("name", ["peterson", "dekker", "lost_wakeup", "bakery", "szymanski", "seqlock"])
def test_what_is_called_shortest_is_shortest_by_the_definition(name: str) -> None:
    result = memfence.check(ROOT / "examples" / f"{name}.pml", model="pso")
    run = result.evidence
    assert isinstance(run, CounterexampleRun) and run.is_shortest
    bad = memfence.check(ROOT / "examples" / f"{name}.pml", model="pso", reduce=(), engine="explicit").trace
    assert bad is not None and len(run.trace.steps) == len(bad.steps)


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@settings(max_examples=25, deadline=None, derandomize=True)
@given(program=programs(SHAPE))
def test_a_shortened_run_shows_the_same_and_is_as_short_as_is_claimed(model: str, program: Program) -> None:
    options = CheckOptions(model=SPECS[model].name, forbid=(Forbidden(BAD, "x == 1"),), buffer_bound=2)
    before = ask(program, options)
    after = shortened(before, options)
    run = after.evidence
    assert after.verdict is before.verdict
    if before.trace is None or not isinstance(run, CounterexampleRun):
        return
    assert evaluate_in(program, run.trace.end, 0, BAD)
    assert len(run.trace.steps) <= len(before.trace.steps)
    definition = SPECS[model].bounded(2).definition
    shortest = shortest_steps(program, definition, lambda state: evaluate_in(program, state, 0, BAD))
    assert shortest is not None
    if run.is_shortest:
        assert len(run.trace.steps) == len(shortest[1])


def test_steps_of_one_process_are_put_together_where_that_is_possible() -> None:
    program = memfence.load_text(
        memfence.SourceText(
            "m.pml", "byte a, b, x, y; active proctype P() { a = 1; x = 1 } active proctype Q() { b = 1; y = 1 }"
        )
    )
    steps = [Step(0, 1), Step(1, 1), Step(0, 0), Step(1, 0)]  # numbered from the end of the text
    mixed = Trace(program, SPECS["sc"].definition, 0, steps)
    last = mixed.end
    found = pruned(mixed, lambda trace: trace.end == last, seconds=5)
    assert switches([taken.step for taken in found.steps]) == 1
