"""BEEM's known answers, on the reference model: what is small enough for it. The native engine does the rest."""

from __future__ import annotations

from functools import cache

import pytest
from beem import Answer, Instance, load, property_of, small_instances

from memfence.frontends.dve.lowering import parse_state_expression
from memfence.models.sc import Sc
from memfence.models.state import State
from memfence.models.steps import evaluate_in, starts
from memfence.program.ir import PropertyAutomaton
from memfence.program.validate import validate
from memfence.questions.ltl.formula import Not
from memfence.questions.ltl.parser import parse_formula
from memfence.questions.ltl.translate import translate
from support.corpus import corpus_files, needs_corpus
from twins.emptiness import following, has_accepted_run, has_run_of_property
from twins.reference_search import breadth_first

pytestmark = needs_corpus

ALWAYS = 800
"""Instances with more states are tested by `make test-all` only."""


def sized(most_states: int) -> list[object]:
    slow = pytest.mark.slow
    return [
        pytest.param(instance, id=instance.name, marks=() if instance.states <= ALWAYS else slow)
        for instance in small_instances(most_states)
    ]


def asked(most_states: int, *, ltl: bool) -> list[object]:
    return [
        pytest.param(
            instance,
            answer,
            id=f"{instance.name}-{answer.number}",
            marks=() if instance.states <= ALWAYS else pytest.mark.slow,
        )
        for instance in small_instances(most_states)
        for answer in instance.answers
        if answer.is_ltl == ltl
    ]


@cache
def reachable(instance: Instance) -> frozenset[State]:
    program, model = instance.load(), Sc()
    return frozenset(breadth_first(starts(program, model), lambda state: following(program, model, state)))


@pytest.mark.parametrize("family", sorted({path.parent.name for path in corpus_files("beem/*/*.dve")}))
def test_every_model_is_read_and_valid(family: str) -> None:
    for path in corpus_files(f"beem/{family}/*.dve"):
        program = load(path)
        validate(program)
        assert program.notes == (), f"{path.name} has an expression of doubtful precedence"
        assert len([p for p in program.properties if isinstance(p, PropertyAutomaton)]) == path.name.count("prop")


@pytest.mark.parametrize("instance", sized(3000))
def test_the_number_of_states_is_the_known_one(instance: Instance) -> None:
    assert len(reachable(instance)) == instance.states


@pytest.mark.parametrize(("instance", "answer"), asked(3000, ltl=False))
def test_reachability_is_the_known_one(instance: Instance, answer: Answer) -> None:
    program, goal = instance.load(), property_of(instance, answer.number)
    parsed = parse_formula(goal.formula, program, _as_predicates(goal.definitions))
    atoms = [atom.expr for atom in parsed.atoms]
    automaton = translate(parsed.formula)

    def satisfies(state: State) -> bool:
        valuation = sum(bool(evaluate_in(program, state, 0, atom)) << n for n, atom in enumerate(atoms))
        return any(edge.allows(valuation) for edge in automaton.edges[automaton.initial])

    assert any(satisfies(state) for state in reachable(instance)) == answer.is_yes


@pytest.mark.parametrize(("instance", "answer"), asked(3000, ltl=True))
def test_the_answer_to_an_ltl_property_is_the_known_one(instance: Instance, answer: Answer) -> None:
    program, stated = instance.load(), property_of(instance, answer.number)
    parsed = parse_formula(stated.formula, program, _as_predicates(stated.definitions))
    atoms = tuple(atom.expr for atom in parsed.atoms)
    assert has_accepted_run(program, Sc(), translate(Not(parsed.formula)), atoms) != answer.is_yes


@pytest.mark.parametrize(("instance", "answer"), asked(3000, ltl=True))
def test_the_property_process_gives_the_known_answer(instance: Instance, answer: Answer) -> None:
    path = instance.variant(answer.number)
    if not path.exists():
        pytest.skip("no variant with a property process")
    program = load(path)
    (automaton,) = (p for p in program.properties if isinstance(p, PropertyAutomaton))
    assert has_run_of_property(program, Sc(), automaton) != answer.is_yes


def test_a_macro_is_unrolled_for_the_parameters_of_the_instance() -> None:
    (peterson,) = (i for i in small_instances(20_000) if i.name == "peterson.1")
    collision = property_of(peterson, 1).definitions["collision"]
    assert parse_state_expression(peterson.load(), collision) == parse_state_expression(
        peterson.load(), "P_0.CS + P_1.CS + P_2.CS > 1"
    )


def _as_predicates(definitions: dict[str, str]) -> dict[str, str]:
    """DVE's `process->variable` in the spelling of memfence's predicates."""
    return {name: meaning.replace("->", ".") for name, meaning in definitions.items()}
