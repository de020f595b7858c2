"""BEEM's known answers, by the native engines under SC: state counts, reachability, LTL with replayed lassos.

Instances with at most five million states, LTL up to one million; the smallest forty in the normal suite. `make papers`
prints the same as a table (`beem_table.py`).
"""

from __future__ import annotations

import pytest
from beem import Instance, small_instances
from beem_answers import answer, count_states, decided

from memfence.pipeline import load
from memfence.program.ir import PropertyAutomaton
from memfence.questions.ltl.check import claim_of_automaton, decide
from memfence.tasks.limits import Limits
from support.corpus import needs_corpus
from support.models import spec

pytestmark = needs_corpus

MOST_STATES, MOST_STATES_FOR_LTL = 5_000_000, 1_000_000
SAMPLE = 40
"""How many instances, the smallest first, belong to the normal suite."""


def sized() -> list[object]:
    ordered = sorted(small_instances(MOST_STATES), key=lambda instance: (instance.states, instance.name))
    return [
        pytest.param(instance, id=instance.name, marks=() if place < SAMPLE else pytest.mark.slow)
        for place, instance in enumerate(ordered)
    ]


@pytest.mark.parametrize("instance", sized())
def test_an_instance_has_the_known_answers(instance: Instance) -> None:
    """Every run that is found was replayed: a lasso is also checked by the definition of LTL."""
    found = [count_states(instance)]
    for known in instance.answers:
        if not known.is_ltl or instance.states <= MOST_STATES_FOR_LTL:
            found.append(answer(instance, known))
            if not known.is_ltl and known.is_yes:
                assert found[-1].length == known.length - 1, "shortest; DiVinE counts states"
    assert [one for one in found if not one.agrees] == []


@pytest.mark.parametrize("name", ["peterson.1", "lamport.1", "mcs.1", "elevator2.1", "rether.1"])
def test_a_property_process_and_its_formula_get_the_same_answer(name: str) -> None:
    (instance,) = (one for one in small_instances(50_000) if one.name == name)
    for known in instance.answers:
        if known.is_ltl:
            program = load(instance.variant(known.number))
            (automaton,) = (p for p in program.properties if isinstance(p, PropertyAutomaton))
            found = decide(program, claim_of_automaton(automaton), spec("sc"), limits=Limits())
            assert (found.trace is None) == (decided(instance, known.number).trace is None) == known.is_yes
