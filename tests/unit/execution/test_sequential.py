"""`is_sequential` against its definition: put the steps of a run in every other order, and look for its trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfence.execution.happens_before import happens_before_cycle, is_sequential
from memfence.execution.occurrences import occurrences, runs_of
from memfence.execution.trace import Trace
from memfence.models.accesses import AccessKind
from memfence.models.spec import ModelName
from memfence.models.state import Commit, ProcessStep
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Const, variable_address
from memfence.program.ir import Domain, Load, Program, SharedVar, Store
from support.generators.cycles import cycles
from support.generators.programs import EVERYTHING, Shape, programs
from support.generators.random_runs import random_run
from support.models import memory_model
from support.samples import store_buffering
from support.sampling import sampled

SHAPE = Shape(processes=(2, 3), statements=(2, 3), features=EVERYTHING - {"loops"})
X, Y = variable_address(0), variable_address(1)


@dataclass(frozen=True, slots=True)
class Made:
    """An access of a step: `name` tells the stores apart; `seen` is the store that a load read."""

    kind: AccessKind
    variable: int
    name: int
    seen: int | None


@dataclass(frozen=True, slots=True)
class Moves:
    """What a run consists of: its steps with who takes part, and the stores of each variable in order."""

    steps: tuple[tuple[frozenset[int], tuple[Made, ...]], ...]
    order: dict[int, tuple[int, ...]]


def moves_of(trace: Trace) -> Moves:
    """The steps of the run, what each load saw, and the final order of the stores; pending ones commit at the end."""
    buffers: dict[int, list[tuple[int, int]]] = {}
    memory: dict[int, list[int]] = {}
    made: dict[int, list[Made]] = {}
    for name, occurrence in enumerate(occurrences(trace)):
        access = occurrence.access
        buffer, stored = buffers.setdefault(access.process, []), memory.setdefault(access.variable, [])
        seen = None
        match access.kind:
            case "load":
                seen = stored[-1] if stored else None
            case "own load":
                seen = [store for variable, store in buffer if variable == access.variable][-1]
            case "store":
                stored.append(name)
            case "pending store":
                buffer.append((access.variable, name))
            case "commit":
                entry = next(entry for entry in buffer if entry[0] == access.variable)
                buffer.remove(entry)
                stored.append(entry[1])
                continue
        made.setdefault(occurrence.position, []).append(Made(access.kind, access.variable, name, seen))
    for name, variable in sorted((name, variable) for buffer in buffers.values() for variable, name in buffer):
        memory.setdefault(variable, []).append(name)
    steps = tuple(
        (frozenset(run.process for run in runs_of(taken.step)), tuple(made.get(position, ())))
        for position, taken in enumerate(trace.steps)
        if runs_of(taken.step)
    )
    return Moves(steps, {variable: tuple(stored) for variable, stored in memory.items()})


def has_sc_order(moves: Moves) -> bool:
    """Whether some order of the steps, each process's own kept, runs under SC with the same loads and store orders."""
    waiting: list[tuple[frozenset[int], dict[int, tuple[int, ...]]]] = [(frozenset(), {})]
    tried: set[frozenset[int]] = set()
    while waiting:
        done, memory = waiting.pop()
        if len(done) == len(moves.steps):
            return True
        for number in next_steps(moves, done):
            after = take(moves, memory, moves.steps[number][1])
            if after is not None and done | {number} not in tried:
                tried.add(done | {number})
                waiting.append((done | {number}, after))
    return False


def next_steps(moves: Moves, done: frozenset[int]) -> Iterator[int]:
    """The steps not done that no earlier step of one of their processes waits for."""
    blocked: set[int] = set()
    for number, (processes, _) in enumerate(moves.steps):
        if number not in done:
            if not processes & blocked:
                yield number
            blocked |= processes


def take(
    moves: Moves, memory: dict[int, tuple[int, ...]], accesses: tuple[Made, ...]
) -> dict[int, tuple[int, ...]] | None:
    """Memory after the step; None if a load sees something else, or a store comes in another place."""
    memory = dict(memory)
    for made in accesses:
        stored = memory.get(made.variable, ())
        if made.kind in ("load", "own load"):
            if (stored[-1] if stored else None) != made.seen:
                return None
        elif moves.order[made.variable][len(stored)] != made.name:
            return None
        else:
            memory[made.variable] = (*stored, made.name)
    return memory


def check_order(trace: Trace) -> bool:
    expected = has_sc_order(moves_of(trace))
    assert is_sequential(trace) == expected
    return expected


def many(examples: int):
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(max_examples=examples, deadline=None, suppress_health_check=checks)


def two_stores_in_one_step() -> Program:
    """P stores x = 1 and x = 2 at once; Q reads x."""
    writer, reader = ProcessBuilder("P", "P"), ProcessBuilder("Q", "Q")
    writer.emit(writer.location(), writer.location(), Store(X, Const(1)), Store(X, Const(2)))
    reader.register("r", Domain(0, 2))
    reader.emit(reader.location(), reader.location(), Load(0, X))
    variables = (SharedVar("x", Domain(0, 2)), SharedVar("y", Domain(0, 2)))
    return Program("made", variables, (writer.build(0), reader.build(0)))


HALF_WAY = Trace(
    two_stores_in_one_step(), memory_model("tso"), 0, [ProcessStep(0, 0), Commit(0), ProcessStep(1, 0), Commit(0)]
)
"""Q reads what P's step writes first, and nobody can see under SC."""


@sampled(
    quick=250,
    slow=3000,
    program=programs(SHAPE),
    model=st.sampled_from(["sc", "tso", "tso", "pso"]),
    random=st.randoms(use_true_random=False),
    most=st.just(14),
    given_slowly={"most": st.just(18)},
)
def test_a_run_is_sequential_iff_some_order_of_its_steps_runs_under_sc(program, model, random, most) -> None:
    check_order(random_run(program, memory_model(model), random, most=most))


@given(programs(SHAPE), st.randoms(use_true_random=False))
@many(100)
def test_every_run_under_sc_is_sequential(program: Program, random: object) -> None:
    assert check_order(random_run(program, memory_model("sc"), random, most=14))


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_a_run_with_a_cycle_is_not_sequential(model: ModelName) -> None:
    random = Random(model)
    shapes = [cycle.program() for cycle in cycles(4) if cycle.is_allowed(model)]
    runs = [random_run(shape, memory_model(model), random, most=14) for shape in shapes for _ in range(60)]
    cyclic = [run for run in runs if happens_before_cycle(run) is not None]
    assert len(cyclic) > 20
    assert not any(check_order(run) for run in cyclic)


def test_store_buffering_is_not_sequential() -> None:
    assert not check_order(
        Trace(
            store_buffering(),
            memory_model("tso"),
            0,
            [ProcessStep(0, 0), ProcessStep(0, 1), ProcessStep(1, 0), ProcessStep(1, 1)],
        )
    )
    assert check_order(
        Trace(
            store_buffering(),
            memory_model("tso"),
            0,
            [ProcessStep(0, 0), Commit(0), ProcessStep(0, 1), ProcessStep(1, 0)],
        )
    )


def test_a_store_that_is_overwritten_within_its_step_is_read_by_nobody() -> None:
    assert not check_order(HALF_WAY)
