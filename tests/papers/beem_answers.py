"""BEEM's questions, asked of the native engines under SC: how many states, what is reachable, which formulas hold."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import assert_never

from beem import Answer as Known
from beem import Instance, property_of

from memfence.engines.native.explicit import Explored, explore
from memfence.program.expressions import Const, Expr, Unary, conjunction, disjunction
from memfence.program.ir import Ltl, Program
from memfence.questions.ltl.check import claim_of_formula, decide
from memfence.questions.ltl.formula import And, Atom, Formula, Next, Not, Or, Release, Truth, Until
from memfence.questions.ltl.parser import parse_formula
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import Safety
from support.models import spec

SC = spec("sc")


@dataclass(frozen=True, slots=True)
class Answered:
    """What was asked, what DiVinE said, what memfence says, and what it took.

    `length`: the steps of the run that shows it, replayed by the reference model; 0 where there is none to show.
    `states`: of the search, or of the product with the automaton.
    """

    question: str
    expected: str
    answer: str
    length: int
    states: int
    seconds: float

    @property
    def agrees(self) -> bool:
        return self.answer == self.expected


def count_states(instance: Instance, threads: int = 1) -> Answered:
    """How many states are reachable, reductions off."""
    before = time.process_time()
    found = searched(instance.load(), None, threads)
    took = time.process_time() - before
    states = found.cost.states
    return Answered("states", f"{instance.states}", f"{states}", 0, states, took)


def answer(instance: Instance, known: Known, threads: int = 1) -> Answered:
    """Ask about one property; a run that answers it has been replayed."""
    before = time.process_time()
    if known.is_ltl:
        emptiness = decided(instance, known.number)
        yes, cost, run = emptiness.trace is None, emptiness.cost, emptiness.trace
        length = 0 if run is None else len(run.steps)
    else:
        explored = reached(instance, known.number, threads)
        yes, cost = explored.finding is not None, explored.cost
        length = len(explored.trace().steps) if yes else 0
    took = time.process_time() - before
    question = f"{'LTL' if known.is_ltl else 'reach'} {known.number}"
    return Answered(question, _word(known.is_yes), _word(yes), length, cost.states, took)


def reached(instance: Instance, number: int, threads: int = 1) -> Explored:
    program, goal = instance.load(), property_of(instance, number)
    parsed = parse_formula(goal.formula, program, as_predicates(goal.definitions))
    wanted = as_expression(parsed.formula, tuple(atom.expr for atom in parsed.atoms))
    return searched(program, wanted, threads)


def decided(instance: Instance, number: int) -> Answer:
    """Whether the formula holds; the lasso of one that does not was checked by the definition of LTL."""
    program, stated = instance.load(), property_of(instance, number)
    claim = claim_of_formula(Ltl("ltl", stated.formula), program, as_predicates(stated.definitions))
    found = decide(program, claim, SC, limits=Limits())
    assert found.verdict is not Verdict.UNKNOWN, f"{instance.name}: stopped by {found.stop}"
    return found


def searched(program: Program, bad: Expr | None, threads: int) -> Explored:
    found = explore(program, SC, Safety(bad=bad, failures=False), limits=Limits(threads=threads))
    assert found.stop in (Stop.NOTHING_LEFT, Stop.FOUND), f"{program.name}: stopped by {found.stop}"
    return found


def as_predicates(definitions: dict[str, str]) -> dict[str, str]:
    """DVE's `process->variable` in the spelling of memfence's predicates."""
    return {name: meaning.replace("->", ".") for name, meaning in definitions.items()}


def as_expression(formula: Formula, atoms: tuple[Expr, ...]) -> Expr:
    """A formula without temporal operators, as the expression that it is."""
    match formula:
        case Truth(value):
            return Const(int(value))
        case Atom(number):
            return atoms[number]
        case Not(operand):
            return Unary("!", as_expression(operand, atoms))
        case And(parts):
            return conjunction(*(as_expression(part, atoms) for part in parts))
        case Or(parts):
            return disjunction(*(as_expression(part, atoms) for part in parts))
        case Next() | Until() | Release():
            raise AssertionError("a reachability property has no temporal operators")
        case _:
            assert_never(formula)


def _word(yes: bool) -> str:
    return "yes" if yes else "no"
