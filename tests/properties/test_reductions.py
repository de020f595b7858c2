"""A reduced program and its original look the same to whoever only sees what is observed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memfence.models.spec import SPECS
from memfence.models.state import State
from memfence.models.steps import MemoryModel, is_final, successors
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.passes.orders import for_hardware
from memfence.passes.reductions import REDUCTIONS, reduce
from memfence.program.facts.observation import Observed
from memfence.program.ir import Program
from memfence.program.validate import validate
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import memory_model
from twins.reference_search import Exploration, explore

# Much register work and few values: measured to kill the planted bugs that (8, 1, 1) and three values let live.
SHAPE = Shape(
    processes=(1, 2),
    statements=(2, 5),
    variables=2,
    values=2,
    weights=(4, 5, 2),
    features=EVERYTHING | {"assertions", "errors", "regions"},
)
LOOP_FREE = replace(SHAPE, features=SHAPE.features - {"loops"})
BOUNDED = st.sampled_from([memory_model("sc"), memory_model("tso", bound=2), memory_model("pso", bound=2)])
UNBOUNDED = st.sampled_from([memory_model("sc"), memory_model("tso"), memory_model("pso")])
MOST_STATES = 4000


@st.composite
def questions(draw: st.DrawFn, shape: Shape) -> tuple[Program, Observed]:
    """A program, and some of it to look at."""
    program = fuse_lock_regions(draw(programs(shape)))
    places = [(p, at) for p, process in enumerate(program.processes) for at in range(len(process.locations))]
    registers = [
        (p, r)
        for p, process in enumerate(program.processes)
        for r, register in enumerate(process.registers)
        if not register.transient
    ]
    some_places = draw(st.frozensets(st.sampled_from(places), max_size=2))
    some_registers = draw(st.frozensets(st.sampled_from(registers), max_size=2))
    some_variables = draw(st.frozensets(st.integers(0, len(program.variables) - 1), max_size=2))
    buffers = draw(st.sampled_from([frozenset[int](), frozenset({0})]))
    accesses, blocking = draw(st.booleans()), draw(st.booleans())
    return program, Observed(some_places, some_registers, some_variables, buffers, accesses, blocking)


@dataclass(frozen=True, slots=True)
class View:
    """What can be seen of all reachable states, of the final ones, of those where nothing is possible, of failures."""

    states: frozenset[tuple[object, ...]]
    final: frozenset[tuple[object, ...]]
    stuck: frozenset[tuple[object, ...]]
    has_failed_assertion: bool
    has_runtime_error: bool


def view(program: Program, observed: Observed, model: MemoryModel, found: Exploration) -> View:
    def seen(state: State) -> tuple[object, ...]:
        return (
            tuple(state.locations[p] == at for p, at in sorted(observed.locations)),
            tuple(state.registers[p][r] for p, r in sorted(observed.registers)),
            tuple(state.memory[n] for n in sorted(observed.variables)),
            tuple(any(state.buffers[p]) for p in sorted(observed.buffers)),
        )

    def is_stuck(state: State) -> bool:
        return observed.blocking and not any(successors(program, model, state))

    return View(
        frozenset(seen(state) for state in found.states),
        frozenset(seen(state) for state in found.states if is_final(program, state)),
        frozenset(seen(state) for state in found.states if is_stuck(state)),
        found.has_failed_assertion,
        found.has_runtime_error,
    )


def assert_same_view(program: Program, observed: Observed, model: MemoryModel, names: set[str]) -> None:
    program = for_hardware(program, SPECS[model.name[:3].rstrip("(")])  # engines reduce what the hardware performs
    reduced = reduce(program, observed, names, model=SPECS[model.name[:3].rstrip("(")])
    validate(reduced)
    whole = explore(program, model, most_states=MOST_STATES)
    assume(whole.complete)
    part = explore(reduced, model, most_states=2 * MOST_STATES)
    assert part.complete
    assert view(reduced, observed, model, part) == view(program, observed, model, whole)


@given(questions(SHAPE), BOUNDED)
@settings(max_examples=300, deadline=None)
def test_resetting_dead_registers_changes_nothing_observed(
    question: tuple[Program, Observed], model: MemoryModel
) -> None:
    assert_same_view(*question, model, {"dead"})


@given(questions(SHAPE), BOUNDED)
@settings(max_examples=300, deadline=None)
def test_fusing_local_steps_changes_nothing_observed(question: tuple[Program, Observed], model: MemoryModel) -> None:
    assert_same_view(*question, model, {"fuse"})


@given(questions(LOOP_FREE), UNBOUNDED)
@settings(max_examples=300, deadline=None)
def test_slicing_changes_nothing_observed(question: tuple[Program, Observed], model: MemoryModel) -> None:
    assert_same_view(*question, model, {"slice"})


@given(questions(LOOP_FREE), UNBOUNDED)
@settings(max_examples=300, deadline=None)
def test_all_reductions_together_change_nothing_observed(
    question: tuple[Program, Observed], model: MemoryModel
) -> None:
    assert_same_view(*question, model, set(REDUCTIONS))
