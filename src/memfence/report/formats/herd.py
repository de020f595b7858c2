"""Results of litmus tests in the words of herd7, so that scripts made for it keep working.

`Positive` and `Negative` count final states: those for and against the test's quantified condition, hence swapped for
`~exists`, as in herd; `Observation` counts those that satisfy the proposition inside.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from memfence.program.expressions import Expr, evaluate
from memfence.program.ir import Final
from memfence.tasks.answer import Verdict
from memfence.tasks.result import CheckResult

Observation = Literal["Never", "Sometimes", "Always"]

_LITMUS = ("litmus", "aarch64", "clitmus")
_KIND = {"exists": "Allowed", "not exists": "Forbidden", "forall": "Required"}


def herd_report(result: CheckResult) -> str:
    """The block that scripts for herd7 look for, where a litmus test was decided; else nothing."""
    condition = next((p for p in result.program.properties if isinstance(p, Final)), None)
    is_known = result.verdict is not Verdict.UNKNOWN  # what was not seen is not "Never"
    if result.program.language not in _LITMUS or condition is None or result.final_states is None or not is_known:
        return ""
    return herd_block(result.program.name, condition, [values for values, _ in result.final_states])


def herd_block(name: str, condition: Final, states: Collection[tuple[int, ...]]) -> str:
    """The report on the test `name` whose final states, over `condition.observed`, are exactly `states`."""
    positive, negative = count_states(condition, states)
    witnesses = (negative, positive) if condition.quantifier == "not exists" else (positive, negative)
    lines = [
        f"Test {name} {_KIND[condition.quantifier]}",
        f"States {len(states)}",
        *(show_state(condition, state) for state in sorted(states)),
        "Ok" if is_validated(condition, states) else "No",
        "Witnesses",
        f"Positive: {witnesses[0]} Negative: {witnesses[1]}",
        f"Condition {condition.text}",
        f"Observation {name} {observation(condition, states)} {positive} {negative}",
    ]
    return "\n".join(lines) + "\n\n"


def show_state(condition: Final, state: tuple[int, ...]) -> str:
    """`0:EAX=0; [x]=1;`"""
    return " ".join(f"{name}={value};" for (name, _), value in zip(condition.observed, state, strict=True))


def count_states(condition: Final, states: Collection[tuple[int, ...]]) -> tuple[int, int]:
    """How many of the states satisfy the proposition, and how many do not."""
    positive = sum(satisfies(condition, state) for state in states)
    return positive, len(states) - positive


def observation(condition: Final, states: Collection[tuple[int, ...]]) -> Observation:
    """Whether the proposition holds in none, in some but not all, or in all of the states."""
    positive, negative = count_states(condition, states)
    if positive == 0:
        return "Never"
    return "Always" if negative == 0 else "Sometimes"


def is_validated(condition: Final, states: Collection[tuple[int, ...]]) -> bool:
    """Whether the states agree with the quantifier: herd's `Ok`."""
    positive, negative = count_states(condition, states)
    return {"exists": positive > 0, "not exists": positive == 0, "forall": negative == 0}[condition.quantifier]


def satisfies(condition: Final, state: tuple[int, ...]) -> bool:
    """Whether the proposition holds where the observed expressions have these values."""
    values: Mapping[Expr, int] = {expr: value for (_, expr), value in zip(condition.observed, state, strict=True)}
    return evaluate(condition.expr, lambda leaf, _: values[leaf]) != 0
