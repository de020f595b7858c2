"""`are_isomorphic` says yes to a program with other numbers, and never to one that behaves otherwise."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfence.models.spec import PSO, SC, TSO
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import At, Binary, Const, variable_address
from memfence.program.ir import Domain, Fence, Forbidden, Load, Op, Process, Program, SharedVar, Store, Transition
from memfence.program.isomorphism import are_isomorphic
from support.generators.programs import EVERYTHING, Shape, programs
from twins.reference_search import outcomes

SHAPE = Shape(processes=(2, 2), statements=(1, 3), features=EVERYTHING - {"loops"})
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def renumbered(process: Process, random: Random) -> Process:
    """The same process: other numbers of locations, transitions in another order."""
    to = list(range(len(process.locations)))
    random.shuffle(to)
    places = {new: process.locations[old] for old, new in enumerate(to)}
    moved = [replace(t, source=to[t.source], target=to[t.target]) for t in process.transitions]
    random.shuffle(moved)
    locations = tuple(places[n] for n in range(len(to)))
    return replace(process, locations=locations, initial=to[process.initial], transitions=tuple(moved))


def has_twins(process: Process) -> bool:
    """Whether two ways out of a location do the same: then their order matters, and a renumbering may be missed."""
    labels = [(t.source, repr(t.ops), t.locked) for t in process.transitions]
    return len(labels) != len(set(labels))


def changed(process: Process, random: Random) -> Process:
    """One transition goes elsewhere, does nothing, does something else, or is gone."""
    number = random.randrange(len(process.transitions))
    transition = process.transitions[number]
    elsewhere = random.randrange(len(process.locations))
    fence: tuple[Op, ...] = (*transition.ops, Fence("mfence"))
    store: tuple[Op, ...] = (*transition.ops, Store(variable_address(0), Const(2)))
    others: list[tuple[Transition, ...]] = [
        (replace(transition, target=elsewhere),),
        (replace(transition, ops=fence),),
        (replace(transition, ops=store),),
        (),
    ]
    kept = (*process.transitions[:number], *random.choice(others), *process.transitions[number + 1 :])
    return replace(process, transitions=kept)


@given(programs(SHAPE), st.integers(0, 10**6))
@QUICK
def test_numbers_do_not_matter(program: Program, seed: int) -> None:
    random = Random(seed)
    other = replace(program, processes=tuple(renumbered(process, random) for process in program.processes))
    assert are_isomorphic(program, other) or any(map(has_twins, program.processes))


def test_programs_that_are_called_the_same_behave_the_same() -> None:
    """Of the changes that alter an outcome, none is overlooked; some leave the program as it was."""
    counts = {"same": 0, "other": 0}

    @given(programs(SHAPE), st.integers(0, 10**6))
    @QUICK
    def look(program: Program, seed: int) -> None:
        random = Random(seed)
        number = random.randrange(len(program.processes))
        if not program.processes[number].transitions:
            return
        processes = list(program.processes)
        processes[number] = renumbered(changed(processes[number], random), random)
        other = replace(program, processes=tuple(processes))
        same = are_isomorphic(program, other)
        counts["same" if same else "other"] += 1
        for model in (SC, TSO, PSO) if same else ():
            assert outcomes(program, model.definition) == outcomes(other, model.definition)

    look()
    assert counts["other"] > 50


def store_and_load(value: int = 1, *, label: str = "end") -> Program:
    process = ProcessBuilder("P", "P")
    process.register("r", Domain(0, 2))
    first, middle, last = process.location(), process.location(), process.location("", [label])
    process.emit(first, middle, Store(variable_address(0), Const(value)))
    process.emit(middle, last, Load(0, variable_address(0)))
    return Program("made", (SharedVar("x", Domain(0, 2)),), (process.build(first),))


def forbidding(program: Program, location: int) -> Program:
    seen = Binary("==", At(0, frozenset({location})), Const(1))
    return replace(program, properties=(Forbidden(seen, "P is there"),))


@pytest.mark.parametrize(
    "other",
    [
        store_and_load(2),
        store_and_load(label="done"),
        replace(store_and_load(), variables=(SharedVar("y", Domain(0, 2)),)),
        replace(store_and_load(), variables=(SharedVar("x", Domain(0, 1)),)),
        replace(store_and_load(), error_locations=(0,)),
        forbidding(store_and_load(), 1),
    ],
    ids=["value", "label", "name", "range", "errors", "property"],
)
def test_what_matters_is_compared(other: Program) -> None:
    assert are_isomorphic(store_and_load(), store_and_load())
    assert not are_isomorphic(store_and_load(), other)


def test_a_label_that_is_new_says_nothing() -> None:
    program = store_and_load()
    (process,) = program.processes
    first = replace(process.locations[0], labels=("new",))
    labelled = replace(program, processes=(replace(process, locations=(first, *process.locations[1:])),))
    assert are_isomorphic(program, labelled)
    assert not are_isomorphic(labelled, program)


def test_a_property_speaks_of_the_same_place() -> None:
    program = store_and_load()
    turned = renumbered(program.processes[0], Random(3))
    assert turned.initial != program.processes[0].initial
    other = replace(program, processes=(turned,))
    assert are_isomorphic(forbidding(program, program.processes[0].initial), forbidding(other, turned.initial))
    wrong = (turned.initial + 1) % 3
    assert not are_isomorphic(forbidding(program, program.processes[0].initial), forbidding(other, wrong))
