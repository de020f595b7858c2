"""Fence synthesis against trying every set of fences, on random programs with a place for a fence behind every step."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from generators import Feature, Shape, programs
from memfence.analyses import check
from memfence.analyses.options import CheckOptions, Criterion
from memfence.analyses.result import Verdict
from memfence.frontends import EditKind
from memfence.program.expressions import At, Binary, Const, Expr, RegisterOf, Shared, conjunction, variable_address
from memfence.program.ir import FencePoint, Forbidden, Program
from memfence.source import NOWHERE
from memfence.synthesis.instrument import insert
from memfence.synthesis.options import DEFAULT_COSTS, FixOptions
from memfence.synthesis.result import FixVerdict
from memfence.synthesis.sites import find_edits
from memfence.synthesis.synthesise import choose

FEATURES: frozenset[Feature] = frozenset({"fences", "sfences", "locked", "branches", "waits", "arithmetic", "choices"})
SHAPE = Shape(processes=(2, 3), statements=(2, 4), values=2, features=FEATURES)
FEW_SITES = {"tso": 5, "pso": 4}
MANY_SITES = {"tso": 8, "pso": 6}
FENCES: tuple[EditKind, ...] = ("mfence", "sfence")

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


@st.composite
def conditions(draw: st.DrawFn, program: Program) -> Expr:
    """A state that may be forbidden: locations, registers and memory, so that only some runs reach it."""
    parts: list[Expr] = []
    for p, process in enumerate(program.processes):
        if draw(st.booleans()):
            parts.append(At(p, frozenset({len(process.locations) - 1})))
        for r, register in enumerate(process.registers):
            if not register.transient and draw(st.booleans()):
                parts.append(Binary("==", RegisterOf(p, r), Const(draw(st.integers(0, 1)))))
    for v in range(len(program.variables)):
        if draw(st.integers(0, 3)) == 0:
            parts.append(Binary("==", Shared(variable_address(v)), Const(draw(st.integers(0, 1)))))
    return conjunction(*parts)


def minimal_sets(program: Program, options: FixOptions, most_sites: int) -> set[Placement] | None:
    """Every set that holds and of which no fence can be dropped or made weaker; None if none holds."""
    kinds = FENCES if options.model == "pso" else FENCES[:1]
    sites = [edit.point for edit in find_edits(program, ("mfence",), DEFAULT_COSTS)]
    assume(len(sites) <= most_sites)
    levels: list[tuple[int, ...]] = sorted(product(range(len(kinds) + 1), repeat=len(sites)), key=sum)
    strength = {0: None, len(kinds): "mfence", **({1: "sfence"} if len(kinds) == 2 else {})}
    found: list[tuple[int, ...]] = []
    for choice in levels:
        if any(all(a <= b for a, b in zip(known, choice, strict=True)) for known in found):
            continue
        placed = [(site, strength[level]) for site, level in zip(sites, choice, strict=True) if level]
        result = check(insert(program, placed), options)  # type: ignore[arg-type]
        assert result.verdict in (Verdict.HOLDS, Verdict.VIOLATED)
        if result.verdict is Verdict.HOLDS:
            found.append(choice)
    if not found:
        return None
    return {
        frozenset((site, strength[level]) for site, level in zip(sites, choice, strict=True) if level)  # type: ignore[misc]
        for choice in found
    }


def agree(program: Program, options: FixOptions, most_sites: int) -> None:
    expected = minimal_sets(program, options, most_sites)
    found = choose(program, options.criterion or "safety", options)
    if expected is None:
        assert found.verdict is FixVerdict.IMPOSSIBLE
        return
    assert found.verdict is (FixVerdict.ALREADY_HOLDS if frozenset() in expected else FixVerdict.FIXED)
    assert found.are_all and found.is_minimum
    assert {frozenset((e.point, e.kind) for e in edits) for edits in found.sets} == expected
    assert len(found.chosen) == min(map(len, expected))


@st.composite
def questions(draw: st.DrawFn, criterion: Criterion) -> Program:
    program = with_points(draw(programs(SHAPE)))
    if criterion != "safety":
        return program
    return replace(program, properties=(Forbidden(draw(conditions(program)), "drawn"),))


CASES = [(c, m) for c in ("safety", "persistent", "robust") for m in ("tso", "pso")]


def run(criterion: Criterion, model: str, examples: int, most_sites: int) -> None:
    options = FixOptions(model=model, criterion=criterion, all=True, kinds=FENCES)  # type: ignore[arg-type]

    @given(questions(criterion))
    @settings(
        max_examples=examples, deadline=None, phases=(Phase.generate,), derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def agrees(program: Program) -> None:
        # Most random programs need no fence: keep those that say something.
        assume(check(program, options).verdict is Verdict.VIOLATED)
        if criterion == "safety":
            assume(check(program, CheckOptions(model="sc")).verdict is Verdict.HOLDS)
        agree(program, options, most_sites)

    agrees()


@pytest.mark.parametrize(("criterion", "model"), CASES)
def test_the_minimal_sets_are_those_of_exhaustive_search(criterion: Criterion, model: str) -> None:
    run(criterion, model, 10, FEW_SITES[model])


@pytest.mark.slow
@pytest.mark.parametrize(("criterion", "model"), CASES)
def test_the_minimal_sets_are_those_of_exhaustive_search_on_many_programs(criterion: Criterion, model: str) -> None:
    run(criterion, model, 90, MANY_SITES[model])
