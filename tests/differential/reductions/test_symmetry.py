"""Symmetry against the plain search: as many states as there are orbits, the same answers, runs that replay."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from memfence.engines.native.explicit import explore
from memfence.models.state import State
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.passes.orders import for_hardware
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Shared, variable_address
from memfence.program.ir import Domain, Lock, Process, Program, SharedVar, Store, Unlock
from memfence.tasks.task import Safety
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import spec

MEMORIES = (spec("sc"), spec("tso", 1), spec("tso", 2), spec("pso", 1))
SHAPE = Shape(processes=(1, 2), statements=(1, 2), features=EVERYTHING | {"assertions", "regions"})
SYMMETRY = frozenset({"symmetry"})


def locking(name: str) -> Process:
    """Stores while it holds the bus."""
    builder = ProcessBuilder(name, name)
    for op in (Lock(), Store(variable_address(0), Const(1)), Unlock()):
        builder.emit(builder.location(), len(builder.locations), op)
    builder.location()
    return builder.build(0)


LOCKING = Program("locking", (SharedVar("x", Domain(0, 1)),), (locking("P"), locking("Q")))
"""Whoever of the two holds the bus: it is the one that has moved."""


@st.composite
def programs_with_twins(draw) -> Program:
    """A random program with one of its processes two or three times; the copies may start with other values."""
    program = draw(programs(SHAPE) | programs(SHAPE).map(fuse_lock_regions))
    chosen = draw(st.integers(0, len(program.processes) - 1))
    copies = []
    for number in range(draw(st.integers(1, 2))):
        original = program.processes[chosen]
        registers = tuple(
            r if r.transient else replace(r, init=(draw(st.integers(r.domain.lo, r.domain.hi)),))
            for r in original.registers
        )
        copies.append(replace(original, name=f"{original.name}_{number}", registers=registers))
    return replace(program, processes=(*program.processes, *copies))


def classes_of(program: Program) -> list[list[int]]:
    groups: dict[object, list[int]] = {}
    for number, process in enumerate(program.processes):
        code = tuple((t.source, t.target, t.ops, t.locked) for t in process.transitions)
        shape = tuple((r.domain, r.transient) for r in process.registers)
        groups.setdefault((code, shape, len(process.locations)), []).append(number)
    return list(groups.values())


def orbit(state: State, classes: list[list[int]]) -> object:
    """The state up to exchanges within the classes."""
    local = [
        (state.locations[p], state.registers[p], state.buffers[p], state.lock_owner == p)
        for p in range(len(state.locations))
    ]
    return state.memory, tuple(tuple(sorted((local[p] for p in members), key=repr)) for members in classes)


@pytest.mark.parametrize("memory", MEMORIES, ids=lambda m: f"{m.name}-{m.bound}")
@given(program=programs_with_twins())
@example(program=LOCKING)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_there_are_as_many_states_as_orbits(memory, program):
    plain = explore(program, memory, Safety(failures=False))
    assume(plain.cost.states < 20_000)
    folded = explore(program, memory, Safety(failures=False), reductions=SYMMETRY)
    classes = classes_of(for_hardware(program, memory))
    assert folded.cost.states == len({orbit(state, classes) for state in plain.states()})


@pytest.mark.parametrize("memory", MEMORIES, ids=lambda m: f"{m.name}-{m.bound}")
@given(program=programs_with_twins(), data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_symmetry_changes_no_answer_and_its_runs_replay(memory, program, data):
    variable = data.draw(st.integers(0, len(program.variables) - 1))
    bad = Binary("==", Shared(variable_address(variable)), Const(data.draw(st.integers(0, 2))))
    question = Safety(bad=bad)
    plain = explore(program, memory, question)
    folded = explore(program, memory, question, reductions=SYMMETRY)
    assert folded.finding == plain.finding
    if folded.finding is not None:
        assert len(folded.trace().steps) == len(plain.trace().steps)
