"""A violation begins with what is wrong, and not with the property that says the opposite."""

from __future__ import annotations

import pytest

from memfence.pipeline import load_text
from memfence.questions import check
from memfence.report.describe.check_data import check_object
from memfence.report.describe.check_text import verdict_line
from memfence.report.words.findings import error_text, finding_text
from memfence.source import SourceText
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult

PROMELA: dict[str, tuple[str, str, str]] = {
    "an assertion": (
        "byte x;\nactive proctype A() { x = 1; assert(x == 0) }\n",
        "assert(x == 0) fails (line 2)",
        "assertions",
    ),
    "an index": (
        "byte a[2]; byte i = 2;\nactive proctype A() { a[i] = 1 }\n",
        "index 2 outside 0..1: `a[i] = 1` (line 2)",
        "no run-time error",
    ),
    "a division": (
        "byte i;\nactive proctype A() { i = 1 / i }\n",
        "division by zero: `i = 1 / i` (line 2)",
        "no run-time error",
    ),
}
DEADLOCKS = {
    "one": (
        "bool go;\nactive proctype A() { go }\nactive proctype B() { skip }\n",
        "DEADLOCK: `A` waits for ever (line 2)",
    ),
    "two": (
        "bool go;\nactive proctype A() { go }\nactive proctype B() { go }\n",
        "DEADLOCK: `A` and `B` wait for ever (lines 2 and 3)",
    ),
    "three": (
        "bool go;\nactive proctype A() { go }\nactive proctype B() { go }\nactive proctype C() { go }\n",
        "DEADLOCK: `A`, `B` and `C` wait for ever (lines 2, 3 and 4)",
    ),
}


PROGRAM = load_text(SourceText("m.pml", "active proctype A() { skip }\n"))


def checked(text: str, path: str = "m.pml", **options: object) -> CheckResult:
    return check(load_text(SourceText(path, text)), CheckOptions(**{"model": "tso", **options}))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", PROMELA)
def test_what_fails_is_said_first_and_the_property_is_kept_in_json(kind: str) -> None:
    text, finding, broken = PROMELA[kind]
    result = checked(text, criterion="safety")
    assert verdict_line(result) == f"m.pml: VIOLATED under tso (safety): {finding}"
    assert (check_object(result)["finding"], check_object(result)["property"]) == (finding, broken)


@pytest.mark.parametrize("kind", DEADLOCKS)
def test_a_deadlock_names_those_who_wait_for_ever(kind: str) -> None:
    text, finding = DEADLOCKS[kind]
    result = checked(text, deadlock=True)
    assert finding_text(result) == finding
    assert check_object(result)["property"] == "no deadlock"


def test_a_data_race_names_its_variable() -> None:
    text = "byte x, y;\nactive proctype A() { x = 1 }\nactive proctype B() { y = x }\n"
    assert finding_text(checked(text, criterion="drf")) == "data race on `x`"


@pytest.mark.parametrize("criterion", ["persistent", "robust", "state-robust"])
def test_a_program_that_is_not_robust_is_said_to_be_none(criterion: str) -> None:
    text = "byte x, y, a, b;\nactive proctype A() { x = 1; a = y }\nactive proctype B() { y = 1; b = x }\n"
    found = finding_text(checked(text, criterion=criterion))
    assert found is not None and found.startswith("NOT ")


def test_a_litmus_test_names_the_outcome_that_is_possible() -> None:
    code = " P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n"
    text = f"X86 SB\n{{ }}\n{code}exists (0:EAX=0 /\\ 1:EAX=0)\n"
    found = finding_text(checked(text, "sb.litmus"))
    assert found is not None and found.startswith("this outcome is possible: exists (0:EAX=0")


def test_a_verdict_that_is_no_violation_has_no_finding() -> None:
    result = checked("byte x;\nactive proctype A() { x = 1; assert(x == 1) }\n", criterion="safety")
    assert finding_text(result) is None and check_object(result)["finding"] is None


@pytest.mark.parametrize("access", ["load", "store", "access"])
def test_the_statement_stands_for_what_the_front_end_calls_an_access(access: str) -> None:
    found = error_text(PROGRAM, f"null pointer dereference: {access}", "p->next")
    assert found == "null pointer dereference: `p->next`"


def test_the_object_of_an_error_is_named_before_the_statement() -> None:
    assert error_text(PROGRAM, "use of freed memory: node", "p->next") == "use of freed memory: `node` in `p->next`"
