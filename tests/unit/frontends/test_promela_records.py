"""Promela's `typedef` and `timeout`: what they mean with store buffers, in properties, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import memfence
from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.models.spec import ModelName
from memfence.source import SourceText
from support.command_line import ROOT

MAILBOX = """\
typedef Message { byte data; bool ready };
typedef Box { Message slot[2]; byte used };
Box boxes[2];
active proctype Sender() {
    boxes[1].slot[0].data = 7;
    boxes[1].slot[0].ready = true
}
active proctype Receiver() {
    Message got;
    boxes[1].slot[0].ready;
    got.data = boxes[1].slot[0].data;
    assert(got.data == 7)
}
"""
WATCHDOG = """\
bool go, late;
byte x;
active proctype Worker() { x = 1; go; x = 2 }
active proctype Dog() { timeout -> late = (x == 0); go = true }
"""


def source(text: str) -> SourceText:
    return SourceText("m.pml", text)


@pytest.mark.parametrize(("model", "verdict"), [("sc", "holds"), ("tso", "holds"), ("pso", "violated")])
def test_fields_of_a_record_are_variables_of_their_own(model: str, verdict: str) -> None:
    assert memfence.check(source(MAILBOX), model=model).verdict == verdict


def test_elements_of_records_are_called_as_they_are_written() -> None:
    program = memfence.load_text(source(MAILBOX))
    assert [v.name for v in program.variables[:4]] == [
        "boxes[0].slot[0].data", "boxes[0].slot[1].data", "boxes[1].slot[0].data", "boxes[1].slot[1].data",
    ]  # fmt: skip
    assert [v.name for v in program.variables[-2:]] == ["boxes[0].used", "boxes[1].used"]


@pytest.mark.parametrize(
    "expression",
    ["boxes[1].slot[0].data == 7", "Receiver.got.data == 7", "boxes[1].slot[0].ready && Receiver.got.data"],
)
def test_properties_name_fields(expression: str) -> None:
    assert memfence.check(source(MAILBOX), model="sc", forbid=expression).verdict == "violated"


@pytest.mark.parametrize("expression", ["boxes[1].slot[0].dta == 7", "boxes.used == 1", "boxes[1].slot == 1"])
def test_properties_with_wrong_fields_name_the_right_ones(expression: str) -> None:
    with pytest.raises(InputError) as refused:
        memfence.check(source(MAILBOX), model="sc", forbid=expression)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code is Code.UNKNOWN_VARIABLE and "boxes[" in (diagnostic.hint or "")


@pytest.mark.parametrize(
    "formula", ["[] (boxes[1].slot[0].data < 7)", "<> [] (boxes[1].slot[0].data == 0)", "[] (Receiver:got.data == 0)"]
)
def test_formulas_name_fields(formula: str) -> None:
    assert memfence.check(source(f"{MAILBOX}\nltl p {{ {formula} }}"), model="sc").verdict == "violated"


def test_an_index_that_is_too_large_does_not_mean_another_element() -> None:
    text = """\
        typedef Row { byte cell[2] };
        Row rows[2];
        active proctype P() { byte i; do :: i < 3 -> i++ :: break od; rows[0].cell[i] = 1 }
    """
    assert memfence.check(source(text), model="sc").verdict == "violated"


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_timeout_waits_until_nothing_is_pending(model: str) -> None:
    result = memfence.check(source(WATCHDOG), model=model, final="x == 2 && !late")
    assert result.verdict == "holds"
    assert memfence.check(source(WATCHDOG), model=model, forbid="Dog@end && x == 0").verdict == "holds"


def test_timeout_in_a_formula() -> None:
    stuck = "bool go; active proctype P() { go }"
    assert memfence.check(source(stuck + " ltl p { [] !timeout }"), model="tso").verdict == "violated"
    assert memfence.check(source(stuck.replace("{ go", "{ skip; do :: go = !go od") + " ltl p { [] !timeout }")
                          , model="sc").verdict == "holds"  # fmt: skip


STUCK = "bool go; active proctype P() { go } active proctype Q() { skip }"


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_timeout_and_the_count_of_processes_are_known_to_options(model: ModelName) -> None:
    def verdict(text: str, **asked: Any) -> str:
        return str(memfence.check(source(text), model=model, **asked).verdict.value)

    moving = STUCK.replace("{ go }", "{ do :: skip od }")
    assert verdict(STUCK, forbid="timeout") == verdict(STUCK, ltl="[] !timeout") == "violated"
    assert verdict(moving, invariant="!timeout") == verdict(moving, ltl="[] !timeout") == "holds"
    assert verdict(STUCK, invariant="_nr_pr > 0") == verdict(STUCK, ltl="[] (_nr_pr > 0)") == "holds"
    assert verdict(STUCK, forbid="_nr_pr == 1") == verdict(STUCK, ltl="[] (_nr_pr == 2)") == "violated"
    assert verdict(STUCK + " ltl p { <>[] (timeout && _nr_pr == 1) }") == "holds"


def test_timeout_is_no_word_of_other_languages() -> None:
    with pytest.raises(InputError, match="unknown shared variable `timeout`"):
        memfence.check(ROOT / "examples/store_buffering.litmus", forbid="timeout")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("typedef T { byte a }; T t; active proctype P() { t = 1 }", Code.TYPE_MISMATCH),
        ("typedef T { byte a }; T t; active proctype P() { t.b = 1 }", Code.UNKNOWN_VARIABLE),
        ("byte t; active proctype P() { t.b = 1 }", Code.UNKNOWN_VARIABLE),
        ("typedef T { byte a }; T t[2]; active proctype P() { t.a = 1 }", Code.TYPE_MISMATCH),
        ("typedef T { byte a }; T t[2]; active proctype P() { t[2].a = 1 }", Code.BAD_ADDRESS),
        ("typedef T { byte a }; T t = 1; active proctype P() { t.a = 1 }", Code.TYPE_MISMATCH),
        ("typedef T { byte a }; typedef T { bit b }; active proctype P() { skip }", Code.DUPLICATE),
        ("typedef T { byte a[4000]; byte b[4000] }; T t; active proctype P() { skip }", Code.TOO_LARGE),
        ("typedef T { byte a }; proctype P(T t) { skip } init { run P(1) }", Code.UNSUPPORTED),
        ("typedef T { byte a }; active proctype P() { skip; T t; t.a = 1 }", Code.UNSUPPORTED),
        ("typedef T { T a }; T t; active proctype P() { skip }", Code.RECURSION),
        (
            "typedef A { byte a[99] }; typedef B { A a[99]; A b[99] }; B b[99]; active proctype P() { skip }",
            Code.TOO_LARGE,
        ),
        ("typedef T { }; active proctype P() { skip }", Code.SYNTAX),
        ("typedef", Code.SYNTAX),
        ("byte x; active proctype P() { atomic { x = 1; timeout } }", Code.UNSUPPORTED),
    ],
)
def test_what_is_wrong_is_said_with_a_code(text: str, code: Code) -> None:
    with pytest.raises(InputError) as refused:
        memfence.load_text(source(text))
    assert [d.code for d in refused.value.diagnostics][:1] == [code]
