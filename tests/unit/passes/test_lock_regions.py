"""Which lock regions become one locked step, and what that step is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memfence.diagnostics import InputError
from memfence.models.steps import MemoryModel, is_final
from memfence.passes.lock_regions import MOST_PATHS, fuse_lock_regions
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import At, Const, Register, negate, variable_address
from memfence.program.ir import (
    Assign,
    Assume,
    Domain,
    Fence,
    FencePoint,
    Forbidden,
    Load,
    Lock,
    Op,
    Program,
    SharedVar,
    Store,
    Unlock,
)
from memfence.program.validate import validate
from memfence.source import SourceText
from support.generators.programs import Shape, programs
from support.models import memory_model
from twins.reference_search import explore

X = variable_address(0)
SET = Store(X, Const(1))
TEXT = SourceText("locks.txt", "lock; x := 1; unlock; skip")


def process(*edges: tuple[int, int, Op | None]) -> ProcessBuilder:
    """A process with these transitions; its locations are numbered from 0, where it starts."""
    builder = ProcessBuilder("p", "p")
    builder.register("r", Domain(0, 1))
    builder.scratch(0, Domain(0, 1))
    for number in range(1 + max(max(a, b) for a, b, _ in edges)):
        builder.location(labels=(f"at{number}",))
    for source, target, op in edges:
        builder.emit(source, target, *(() if op is None else (op,)))
    return builder


def program(builder: ProcessBuilder) -> Program:
    return Program("locks", (SharedVar("x", Domain(0, 1)),), (builder.build(0),))


def fused(*edges: tuple[int, int, Op | None]) -> Program:
    result = fuse_lock_regions(program(process(*edges)))
    validate(result)
    return result


def is_step_by_step(result: Program) -> bool:
    return any(isinstance(op, Lock) for t in result.processes[0].transitions for op in t.ops)


def test_a_region_becomes_one_locked_step_without_its_fences() -> None:
    result = fused((0, 1, Lock()), (1, 2, Load(0, X)), (2, 3, Fence()), (3, 4, SET), (4, 5, Unlock()))
    (step,) = result.processes[0].transitions
    assert step.locked
    assert step.ops == (Load(0, X), SET)


def test_inner_locations_vanish_and_the_others_keep_their_labels() -> None:
    result = fused((0, 1, Lock()), (1, 2, SET), (2, 3, Unlock()), (3, 0, None))
    assert [location.labels for location in result.processes[0].locations] == [("at0",), ("at3",)]
    assert [(t.source, t.target) for t in result.processes[0].transitions] == [(0, 1), (1, 0)]


def test_every_path_becomes_a_step_of_its_own_in_the_order_of_the_text() -> None:
    yes, no = Assume(Register(0)), Assume(negate(Register(0)))
    result = fused((0, 1, Lock()), (1, 2, yes), (1, 3, no), (2, 3, SET), (3, 4, Unlock()))
    assert [t.ops for t in result.processes[0].transitions] == [(yes, SET), (no,)]


def test_properties_are_told_the_new_numbers_of_locations() -> None:
    before = program(process((0, 1, Lock()), (1, 2, SET), (2, 3, Unlock())))
    before = replace(before, properties=(Forbidden(At(0, frozenset({3})), "p@at3"),))
    assert fuse_lock_regions(before).properties == (Forbidden(At(0, frozenset({1})), "p@at3"),)


def test_the_span_reaches_from_lock_to_unlock_and_the_fence_point_is_that_of_the_unlock() -> None:
    builder = ProcessBuilder("p", "p")
    for _ in range(4):
        builder.location()
    point = FencePoint("p", "after unlock", TEXT.span(14, 20))
    builder.emit(0, 1, Lock(), span=TEXT.span(0, 4), point=FencePoint("p", "after lock", TEXT.span(0, 4)))
    builder.emit(1, 2, SET, span=TEXT.span(6, 12))
    builder.emit(2, 3, Unlock(), span=TEXT.span(14, 20), point=point)
    (step,) = fuse_lock_regions(program(builder)).processes[0].transitions
    assert step.span.text == "lock; x := 1; unlock"
    assert step.point is point


def test_scratch_registers_are_zero_at_the_start_of_every_inner_step() -> None:
    builder = process((0, 1, Lock()), (3, 4, Unlock()))
    builder.emit(1, 2, Load(1, X))
    builder.emit(2, 3, Assign(0, Register(1)))
    (step,) = fuse_lock_regions(program(builder)).processes[0].transitions
    assert step.ops == (Load(1, X), Assign(1, Const(0)), Assign(0, Register(1)))


@pytest.mark.parametrize(
    "edges",
    [
        pytest.param([(0, 1, Lock()), (1, 2, Load(0, X)), (2, 1, None), (2, 3, Unlock())], id="cycle"),
        pytest.param([(0, 1, Lock()), (1, 2, SET), (1, 3, Unlock())], id="no way on"),
    ],
)
def test_a_region_that_is_not_one_step_keeps_its_locks(edges: list[tuple[int, int, Op | None]]) -> None:
    result = fused(*edges)
    assert is_step_by_step(result)
    assert result == program(process(*edges))


def test_a_region_with_a_location_that_a_property_names_keeps_its_locks() -> None:
    before = program(process((0, 1, Lock()), (1, 2, SET), (2, 3, Unlock())))
    named = replace(before, properties=(Forbidden(At(0, frozenset({1})), "p@at1"),))
    assert fuse_lock_regions(named) == named
    assert not is_step_by_step(fuse_lock_regions(before))


@pytest.mark.parametrize(("diamonds", "stays"), [(10, False), (12, True)])
def test_a_region_with_too_many_paths_keeps_its_locks(diamonds: int, stays: bool) -> None:
    edges: list[tuple[int, int, Op | None]] = [(0, 1, Lock())]
    for n in range(1, diamonds + 1):
        edges += [(n, n + 1, Assume(Register(0))), (n, n + 1, Assume(negate(Register(0))))]
    edges.append((diamonds + 1, diamonds + 2, Unlock()))
    assert (2**diamonds > MOST_PATHS) == stays
    assert is_step_by_step(fused(*edges)) == stays


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        pytest.param([(0, 1, SET), (1, 2, Unlock())], "without holding it", id="unlock only"),
        pytest.param([(0, 1, Lock()), (1, 2, Lock()), (2, 3, Unlock())], "holds it already", id="lock twice"),
    ],
)
def test_a_lock_that_can_only_be_misused_is_an_error(edges: list[tuple[int, int, Op | None]], said: str) -> None:
    with pytest.raises(InputError) as error:
        fused(*edges)
    assert [d.code.id for d in error.value.diagnostics] == ["MF111"]
    assert said in error.value.diagnostics[0].message


def test_an_unlock_that_some_path_reaches_without_the_lock_blocks_there_and_a_note_says_so() -> None:
    result = fused((0, 1, Lock()), (0, 1, SET), (1, 2, Unlock()))
    assert result.notes == ("an unbalanced lock or unlock of `p` blocks",)
    states = explore(result, memory_model("sc")).states
    assert {(s.locations, s.memory) for s in states} == {((0,), (0,)), ((1,), (1,)), ((2,), (0,))}


REGIONS = Shape(
    processes=(2, 2), statements=(1, 3), weights=(3, 0, 2), features=frozenset({"regions", "locked", "arithmetic"})
)


def final_values(program: Program, model: MemoryModel) -> set[tuple[object, ...]]:
    found = explore(program, model, most_states=6000)
    assume(found.complete)
    return {(s.memory, s.registers) for s in found.states if is_final(program, s)}


@given(programs(REGIONS), st.sampled_from([memory_model("sc"), memory_model("tso"), memory_model("pso")]))
@settings(max_examples=60, deadline=None)
def test_fusing_regions_changes_no_final_state(before: Program, model: MemoryModel) -> None:
    assert final_values(fuse_lock_regions(before), model) == final_values(before, model)
