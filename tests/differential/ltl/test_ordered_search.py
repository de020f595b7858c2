"""Partial-order reduction of the search for infinite runs: the answer of the search without, in fewer states.

`test_emptiness.py` compares both with the slow twin, on programs that are small enough for it.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from memfence.engines.native.emptiness import SAFE_REDUCTIONS, find_accepted_run
from memfence.models.fairness import Fairness
from memfence.models.spec import ModelName, ModelSpec
from memfence.pipeline import load_text
from memfence.program.ir import Ltl, Program
from memfence.questions import check
from memfence.questions.ltl.check import task_of
from memfence.questions.ltl.formula import is_stutter_invariant
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions
from memfence.tasks.task import ALL_REDUCTIONS, NoAcceptedRun
from support.generators.cyclic_programs import cyclic_program
from support.generators.ltl_claims import claim
from support.models import spec

MEMORIES = (spec("sc"), spec("tso", 1, True), spec("tso", 2, True), spec("tso", 3), spec("pso", 1), spec("pso", 2))
FAIR = (Fairness.NONE, Fairness.WEAK)


def compared(seeds: range, model: ModelSpec) -> Counter[str]:
    """How many runs were found, and how many states there were with and without."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        random = Random(f"ordered {model.name} {seed}")
        program = cyclic_program(random.randrange(10**6))
        stated = claim(random, program)
        if stated.formula is None or not is_stutter_invariant(stated.formula):
            continue
        goal = task_of(program, stated, model, fairness=random.choice(FAIR), limits=Limits()).goal
        assert isinstance(goal, NoAcceptedRun) and goal.stutters
        whole = find_accepted_run(program, model, goal, reductions=SAFE_REDUCTIONS)
        ordered = find_accepted_run(program, model, goal, reductions=SAFE_REDUCTIONS | {"order"})
        assert (whole.lasso is None) == (ordered.lasso is None), f"{program.name} {stated}"
        seen["found"] += whole.lasso is not None
        seen["none"] += whole.lasso is None
        if whole.lasso is None:
            assert whole.refused or not ordered.refused
            seen["whole"] += whole.cost.states
            seen["ordered"] += ordered.cost.states
    return seen


def check_share(seen: Counter[str]) -> None:
    assert min(seen["found"], seen["none"]) * 5 >= seen["found"] + seen["none"]
    assert seen["ordered"] < seen["whole"]


@pytest.mark.parametrize("model", MEMORIES, ids=str)
def test_the_answer_is_that_of_the_search_without(model: ModelSpec) -> None:
    check_share(compared(range(200), model))


@pytest.mark.slow
@pytest.mark.parametrize("model", MEMORIES, ids=str)
def test_the_answer_is_that_of_the_search_without_on_many_programs(model: ModelSpec) -> None:
    check_share(compared(range(1_000, 3_000), model))


# The conditions, one by one.

WAITS = "byte x;\nactive proctype P() { x = 1 }\nactive proctype Q() { do :: skip od }\n"
FAILS = "byte x;\nactive proctype P() { assert(false) }\nactive proctype Q() { do :: x = 1 - x od }\n"
COUNTED = "byte x;\nactive proctype P() { byte b; b = 1; b = 2; b = 3 }\nactive proctype Q() { x = 1 }\n"
LOCAL = """byte x;
active [2] proctype P() { byte a; do :: a = 1; a = 2; a = 3; x = 1 - x od }
"""


def asked(
    text: str, formula: str, *, model: ModelName = "tso", fair: bool = False, reduce: tuple[str, ...] = ALL_REDUCTIONS
) -> Verdict:
    """Of the formula alone: assertions are another question."""
    bound = None if model == "sc" else 1
    options = CheckOptions(model=model, ltl=Ltl("ltl", formula), fair=fair, buffer_bound=bound, reduce=reduce)
    return check(load_text(SourceText("t.pml", text)), options).verdict


def test_a_process_that_need_not_move_need_not_store() -> None:
    assert asked(WAITS, "<> (x == 1)") is Verdict.VIOLATED
    assert asked(WAITS, "<> (x == 1)", fair=True) is Verdict.HOLDS


def test_a_step_that_fails_does_not_end_the_others() -> None:
    assert asked(FAILS, "<> [] (x == 0)") is Verdict.VIOLATED


@pytest.mark.parametrize("fair", [False, True])
@pytest.mark.parametrize("formula", ["[] <> (x == 1)", "[] (x <= 1)"])
def test_steps_that_nobody_sees_come_first(formula: str, fair: bool) -> None:
    program: Program = load_text(SourceText("t.pml", f"{LOCAL}ltl p {{ {formula} }}\n"))
    results = {
        reduce: check(program, CheckOptions(fair=fair, buffer_bound=1, reduce=reduce))
        for reduce in (("dead",), ("dead", "order"))
    }
    whole, ordered = results.values()
    assert whole.verdict is ordered.verdict
    if whole.verdict is not Verdict.VIOLATED:
        assert 2 * ordered.stats.states < whole.stats.states


def test_a_formula_that_counts_steps_is_not_reduced() -> None:
    for reduce in (("dead",), ("dead", "order")):
        assert asked(COUNTED, "X (x == 0)", model="sc", reduce=reduce) is Verdict.VIOLATED
