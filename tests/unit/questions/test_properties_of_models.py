"""Conditions that are asked for by options count under axiomatic models, too."""

from __future__ import annotations

import pytest

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, RegisterOf, variable_address
from memfence.program.ir import Domain, Final, Load, Program, SharedVar, Store
from memfence.program.orders import MemoryOrder
from memfence.questions.models import check_models
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions

BIT = Domain(0, 1)


def one_reader() -> Program:
    reader, writer = ProcessBuilder("reader", "reader"), ProcessBuilder("writer", "writer")
    x = variable_address(0)
    seen = reader.register("r", BIT)
    for process, op in (
        (reader, Load(seen, x, order=MemoryOrder.RELAXED)),
        (writer, Store(x, Const(1), order=MemoryOrder.RELAXED)),
    ):
        start, end = process.location(), process.location()
        process.emit(start, end, op)
    return Program("one reader", (SharedVar("x", BIT),), (reader.build(0), writer.build(0)))


@pytest.mark.parametrize("model", ["rc11", "armv8"])
@pytest.mark.parametrize("value", [0, 1])
def test_a_final_condition_sees_registers_that_the_program_does_not_use(model: str, value: int) -> None:
    other = Final("forall", Binary("!=", RegisterOf(0, 0), Const(value)), "r is something else")
    answers = check_models(one_reader(), [model], CheckOptions(final=(other,))).answers
    assert [answer.verdict for answer in answers] == [Verdict.VIOLATED]
