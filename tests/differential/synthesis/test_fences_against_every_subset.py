"""Fence synthesis against trying every set of fences, on random programs with a place for a fence behind every step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Literal

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from memfence.engines.attacks import attack_kind
from memfence.engines.native.attacks import explore_attacks
from memfence.engines.native.explicit import explore
from memfence.engines.program_orders import WEAKER
from memfence.frontends.frontend import EditKind
from memfence.models.spec import ModelName
from memfence.program.expressions import (
    At,
    Binary,
    Const,
    RegisterOf,
    Shared,
    conjunction,
    disjunction,
    variable_address,
)
from memfence.program.ir import FencePoint, Forbidden, Program
from memfence.questions.safety import goal_of
from memfence.source import NOWHERE
from memfence.strategy.portfolio import ask
from memfence.synthesis.apply_edits import insert
from memfence.synthesis.options import DEFAULT_COSTS, FixOptions
from memfence.synthesis.result import FixVerdict
from memfence.synthesis.sites import find_edits
from memfence.synthesis.synthesise import choose
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.task import Keeps, Safety, Task
from support.generators.programs import Feature, Shape, programs
from support.models import spec
from support.samples import Sample, ends

FEATURES: frozenset[Feature] = frozenset({"fences", "sfences", "locked", "branches", "waits", "arithmetic", "choices"})
SHAPE = Shape(processes=(2, 3), statements=(2, 3), values=2, features=FEATURES)
FEW_SITES = {"tso": 6, "pso": 5}
MANY_SITES = {"tso": 8, "pso": 6}
DEEP = 8
"""More entries than any buffer of these programs ever holds, separators included."""
FENCES: tuple[EditKind, ...] = ("mfence", "sfence")
Model = Literal["tso", "pso"]

Placement = frozenset[tuple[FencePoint, EditKind]]


def with_points(program: Program) -> Program:
    """`program` with a place for a fence behind every transition."""

    def point(process: str, number: int) -> FencePoint:
        return FencePoint(process, f"{number:03d}", NOWHERE, str(number))

    return replace(
        program,
        processes=tuple(
            replace(p, transitions=tuple(replace(t, point=point(p.name, n)) for n, t in enumerate(p.transitions)))
            for p in program.processes
        ),
    )


def outcomes(program: Program, model: ModelName) -> set[tuple[int, ...]]:
    """The values of all registers in final states."""
    question = Safety(final_values=tuple(register for _, register in _registers(program)))
    return {state.values for state in explore(program, spec(model, DEEP), question).final_states}


def _registers(program: Program) -> list[tuple[int, RegisterOf]]:
    return [
        (p, RegisterOf(p, r))
        for p, process in enumerate(program.processes)
        for r, register in enumerate(process.registers)
        if not register.transient
    ]


def forbid(program: Program, bad: Iterable[tuple[int, ...]]) -> Program:
    """`program` with the property that it never ends with one of these values."""
    ended = [
        At(p, frozenset(at for at in range(len(process.locations)) if not any(process.leaving(at))))
        for p, process in enumerate(program.processes)
    ]
    registers = [register for _, register in _registers(program)]
    ways = [
        conjunction(*(Binary("==", register, Const(v)) for register, v in zip(registers, values, strict=True)))
        for values in sorted(bad)
    ]
    return replace(program, properties=(Forbidden(conjunction(*ended, disjunction(*ways)), "drawn"),))


@st.composite
def questions(draw: st.DrawFn, criterion: Criterion, model: Model) -> Program:
    """A program with a property that the memory model breaks: it never ends as it cannot under SC (or TSO)."""
    program = with_points(draw(programs(SHAPE)))
    if criterion != "safety":
        return program
    weaker: ModelName = "tso" if model == "pso" and draw(st.booleans()) else "sc"
    new = sorted(outcomes(program, model) - outcomes(program, weaker))
    assume(new)
    return forbid(program, new if draw(st.booleans()) else [draw(st.sampled_from(new))])


def holds(program: Program, criterion: Criterion, model: Model) -> bool:
    """Decided without reductions."""
    if criterion == "safety":
        explored = explore(program, spec(model, DEEP), goal_of(program, program.properties))
        assert explored.finding is not None or explored.complete
        return explored.finding is None
    if criterion in WEAKER:
        verdict = ask("program orders", Task(program, spec(model), Keeps(Criterion(criterion)))).verdict
        assert verdict.is_conclusive
        return verdict is Verdict.HOLDS
    decided = explore_attacks(program, attack_kind(Criterion(criterion), spec(model)), reductions=frozenset())
    assert decided.attacks or decided.complete
    return not decided.attacks


def sites_of(program: Program) -> list[FencePoint]:
    return [edit.point for edit in find_edits(program, ("mfence",), DEFAULT_COSTS)]


def minimal_sets(program: Program, criterion: Criterion, model: Model) -> set[Placement] | None:
    """Every set that holds and of which no fence can be dropped or made weaker; None if none holds."""
    strengths: list[EditKind] = ["sfence", "mfence"] if model == "pso" else ["mfence"]
    sites = sites_of(program)

    def placed(choice: tuple[int, ...]) -> list[tuple[FencePoint, EditKind]]:
        return [(site, strengths[level - 1]) for site, level in zip(sites, choice, strict=True) if level]

    found: list[tuple[int, ...]] = []
    for choice in sorted(product(range(len(strengths) + 1), repeat=len(sites)), key=sum):
        if any(all(a <= b for a, b in zip(known, choice, strict=True)) for known in found):
            continue
        if holds(insert(program, placed(choice)), criterion, model):
            found.append(choice)
    return {frozenset(placed(choice)) for choice in found} if found else None


def check_program(program: Program, criterion: Criterion, model: Model) -> None:
    expected = minimal_sets(program, criterion, model)
    options = FixOptions(model=model, criterion=criterion, all=True, kinds=FENCES)
    found = choose(program, Criterion(criterion), options)
    if expected is None:
        assert found.verdict is FixVerdict.IMPOSSIBLE
        return
    assert found.verdict is (FixVerdict.ALREADY_HOLDS if frozenset() in expected else FixVerdict.FIXED)
    assert found.are_all and found.is_minimum
    assert {frozenset((e.point, e.kind) for e in edits) for edits in found.sets} == expected
    assert len(found.chosen) == min(map(len, expected))


CASES = [(c, m) for c in ("safety", "persistent", "robust") for m in ("tso", "pso")]
CASES += [(c, "tso") for c in WEAKER]


def check_minimal_sets(criterion: Criterion, model: Model, examples: int, most_sites: int) -> None:
    @given(questions(criterion, model))
    @settings(
        max_examples=examples, deadline=None, phases=(Phase.generate,), derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def agrees(program: Program) -> None:
        # Most random programs need no fence: keep those that say something.
        assume(not holds(program, criterion, model) and len(sites_of(program)) <= most_sites)
        check_program(program, criterion, model)

    agrees()


@pytest.mark.parametrize(("criterion", "model"), CASES)
def test_the_minimal_sets_are_those_of_exhaustive_search(criterion: Criterion, model: Model) -> None:
    check_minimal_sets(criterion, model, 10, FEW_SITES[model])


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_a_fence_behind_the_last_step_is_found_where_the_end_must_not_come_too_early(model: Model) -> None:
    sample = Sample("published", "x y").process("P0", "y := 1", "x := 1")
    early = conjunction(ends(sample.build(), 0), Binary("==", Shared(variable_address(0)), Const(0)))
    program = with_points(sample.build(early, "the end before x is in memory"))
    assert not holds(program, Criterion("safety"), model)
    check_program(program, Criterion("safety"), model)


@pytest.mark.slow
@pytest.mark.parametrize(("criterion", "model"), CASES)
def test_the_minimal_sets_are_those_of_exhaustive_search_on_many_programs(criterion: Criterion, model: Model) -> None:
    check_minimal_sets(criterion, model, 90, MANY_SITES[model])
