"""First values of registers that are written before they are read: they count where a property looks at them."""

from __future__ import annotations

import pytest

from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.passes.unset_registers import with_first_values
from memfence.pipeline import load_text
from memfence.program.ir import Forbidden, Ltl, Program
from memfence.program.text.properties import parse_expression
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.tasks.task import ALL_REDUCTIONS


def program(register: str) -> Program:
    text = f"data x = 0 : [0:1] process registers $r = {register} text read: $r := x; B: nop"
    return load_text(SourceText("any.rmm", text))


def forbid(loaded: Program, text: str, reductions: tuple[str, ...] = ALL_REDUCTIONS) -> Verdict:
    stated = Forbidden(parse_expression(text, loaded, "--forbid"), text)
    return check(loaded, CheckOptions(model="tso", forbid=(stated,), reduce=reductions)).verdict


@pytest.mark.parametrize("reductions", [(), ALL_REDUCTIONS], ids=["plain", "reduced"])
@pytest.mark.parametrize(
    ("register", "values"), [("* : [0:3]", {0, 1, 2, 3}), ("* : [2:3]", {2, 3}), ("1 : [0:3]", {0, 1})]
)
def test_a_property_sees_every_first_value(register: str, values: set[int], reductions: tuple[str, ...]) -> None:
    loaded = program(register)
    seen = {n for n in range(5) if forbid(loaded, f"P0.$r == {n}", reductions) is Verdict.VIOLATED}
    assert seen == values


@pytest.mark.parametrize(("value", "verdict"), [(3, Verdict.VIOLATED), (4, Verdict.HOLDS)])
def test_so_does_a_formula(value: int, verdict: Verdict) -> None:
    stated = Ltl("ltl", f"[] P0.$r != {value}")
    assert check(program("* : [0:3]"), CheckOptions(model="sc", ltl=stated)).verdict is verdict


def test_one_value_is_enough_where_nothing_looks() -> None:
    loaded = program("* : [5:1000]")
    assert loaded.processes[0].registers[0].init == (5,)
    elsewhere = parse_expression("x == 1 && P0@B", loaded, "--forbid")
    assert with_first_values(loaded, [elsewhere]) is loaded


@pytest.mark.parametrize(("register", "code"), [("*", Code.UNSUPPORTED), ("* : [0:5000]", Code.TOO_LARGE)])
def test_too_many_values_are_refused_where_something_looks(register: str, code: Code) -> None:
    loaded = program(register)
    assert forbid(loaded, "P0@B && x == 1") is Verdict.HOLDS
    with pytest.raises(InputError) as caught:
        forbid(loaded, "P0.$r == 1")
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [code]
