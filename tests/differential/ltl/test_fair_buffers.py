"""Proofs of temporal properties for buffers of any length, against brute force over growing bounds.

What is proved must hold within every bound, by the definition of the memory model as well as by the native search; and
what buffers that forget can do must be all that buffers can do: each of its parts is left out once, and is missed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from memfence.engines.fair_buffers import FairBuffersEngine
from memfence.models.fairness import Fairness, memory_fairness, process_fairness
from memfence.models.spec import PSO, TSO, ModelSpec
from memfence.passes.fair_buffers import FairBuffers as Buffers
from memfence.pipeline import load
from memfence.program import ir
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, At, Binary, Const, Expr, Register, variable_address
from memfence.program.ir import Domain, Ltl, Program
from memfence.questions import check
from memfence.questions.ltl.check import Claim, claim_of_formula, decide, task_of
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import Closure, Fixpoint
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions
from support.generators.cyclic_programs import cyclic_program
from support.generators.ltl_claims import claim
from twins.emptiness import TooLarge, has_accepted_run

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MOST_STATES = 3_000


def question(seed: int) -> tuple[Program, Claim, ModelSpec, Fairness]:
    random = Random(f"fair buffers {seed}")
    program = cyclic_program(random.randrange(10**6), ordered=seed % 4 == 0)
    asked, model = claim(random, program), random.choice([TSO, PSO])
    return program, asked, model, Fairness.WEAK if random.random() < 0.7 else Fairness.NONE


def is_proved(program: Program, asked: Claim, model: ModelSpec, fair: Fairness) -> bool:
    engine = FairBuffersEngine()
    task = task_of(program, asked, model, fairness=fair, limits=Limits(timeout_seconds=20))
    if engine.obstacle(task) is not None:
        return False
    answer = engine.answer(task)
    assert answer.verdict in (Verdict.HOLDS, Verdict.UNKNOWN)
    assert answer.verdict is not Verdict.HOLDS or answer.evidence == Fixpoint(Closure.SETS, fair)
    return answer.verdict is Verdict.HOLDS


def bounds(model: ModelSpec, most: int) -> Iterator[ModelSpec]:
    for bound in range(1, most + 1):
        yield model.bounded(bound)
        if not model.reorders_stores:
            yield model.bounded(bound, per_variable=True)


def is_refuted(program: Program, asked: Claim, model: ModelSpec, fair: Fairness) -> bool:
    """Whether a run with up to four pending stores in a buffer refutes it."""
    limits = Limits(most_states=100_000)
    return any(
        decide(program, asked, bounded, fairness=fair, limits=limits).verdict is Verdict.VIOLATED
        for bounded in bounds(model, 4)
    )


def is_refuted_slowly(program: Program, asked: Claim, model: ModelSpec, fair: Fairness) -> bool:
    """The same, straight from the definition, for small products and up to two pending stores."""
    conditions = (*asked.recurring, *memory_fairness(program, model.definition))
    conditions += process_fairness(program, fair)
    try:
        return any(
            has_accepted_run(program, bounded.definition, asked.automaton, asked.atoms, conditions, MOST_STATES)
            for bounded in bounds(model, 2)
        )
    except TooLarge:
        return False


def check_seeds(seeds: range, *, slowly: bool = False) -> Counter[tuple[bool, bool]]:
    said: Counter[tuple[bool, bool]] = Counter()
    for seed in seeds:
        asked = question(seed)
        proved, refuted = is_proved(*asked), is_refuted(*asked)
        assert not (proved and refuted), seed
        assert not (proved and slowly and is_refuted_slowly(*asked)), seed
        said[proved, refuted] += 1
    return said


def test_what_is_proved_holds_within_every_bound() -> None:
    said = check_seeds(range(120), slowly=True)
    assert said[True, False] > 30 and said[False, True] > 30


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10_000, 12_000, 200))
def test_two_thousand_proofs_stand(start: int) -> None:
    assert check_seeds(range(start, start + 200), slowly=start % 1_000 == 0)


# What may happen for ever, and what must not be asked of it: with each of these bugs something wrong is proved.


def is_empty_again(self: Buffers, variable: int) -> Expr:
    return Binary("==", self.is_full(variable), Const(0))


PLANTED = {"a buffer is empty again and again": ("has_settled", is_empty_again)}


@pytest.mark.parametrize("bug", PLANTED)
def test_planted_bugs_are_found(monkeypatch: pytest.MonkeyPatch, bug: str) -> None:
    name, wrong = PLANTED[bug]
    monkeypatch.setattr(Buffers, name, wrong)
    asked = (question(seed) for seed in range(3_000))
    assert any(is_proved(*one) and is_refuted(*one) for one in asked)


def after_the_end(stores: list[tuple[int, int]], seen: list[int]) -> Program:
    """P stores values to variables, in this order; once it has ended, Q takes from variable 0 what is `seen` there."""
    storing, taking = ProcessBuilder("P", "P"), ProcessBuilder("Q", "Q")
    found = taking.scratch(0, Domain(0, 2))
    for _ in range(len(stores) + 1):
        storing.location()
    for n, (variable, value) in enumerate(stores):
        storing.emit(n, n + 1, ir.Store(variable_address(variable), Const(value)))
    taking.location()
    for n, value in enumerate(seen):
        over = (ir.Assume(At(0, frozenset({len(stores)}))), ir.Load(found, variable_address(0)))
        is_seen = ir.Assume(Binary("==", Register(found), Const(value)))
        taking.emit(n, taking.location(), *over, is_seen, ir.Store(variable_address(0), Const(0)), locked=True)
    variables = (ir.SharedVar("x", Domain(0, 2)), ir.SharedVar("y", Domain(0, 2)))
    return Program("after the end", variables, (storing.build(0), taking.build(0)))


def keeping_its_place(self: Buffers, address: Address) -> list[ir.Op]:
    return [op for op in COMES_LAST(self, address) if not (isinstance(op, ir.Store) and op.value == Const(0))]


def committing_once(self: Buffers, address: Address, value: int) -> list[tuple[ir.Op, ...]]:
    return list(COMMITS(self, address, value))[1:]


COMES_LAST, COMMITS = Buffers.comes_last, Buffers.commits_of_older
HAND_MADE = {
    "what was stored again keeps its place": ([(0, 1), (1, 1), (0, 2)], [0], "comes_last", keeping_its_place),
    "an older value commits once": ([(0, 1), (0, 1), (0, 1)], [0, 1, 1, 1], "commits_of_older", committing_once),
}


@pytest.mark.parametrize("bug", HAND_MADE)
def test_bugs_that_need_many_pending_stores_are_found(monkeypatch: pytest.MonkeyPatch, bug: str) -> None:
    stores, seen, name, wrong = HAND_MADE[bug]
    program = after_the_end(stores, seen)
    asked = claim_of_formula(Ltl("ltl", f"G !Q@l{len(seen)}"), program, {})
    assert is_refuted(program, asked, TSO, fair=Fairness.WEAK) and not is_proved(
        program, asked, TSO, fair=Fairness.WEAK
    )
    monkeypatch.setattr(Buffers, name, wrong)
    assert is_proved(program, asked, TSO, fair=Fairness.WEAK)


# Examples


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_peterson_lets_everybody_in_with_buffers_of_any_length(model: str) -> None:
    program = load(EXAMPLES / "dve" / "peterson.dve")
    options = CheckOptions(model=model, ltl=Ltl("ltl", "G (P@wait -> F P@cs)"), fair=True)
    result = check(program, options)
    assert result.verdict is Verdict.HOLDS and result.evidence == Fixpoint(Closure.SETS, Fairness.WEAK)
    assert check(program, CheckOptions(model=model, ltl=options.ltl, fair=True, buffer_bound=1)).bound == 1
