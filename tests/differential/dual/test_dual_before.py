"""The rules of the checkers of backward searches, against the definition of Dual-TSO: no step is missed.

Let a step lead from d to c', and let c' be above what c stands for. Then d is above c, or above something in `before`
of c. That is what Theorem 13 needs of `before`; the checkers' verdicts on certificates that were made show it rarely.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

import pytest

from memfence.certificates.checker.dual import DualRules, prepared
from memfence.certificates.checker.native_dual import DualChecking
from memfence.certificates.checker.question import question_of
from memfence.certificates.format.dual import Configuration, Controls
from memfence.certificates.format.header import Claim
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.source import SourceText
from support.generators.cyclic_programs import cyclic_program
from support.generators.parameterised_programs import parameterised_program
from support.generators.racing_programs import racing_program
from twins.dual_steps import DualTso, is_above, thinnings

OWN_STORES = {
    "stores twice": "x = 1; a = x; x = 2; a = y",
    "stores three times": "x = 1; x = 2; a = x; x = 1; b = y",
    "stores in turn": "x = 1; y = 1; a = x; x = 2; b = y; y = 2",
    "stores for ever": "do :: x = 1; a = x :: x = 2; b = y od",
    "stores the same": "x = 1; a = y; x = 1; b = x",
    "stores both ways": "do :: x = 1; y = 1 :: y = 2; x = 2 :: a = x; b = y od",
    "waits in between": "x = 1; a = x; mfence(); x = 2; b = x; y = b",
    "stores and fails": "x = 1; a = x; x = 2; b = y; assert(a + b < 2)",
}
"""What a process does whose own older store may still be pending when the newer one is made."""


class Judged:
    """The rules of both checkers for one program, and single configurations to try them on."""

    def __init__(self, program: Program, random: Random, model: str) -> None:
        claim = Claim(model=model, any_number=program.any_number)
        self.question = prepared(question_of(claim, program))
        self.rules, self.fast, self.random = DualRules(self.question), DualChecking(self.question), random
        self.before = cache(lambda c: frozenset(self.rules.before(c)))
        self.fixed = len(self.rules.fixed)
        extra = [
            members[0] for members in self.rules.instances for _ in range(2 if len(self.rules.instances) == 1 else 1)
        ]
        self.twin = DualTso(
            self.question.program, (*self.rules.fixed, *extra), longest=3, everything_locked=model == "sc"
        )

    def steps(self, expanded: int, most: int) -> Iterator[tuple[Configuration, Configuration]]:
        """Some steps from configurations that can be reached."""
        waiting = list(self.twin.starts())
        seen = set(waiting)
        for _ in range(expanded):
            if not waiting:
                return
            d = waiting.pop(self.random.choice([-1, self.random.randrange(len(waiting))]))
            after = sorted(filter(self.twin.is_short, self.twin.after(d)), key=repr)
            for reached in self.random.sample(after, min(most, len(after))):
                yield d, reached
                if reached not in seen:
                    seen.add(reached)
                    waiting.append(reached)

    def below(self, c: Configuration) -> Configuration:
        """Says less: fewer messages and processes, more places, less of memory."""
        random = self.random
        left = [p for p in range(len(c.kinds)) if p < self.fixed or random.random() < 0.5]
        return Configuration(
            tuple(self._wider(c.kinds[p], c.controls[p]) for p in left),
            tuple(random.choice([value, None]) for value in c.memory),
            tuple(random.choice(sorted(thinnings(c.fifos[p]), key=repr)) for p in left),
            tuple(c.kinds[p] for p in left),
        )

    def _wider(self, kind: int, controls: Controls) -> Controls:
        known = sorted(self.rules.controls[kind], key=repr)
        return controls | set(self.random.sample(known, self.random.choice([0, 0, 1, len(known) // 2])))

    def is_missed(self, d: Configuration, c: Configuration) -> bool:
        return not any(is_above(d, one, self.fixed) for one in (c, *self.before(c)))


def check_program(program: Program, seed: int, model: str, *, expanded: int = 60, most: int = 6) -> int:
    """How often something in `before` was needed."""
    judged, needed = Judged(program, Random(seed), model), 0
    for d, reached in judged.steps(expanded, most):
        c = judged.below(reached)
        assert is_above(reached, c, judged.fixed)
        assert not judged.is_missed(d, c), (d, reached, c)
        needed += not is_above(d, c, judged.fixed)
    return needed


def check_agreement(program: Program, seed: int, model: str, *, expanded: int = 40) -> None:
    judged = Judged(program, Random(seed), model)
    for _, reached in judged.steps(expanded, 3):
        c = judged.below(reached)
        assert judged.before(c) == frozenset(judged.fast.before(c)), c


def drawn_program(seed: int) -> Program:
    match seed % 3:
        case 0:
            return parameterised_program(seed)
        case 1:
            return cyclic_program(seed, ordered=seed % 2 == 0)
        case _:
            return racing_program(seed)


def own_stores(name: str, *, any_number: bool = False) -> Program:
    """A process that does so, and one that sees it and stores, too."""
    instances = "[*]" if any_number else ""
    text = f"""#include "memfence.h"
byte x, y;
active {instances} proctype P() {{ byte a, b; {OWN_STORES[name]} }}
active proctype Q() {{ byte c; do :: y = 1; c = x :: x = 2; c = y od }}
"""
    return load_text(SourceText("t.pml", text))


@pytest.mark.parametrize("model", ["sc", "tso"])
@pytest.mark.parametrize("seed", range(18))
def test_whatever_leads_to_a_configuration_is_before_it(seed: int, model: str) -> None:
    assert check_program(drawn_program(seed), seed, model) > 0


@pytest.mark.slow
def test_whatever_leads_to_a_configuration_is_before_it_in_many_programs() -> None:
    needed = [check_program(drawn_program(seed), seed, "tso", expanded=300) for seed in range(18, 150)]
    assert min(needed) > 0


@pytest.mark.parametrize("any_number", [False, True])
@pytest.mark.parametrize("name", OWN_STORES)
def test_older_own_stores_are_before_newer_ones(name: str, any_number: bool) -> None:
    assert check_program(own_stores(name, any_number=any_number), 0, "tso", expanded=150) > 0


@pytest.mark.parametrize("model", ["sc", "tso"])
@pytest.mark.parametrize("seed", range(18))
def test_both_judges_have_the_same_before_each_configuration(seed: int, model: str) -> None:
    check_agreement(drawn_program(seed), seed, model)


@pytest.mark.parametrize("any_number", [False, True])
@pytest.mark.parametrize("name", OWN_STORES)
def test_both_judges_have_the_same_before_own_stores(name: str, any_number: bool) -> None:
    check_agreement(own_stores(name, any_number=any_number), 0, "tso")
