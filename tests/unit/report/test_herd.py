"""Reports on litmus tests in the words of herd7."""

from __future__ import annotations

import pytest

from memfence.program.expressions import Binary, Const, RegisterOf, Shared, variable_address
from memfence.program.ir import Final
from memfence.report.formats.herd import herd_block

EAX, X = RegisterOf(0, 0), Shared(variable_address(0))
PROPOSITION = Binary("&&", Binary("==", EAX, Const(0)), Binary("==", X, Const(1)))
OBSERVED = (("0:EAX", EAX), ("[x]", X))


def block(quantifier: str, states: set[tuple[int, ...]]) -> list[str]:
    prefix = {"exists": "exists", "not exists": "~exists", "forall": "forall"}[quantifier]
    condition = Final(quantifier, PROPOSITION, f"{prefix} (0:EAX=0 /\\ [x]=1)", OBSERVED)  # type: ignore[arg-type]
    return herd_block("T", condition, states).splitlines()


def test_the_whole_block() -> None:
    assert block("exists", {(1, 1), (0, 1), (0, 0)}) == [
        "Test T Allowed",
        "States 3",
        "0:EAX=0; [x]=0;",
        "0:EAX=0; [x]=1;",
        "0:EAX=1; [x]=1;",
        "Ok",
        "Witnesses",
        "Positive: 1 Negative: 2",
        "Condition exists (0:EAX=0 /\\ [x]=1)",
        "Observation T Sometimes 1 2",
        "",
    ]


@pytest.mark.parametrize(
    ("quantifier", "states", "kind", "answer", "witnesses", "observed"),
    [
        ("exists", {(1, 1)}, "Allowed", "No", "Positive: 0 Negative: 1", "Never 0 1"),
        ("not exists", {(1, 1)}, "Forbidden", "Ok", "Positive: 1 Negative: 0", "Never 0 1"),
        ("not exists", {(0, 1), (1, 1), (2, 1)}, "Forbidden", "No", "Positive: 2 Negative: 1", "Sometimes 1 2"),
        ("forall", {(0, 1)}, "Required", "Ok", "Positive: 1 Negative: 0", "Always 1 0"),
        ("forall", {(0, 1), (1, 1)}, "Required", "No", "Positive: 1 Negative: 1", "Sometimes 1 1"),
    ],
)
def test_what_the_quantifier_makes_of_the_states(
    quantifier: str, states: set[tuple[int, ...]], kind: str, answer: str, witnesses: str, observed: str
) -> None:
    lines = block(quantifier, states)
    assert lines[0] == f"Test T {kind}"
    assert lines[len(states) + 2 : len(states) + 5] == [answer, "Witnesses", witnesses]
    assert lines[-2] == f"Observation T {observed}"
