"""`riscv.cat` allows what RVWMO's definition by global memory orders allows, and no more; and what C11 promises of a
program without races is kept by the instructions that it becomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from memfence.axiomatic.candidates import candidate
from memfence.axiomatic.code import Code
from memfence.axiomatic.execution import Execution
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.unroll import unroll
from memfence.models.cat.interpreter import judge
from memfence.models.cat.reader import parse
from memfence.program.expressions import TRUE
from memfence.program.ir import Final, Program
from memfence.source import SourceText
from support.engines import observed
from support.generators.litmus_words import code_of, random_text
from support.generators.ordered_programs import ordered_program
from twins import rvwmo
from twins.enumeration import executions, judged_executions

RISCV = models_named("riscv")
QUICK, SLOW = range(160), range(1_000, 3_000)
MOST = 300
"""Executions of a program that are looked at."""


def unrolled(program: Program) -> Code:
    everything = tuple((f"value {n}", expr) for n, (_, expr) in enumerate(observed(program)))
    return unroll(replace(program, properties=(Final("exists", TRUE, "true", everything),)), 1)


def title(model: AxiomaticModel) -> str:
    return model.variant


def every_execution(code: Code, model: AxiomaticModel) -> Iterator[Execution]:
    """With the tags and instructions of the model, but no axiom."""
    anything = replace(model, cat=parse(SourceText("any.cat", "empty 0 as nothing")))
    return executions(code, anything)


def check_text(seeds: range, model: AxiomaticModel) -> tuple[int, int]:
    """How many executions are allowed and forbidden."""
    counts = {True: 0, False: 0}
    for seed in seeds:
        code = code_of(random_text(seed)) if seed % 8 else unrolled(ordered_program(seed))
        for execution in islice(every_execution(code, model), MOST):
            seen = candidate(execution, model)
            expected = rvwmo.is_allowed(seen)
            assert judge(model.cat, seen).is_allowed == expected, f"{seed} {execution.decisions}"
            counts[expected] += 1
    return counts[True], counts[False]


@pytest.mark.parametrize("model", RISCV, ids=title)
def test_the_text_says_what_the_manual_says(model: AxiomaticModel) -> None:
    allowed, forbidden = check_text(QUICK, model)
    assert allowed > 100 and forbidden > 100


@pytest.mark.slow
@pytest.mark.parametrize("model", RISCV, ids=title)
def test_the_text_says_what_the_manual_says_of_2000_programs(model: AxiomaticModel) -> None:
    check_text(SLOW, model)


def ends(code: Code, model: AxiomaticModel) -> set[object]:
    return {(e.registers, e.memory) for e in executions(code, model) if e.ended and not e.failed}


def check_compilation(seeds: range) -> int:
    """How many programs have no race. C11 forbids cycles of `po` and `rf`, as no processor does: they are left out."""
    (rc11,) = models_named("rc11")
    compared = 0
    for seed in seeds:
        code = unrolled(ordered_program(seed))
        judged = list(judged_executions(code, rc11))
        if any(found.judgement.flags for found in judged):
            continue
        compared += 1
        promised = {(e.registers, e.memory) for e in (found.execution for found in judged) if e.ended and not e.failed}
        for model in RISCV:
            text = f"{model.cat.source.text}\nacyclic po | rf as no-thin-air"
            without_cycles = replace(model, cat=parse(SourceText("riscv.cat", text)))
            assert ends(code, without_cycles) <= promised, f"{seed} {model.variant}"
    return compared


def test_instructions_keep_what_c11_promises() -> None:
    assert check_compilation(range(60)) > 15


@pytest.mark.slow
def test_instructions_keep_what_c11_promises_of_2000_programs() -> None:
    check_compilation(SLOW)


def check_strength(seeds: range) -> int:
    """How many programs end as SC does not let them."""
    (sc,) = models_named("sc")
    more = 0
    for seed in seeds:
        code = unrolled(ordered_program(seed))
        sequential = ends(code, sc)
        for model in RISCV:
            found = ends(code, model)
            assert sequential <= found, f"{seed} {model.variant}"
            more += found != sequential
    return more


def test_everything_sequential_is_allowed() -> None:
    assert check_strength(range(40)) > 10


@pytest.mark.slow
def test_everything_sequential_is_allowed_of_2000_programs() -> None:
    check_strength(SLOW)
