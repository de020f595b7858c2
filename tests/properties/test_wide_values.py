"""Values at the edges of 64 bits are values like all others: engines agree, and say what they say of small ones."""

from __future__ import annotations

from typing import get_args

import pytest

from memfence.models.spec import ModelSpec
from memfence.models.steps import modified
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Expr, Register, variable_address
from memfence.program.ir import Assert, Op, Program, Rmw, RmwKind, SharedVar
from memfence.tasks.answer import Verdict
from memfence.tasks.task import Safety, Task
from properties.test_engines_agree import MODELS, check_agreement, check_share, racing_tasks
from support.engines import LIMITS, answers, outcomes_of
from support.generators.racing_programs import racing_program
from support.generators.wide_expressions import WHOLE
from support.generators.wide_values import EDGES, with_values
from twins.reference_search import Outcome, outcomes

X = variable_address(0)
OPERANDS = [WHOLE.lo, -1, 1, 2**32, WHOLE.hi]
KINDS: tuple[RmwKind, ...] = get_args(RmwKind)
BY_MODEL = pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)


def wide_program(seed: int) -> Program:
    return with_values(racing_program(seed))


def relabelled(found: set[Outcome]) -> set[Outcome]:
    def values(of: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(EDGES[value] for value in of)

    return {(tuple(map(values, registers)), values(memory)) for registers, memory in found}


@BY_MODEL
def test_a_program_has_the_same_outcomes_with_wide_values(model: ModelSpec) -> None:
    for seed in range(40):
        assert outcomes_of(wide_program(seed), model) == relabelled(outcomes_of(racing_program(seed), model)), seed


def test_engines_agree_on_wide_values() -> None:
    said = check_agreement(task for seed in range(30) for task in racing_tasks(seed, MODELS, wide_program))
    check_share(said, 8, "auto", "explicit", "symbolic", "dual", "axiomatic")


def updating(kind: RmwKind, before: int, operand: int, *behind: Op) -> Program:
    """One process that updates x, and another one that does so, too."""
    expected = Const(before) if kind == "compare_exchange" else None
    processes = []
    for name in "PQ":
        builder = ProcessBuilder(name, name)
        register = builder.register("r", WHOLE)
        first, last = builder.location(), builder.location()
        builder.emit(first, last, Rmw(register, X, kind, Const(operand), expected), *(behind if name == "P" else ()))
        processes.append(builder.build(first))
    return Program(f"{kind} {before} {operand}", (SharedVar("x", WHOLE, (before,)),), tuple(processes))


@BY_MODEL
@pytest.mark.parametrize("kind", KINDS)
def test_updates_of_wide_values_wrap_as_the_reference_says(kind: RmwKind, model: ModelSpec) -> None:
    for before in OPERANDS:
        for operand in OPERANDS:
            program = updating(kind, before, operand)
            assert outcomes_of(program, model) == outcomes(program, model.definition)


@pytest.mark.parametrize("kind", KINDS)
def test_every_engine_sees_what_an_update_leaves(kind: RmwKind) -> None:
    """The second one to come finds either the first value or what the other left."""
    for before, operand in ((WHOLE.lo, -1), (WHOLE.hi, WHOLE.hi), (2**32, WHOLE.lo)):
        after = WHOLE.fit(modified(kind, before, operand))
        seen: Expr = Binary("||", *(Binary("==", Register(0), Const(value)) for value in (before, after)))
        never: Expr = Binary("!=", Register(0), Const(after))
        expected = {Verdict.HOLDS: [seen], Verdict.VIOLATED: [never] if after != before else []}
        for verdict, conditions in expected.items():
            for condition in conditions:
                program = updating(kind, before, operand, Assert(condition))
                for model in MODELS:
                    found = answers(Task(program, model, Safety(), LIMITS))
                    assert {"auto", "explicit"} <= found.keys()
                    assert {answer.verdict for answer in found.values()} == {verdict}, (program.name, found)
