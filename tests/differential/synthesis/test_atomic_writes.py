"""Minimum lists of atomic writes against brute force: every list of a small program is checked on its own."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from memfence.models.sc import Sc
from memfence.models.spec import SC
from memfence.models.steps import MemoryModel, is_final
from memfence.passes.atomic_writes import AtomicWrite, WaitsFor, with_atomic_writes, writes_of
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Register, variable_address
from memfence.program.ir import Domain, Load, Ltl, Op, Program, SharedVar, Store
from memfence.questions.ltl.check import bounded_model, claim_of_formula, decide
from memfence.synthesis.atomic_writes import fix_ltl
from memfence.synthesis.options import FixOptions, Minimise
from memfence.synthesis.result import FixVerdict
from memfence.tasks.limits import Limits
from support.generators.cyclic_programs import cyclic_program
from support.models import memory_model
from twins.reference_search import reachable

FORMULAS = (
    "F (x0 == 2)",
    "GF (x0 == 1)",
    "FG (x0 != 1)",
    "G (x0 == 1 -> F x0 != 1)",
    "G !(x0 == 2 && x1 == 1)",
    "(x0 != 2) U (x1 == 1 || x0 == 2)",
    "GF (x0 == 1) -> GF (x1 == 2)",
    "F (x0 == 2 && X x1 == 1)",  # not blind to stuttering
    "GF (x0 == 0) || F !empty(P0)",  # plain writes may make it true, atomic ones false
    "F (x0 == 1 && !empty(P1)) -> G (x1 != 2)",
)


def question(seed: int) -> tuple[Program, str, bool]:
    """A program with few writes, a formula to ask, and whether processes are fair.

    Three in four: a straight program and, if there is one, an outcome that only TSO has: of the others hardly any needs
    an atomic write.
    """
    random = Random(f"atomic {seed}")
    if seed % 4:
        program = straight_program(random)
        return program, f"!FG ({random.choice(relaxed_outcomes(program) or ['x0 == 0'])})", False
    while True:
        program = cyclic_program(random.randrange(10**6))
        if 2 <= len(writes_of(program)) <= 5 and len(program.variables) == 2 and len(program.processes) == 2:
            return program, random.choice(FORMULAS), random.random() < 0.25


def straight_program(random: Random) -> Program:
    """Two processes of two to four steps: stores, loads, increments, some with two stores at once."""
    processes = []
    for name in ("P0", "P1"):
        builder = ProcessBuilder(name, name)
        builder.register("r", Domain(0, 9))
        scratch = builder.scratch(0, Domain(0, 9))
        here = builder.location()
        for _ in range(random.randint(2, 4)):
            x, y = (variable_address(n) for n in random.sample(range(2), 2))
            steps: list[tuple[Op, ...]] = [
                (Store(x, Const(random.randint(1, 2))),),
                (Load(0, x),),
                (Load(scratch, x), Store(x, Binary("+", Register(scratch), Const(1)))),
                (Load(0, x), Store(y, Const(1))),
                (Store(x, Const(1)), Store(y, Const(2))),
            ]
            there = builder.location()
            builder.emit(here, there, *random.choices(steps, weights=[3, 3, 2, 1, 1])[0])
            here = there
        processes.append(builder.build(0))
    return Program("straight", tuple(SharedVar(f"x{n}", Domain(0, 9)) for n in range(2)), tuple(processes))


def relaxed_outcomes(program: Program) -> list[str]:
    """The final states that TSO/var(1) has and SC has not, as predicates."""

    def outcomes(model: MemoryModel) -> set[str]:
        finals = (s for s in reachable(program, model) if is_final(program, s))
        return {
            f"x0 == {s.memory[0]} && x1 == {s.memory[1]} && P0.r == {s.registers[0][0]} && P1.r == {s.registers[1][0]}"
            for s in finals
        }

    return sorted(outcomes(memory_model("tso", bound=1, per_variable=True)) - outcomes(Sc()))


def smallest(program: Program, options: FixOptions, waits_for: WaitsFor) -> int | None:
    """The size of a smallest list of atomic writes with which the formula holds; None where there is none."""
    assert options.ltl is not None
    writes = writes_of(program)
    for size in range(len(writes) + 1):
        for chosen in combinations(writes, size):
            if holds(with_atomic_writes(program, chosen, waits_for=waits_for), options):
                return size
    return None


def holds(program: Program, options: FixOptions) -> bool:
    assert options.ltl is not None
    claim = claim_of_formula(options.ltl, program, dict(options.define))
    return decide(program, claim, bounded_model(options), fairness=options.fairness, limits=Limits()).trace is None


def check_minimum(seed: int, waits_for: WaitsFor) -> int:
    """Compare with brute force; how many writes had to be made atomic."""
    program, formula, fair = question(seed)
    options = FixOptions(model="tso", ltl=Ltl("ltl", formula), fair=fair)
    found = fix_ltl(program, options, waits_for=waits_for)
    claim = claim_of_formula(Ltl("ltl", formula), program, {})
    if decide(program, claim, SC, fairness=options.fairness, limits=Limits()).trace is not None:
        assert found.verdict is FixVerdict.IMPOSSIBLE
        return 0
    expected = smallest(program, options, waits_for)
    assert (None if found.verdict is FixVerdict.IMPOSSIBLE else len(found.chosen)) == expected, (seed, formula)
    return len(found.chosen)


@pytest.mark.parametrize("waits_for", ["own", "all"])
def test_the_minimum_is_that_of_brute_force(waits_for: WaitsFor) -> None:
    assert sum(check_minimum(seed, waits_for) > 0 for seed in range(100)) > 20


@pytest.mark.slow
@pytest.mark.parametrize("waits_for", ["own", "all"])
@pytest.mark.parametrize("block", range(5))
def test_the_minimum_of_many_programs_is_that_of_brute_force(block: int, waits_for: WaitsFor) -> None:
    for seed in range(1000 + 200 * block, 1000 + 200 * (block + 1)):
        check_minimum(seed, waits_for)


@pytest.mark.parametrize("seed", range(40))
def test_the_papers_loop_finds_a_list_of_which_no_write_can_be_dropped(seed: int) -> None:
    program, formula, fair = question(seed)
    minimise: Minimise = "first"
    options = FixOptions(model="tso", ltl=Ltl("ltl", formula), fair=fair, minimise=minimise)
    found = fix_ltl(program, options)
    if found.verdict in (FixVerdict.FIXED, FixVerdict.ALREADY_HOLDS):
        chosen: list[AtomicWrite] = [one.write for one in found.chosen]
        assert holds(with_atomic_writes(program, chosen), options)
        for write in chosen:
            assert not holds(with_atomic_writes(program, [w for w in chosen if w != write]), options)
