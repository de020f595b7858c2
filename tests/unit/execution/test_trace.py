"""A trace is a proof: it cannot be made from steps that do not replay. And it can say what was overtaken."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from memfence.execution.occurrences import occurrences
from memfence.execution.overtaking import explain, overtaken_pairs, torn_steps
from memfence.execution.trace import Trace, UnreplayableWitness
from memfence.models.spec import ModelName
from memfence.models.state import Commit, DropSeparator, ProcessStep, State
from memfence.models.steps import evaluate_in
from memfence.program.ir import Forbidden, Program
from support.exploration import shortest_run
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import memory_model
from support.samples import Sample, message_passing, store_buffering
from twins.reference_search import reachable


def violation(program: Program, model: ModelName) -> Trace:
    (forbidden,) = program.properties
    assert isinstance(forbidden, Forbidden)
    found = shortest_run(program, memory_model(model), lambda s: bool(evaluate_in(program, s, 0, forbidden.expr)))
    assert found is not None
    return found


def test_steps_that_do_not_replay_make_no_trace() -> None:
    with pytest.raises(UnreplayableWitness, match="step 2 of 2 under tso"):
        Trace(store_buffering(), memory_model("tso"), 0, [ProcessStep(0, 0), ProcessStep(0, 0)])


def test_a_run_that_begins_in_the_middle_makes_no_trace() -> None:
    tso = memory_model("tso")
    middle = Trace(store_buffering(), tso, 0, [ProcessStep(0, 0)]).end
    with pytest.raises(UnreplayableWitness, match="begins"):
        Trace(store_buffering(), tso, middle, [ProcessStep(0, 1)])


def test_the_states_of_a_trace_are_those_after_its_steps() -> None:
    trace = Trace(store_buffering(), memory_model("tso"), 0, [ProcessStep(0, 0), Commit(0)])
    assert trace.state_before(0) == trace.start
    assert trace.state_before(1) == trace.steps[0].state
    assert trace.end.memory == (1, 0)
    assert trace.model == "tso"


def test_store_buffering_names_the_load_that_overtook_the_store() -> None:
    why = explain(violation(store_buffering(), "tso"))
    assert why is not None
    process = why.pair.store.access.process
    assert why.pair.by.access.process == process
    assert (why.pair.store.span.text, why.pair.by.span.text) == [("x := 1", "r := y"), ("y := 1", "r := x")][process]
    assert why.hidden_from is not None and why.hidden_from.access.process == 1 - process


def test_message_passing_under_pso_names_the_store_that_overtook_the_store() -> None:
    why = explain(violation(message_passing(), "pso"))
    assert why is not None and why.pair.issued is not None
    assert (why.pair.store.span.text, why.pair.issued.span.text) == ("data := 1", "flag := 1")
    assert why.pair.by.access.kind == "commit"
    assert why.hidden_from is not None and why.hidden_from.span.text == "d := data"


def test_a_load_of_the_own_pending_store_overtakes_nothing() -> None:
    program = Sample("own", "x").process("P", "x := 1", "r := x").build()
    trace = Trace(program, memory_model("tso"), 0, [ProcessStep(0, 0), ProcessStep(0, 1), Commit(0)])
    assert [event.access.kind for event in occurrences(trace)] == ["pending store", "own load", "commit"]
    assert overtaken_pairs(trace) == ()
    assert explain(trace) is None


def test_a_committed_store_is_not_overtaken() -> None:
    trace = Trace(store_buffering(), memory_model("tso"), 0, [ProcessStep(0, 0), Commit(0), ProcessStep(0, 1)])
    assert overtaken_pairs(trace) == ()


def test_a_separator_leaves_without_an_access() -> None:
    program = Sample("sfence", "x y").process("P", "x := 1", "sfence", "y := 1").build()
    steps = [ProcessStep(0, 0), ProcessStep(0, 1), ProcessStep(0, 2), Commit(0, 0), DropSeparator(0), Commit(0, 1)]
    trace = Trace(program, memory_model("pso"), 0, steps)
    assert [event.position for event in occurrences(trace)] == [0, 2, 3, 5]
    assert overtaken_pairs(trace) == ()


def plain(state: State) -> tuple[object, ...]:
    return state.locations, state.registers, state.memory


@given(programs(Shape(processes=(2, 2), statements=(2, 3), features=EVERYTHING - {"loops"})))
@settings(max_examples=25, deadline=None)
def test_a_run_that_overtakes_and_tears_nothing_ends_where_sc_can_end(program: Program) -> None:
    sc = {plain(state) for state in reachable(program, memory_model("sc"))}
    pso = memory_model("pso")
    for state in sorted(reachable(program, pso), key=repr)[::7]:
        if state.is_plain:
            trace = shortest_run(program, pso, lambda s, wanted=state: s == wanted)  # type: ignore[misc]
            assert trace is not None
            assert plain(state) in sc or overtaken_pairs(trace) or torn_steps(trace), trace.steps
