"""Executions enumerated and judged by our cat texts for SC, TSO and PSO: the outcomes are those of the axiomatic twin,
which has its own events and its own axioms in Python (and agrees with the machines that have store buffers)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memfence.axiomatic.code import Code
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.unroll import unroll
from memfence.axiomatic.unrolling.refusal import NotUnrolled
from memfence.models.cat.reader import library_text, parse
from memfence.models.catalogue import NAMES
from memfence.program.expressions import TRUE
from memfence.program.ir import Final, Program
from memfence.source import SourceText
from support.engines import observed
from support.generators.programs import EVERYTHING, Shape, programs
from support.generators.racing_programs import racing_program
from support.sampling import sampled
from twins import axiomatic
from twins.enumeration import executions, outcomes

LOOP_FREE = Shape(processes=(2, 2), statements=(1, 3), features=EVERYTHING - {"loops"} | {"assertions", "errors"})
THREE = replace(LOOP_FREE, processes=(3, 3), statements=(1, 2))


def unrolled(program: Program) -> Code:
    """With a property that looks at every register: what nobody looks at need not be right at the end."""
    everything = tuple((f"value {n}", expr) for n, (_, expr) in enumerate(observed(program)))
    return unroll(replace(program, properties=(Final("exists", TRUE, "true", everything),)), 1)


def check_program(program: Program) -> bool:
    """Whether the program could be compared."""
    try:
        code = unrolled(program)
    except NotUnrolled:
        return False
    expected = axiomatic.outcomes(program)
    for name in axiomatic.MODELS:
        (model,) = models_named(name)
        assert outcomes(code, model) == expected[name], (name, program.name)
    return True


def check_seeds(seeds: range) -> None:
    assert all(check_program(racing_program(seed)) for seed in seeds)


def test_racing_programs_end_as_the_cat_texts_say() -> None:
    check_seeds(range(60))


@sampled(quick=30, slow=2_000, program=programs(LOOP_FREE) | programs(THREE))
def test_programs_of_any_kind_end_as_the_cat_texts_say(program: Program) -> None:
    check_program(program)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 3_000, 500))
def test_many_racing_programs_end_as_the_cat_texts_say(start: int) -> None:
    check_seeds(range(start, start + 500))


def without_filter(model: AxiomaticModel) -> AxiomaticModel:
    """The same model as a user's text: incoherent executions are enumerated, too."""
    text = library_text(model.cat.source.path).text
    cat = parse(SourceText("user.cat", f"{text}\nempty 0 as nothing"))
    return replace(model, cat=cat)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_enumerated_is_not_allowed(name: str) -> None:
    """Our models allow no execution in which one variable by itself is not sequential."""
    for seed in range(15):
        code = unrolled(racing_program(seed))
        model = models_named(name)[0]
        few = {str(found.decisions) for found in executions(code, model)}
        assert few == {str(found.decisions) for found in executions(code, without_filter(model))}
