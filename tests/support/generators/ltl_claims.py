"""Random questions about the infinite runs of a program: formulas and automata over its places, values and buffers."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from memfence.program.expressions import (
    TRUE,
    Address,
    At,
    Binary,
    BufferEmpty,
    Const,
    Expr,
    Shared,
    negate,
    variable_address,
)
from memfence.program.ir import Ltl, Program, PropertyAutomaton, PropertyEdge
from memfence.questions.ltl.check import Claim
from memfence.questions.ltl.fairness import counterexample_obligation
from memfence.questions.ltl.formula import Atom, Formula, Next, Not, Until, all_of, always, any_of, eventually, implies
from memfence.questions.ltl.parser import Proposition
from memfence.questions.ltl.translate import translate
from memfence.source import NOWHERE
from support.generators.ltl_words import random_formula


def predicate(random: Random, program: Program) -> Expr:
    process = random.randrange(len(program.processes))
    places = range(len(program.processes[process].locations))
    variable = Shared(variable_address(random.randrange(len(program.variables))))
    value = Const(random.randint(0, 2))
    ways: list[Callable[[], Expr]] = [
        lambda: At(process, frozenset(random.sample(places, random.randint(1, max(1, len(places) // 2))))),
        lambda: Binary("==", variable, value),
        lambda: Binary("==", variable, value),
        lambda: BufferEmpty(process),
    ]
    if random.random() < 0.2:  # predicates that cannot be evaluated everywhere: no such element, division by zero
        ways = [
            lambda: Binary("==", Shared(Address(0, len(program.variables), variable)), value),
            lambda: Binary("==", Binary("/", Const(2), variable), value),
        ]
    return random.choice(ways)()


def endless_formula(random: Random) -> Formula:
    """A formula whose answer hangs on the loops of a program, not on its first steps."""
    a, b, c = (random.choice([Atom(n), Not(Atom(n))]) for n in range(3))
    often = [always(eventually(part)) for part in (a, b, c)]
    formulas = [
        often[0],
        eventually(always(a)),
        implies(often[0], often[1]),
        implies(all_of(often[:2]), often[2]),
        Not(all_of(often)),
        always(implies(a, eventually(b))),
        implies(often[2], always(implies(a, eventually(b)))),
        always(any_of((a, Next(Until(b, c))))),
        any_of((eventually(always(a)), eventually(always(b)), eventually(always(c)))),
    ]
    return random.choice([*formulas, random_formula(random, random.randint(2, 9))])


def claim(random: Random, program: Program) -> Claim:
    atoms = tuple(predicate(random, program) for _ in range(3))
    formula = endless_formula(random)
    propositions = tuple(Proposition(f"p{n}", atom) for n, atom in enumerate(atoms))
    obligation = counterexample_obligation(formula, propositions)
    conditions = obligation.conditions(propositions)
    return Claim(Ltl("random", "random"), translate(obligation.formula), atoms, conditions, formula, NOWHERE)


def property_automaton(random: Random, program: Program) -> PropertyAutomaton:
    states = random.randint(1, 3)
    edges = []
    for _ in range(random.randint(2, 6)):
        guard = predicate(random, program)
        guard = random.choice([TRUE, guard, guard, negate(guard)])
        edges.append(PropertyEdge(random.randrange(states), random.randrange(states), guard))
    groups = [frozenset({random.randrange(states)}) for _ in range(random.choice([1, 1, 2]))]
    return PropertyAutomaton("property", tuple(f"s{n}" for n in range(states)), 0, tuple(edges), tuple(groups))
