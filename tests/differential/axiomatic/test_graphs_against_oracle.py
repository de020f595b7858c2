"""The explorer of execution graphs visits what enumeration finds, and nothing twice: executions, failures, races and
threads that wait for ever, under every model that it knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import factorial

import pytest

from differential.axiomatic.test_axiomatic_against_oracle import identity, unrolled
from memfence.axiomatic.code import Code
from memfence.axiomatic.execution import Decisions, Execution
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.replay import carry_out
from memfence.axiomatic.unroll import unroll
from memfence.axiomatic.waiting import waiting_for_ever
from memfence.engines.axiomatic.violations import RACE
from memfence.engines.native.graphs import FAILS, MAY_WAIT, RACES, WAITS, Asked, Explored, GraphCode
from memfence.models.catalogue import MODELS
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Register, negate, variable_address
from memfence.program.ir import Assume, Load, Program, Rmw, SharedVar, Store
from memfence.program.orders import MemoryOrder
from memfence.tasks.limits import Limits, Stop
from support.engines import observed
from support.generators.ordered_programs import ordered_program
from support.generators.waiting_programs import VALUES, waiting_program
from support.sampling import listed
from twins import enumeration
from twins.enumeration import Judged, judged_executions

KNOWN = [models_named(model.name)[0] for model in MODELS if model.graphs and model.name != "x86"]
"""x86 is TSO."""
ALL = 1_000_000
MOST_EVENTS = 10
UPDATES_AND_A_READ = 666
"""The write of one update revisits a read that came before the other update."""
MODEL = pytest.mark.parametrize("model", KNOWN, ids=lambda model: model.name)


def graph_of(decisions: Decisions) -> object:
    """What makes a graph; the choices as well, of which other executions may not tell."""
    chosen = frozenset(decisions.chosen.items())
    order = frozenset(decisions.order.items())
    return decisions.initial, chosen, frozenset(decisions.read_from.items()), order


def explored(code: Code, model: AxiomaticModel, asked: Asked) -> Explored:
    return GraphCode(code, model).explore(asked, Limits())


def check_code(code: Code, model: AxiomaticModel) -> None:
    """All that both can say of the code is the same."""
    expected = list(judged_executions(code, model))
    message = f"{code.program.name} under {model.name}"
    found = explored(code, model, Asked(keep=ALL, races_branch=True, waits=True))
    assert found.stop is Stop.NOTHING_LEFT
    graphs = [graph_of(decisions) for decisions in found.kept]
    assert len(set(graphs)) == len(graphs), f"{message}: an execution is visited twice"
    ran = [carry_out(code, decisions) for decisions in found.kept]
    check_visited(ran, [one.execution for one in expected], message)
    check_findings(found, expected, message)
    check_races(code, model, expected, message)


def seen(executions: Iterable[Execution]) -> set[tuple[object, bool]]:
    """What happened, and whether somebody waits, which a choice may decide."""
    return {(identity(one), bool(one.waiting)) for one in executions}


def check_visited(ran: Iterable[Execution], expected: Iterable[Execution], message: str) -> None:
    """Every execution in which nobody waits is visited. Of the others only those where nobody else can go on."""
    visited, possible = seen(ran), seen(expected)
    assert visited <= possible, message
    assert {one for one in possible if not one[1]} <= visited, message


def check_findings(found: Explored, expected: Iterable[Judged], message: str) -> None:
    expected = [one.execution for one in expected]
    assert (found.of(FAILS) is not None) == any(one.failed for one in expected), message
    assert (found.of(WAITS) is not None) == any(map(waiting_for_ever, expected)), message
    may_wait = any(waiting_for_ever(one, undecided=True) for one in expected)
    assert (found.of(WAITS) is not None or found.of(MAY_WAIT) is not None) == may_wait, message


def check_races(code: Code, model: AxiomaticModel, expected: Iterable[Judged], message: str) -> None:
    """Where a race ends the search it is one; where there is none, plain reads that never branch lose nothing."""
    races = any(flag.axiom.name == RACE for one in expected for flag in one.judgement.flags)
    found = explored(code, model, Asked(keep=ALL))
    assert (found.of(RACES) is not None) == races, message
    if not races:
        ran = [carry_out(code, decisions) for decisions in found.kept]
        check_visited(ran, [one.execution for one in expected], message)


def check_seeds(seeds: Iterable[int], model: AxiomaticModel) -> None:
    for seed in seeds:
        check_code(unrolled(ordered_program(seed)), model)


def waiting_threads(seed: int) -> Program:
    """Two threads that wait; every third time three, where enumeration does not take too long."""
    program = waiting_program(seed, with_updates=bool(seed % 4))
    third = waiting_program(seed + 1, with_updates=True).processes[seed % 2]
    three = replace(program, processes=(*program.processes, replace(third, name="P2")))
    events = sum(len(list(thread.events)) for thread in unroll(three, 1).threads)
    return three if seed % 3 == 0 and events <= MOST_EVENTS else program


def check_waiting(seeds: Iterable[int], model: AxiomaticModel) -> None:
    for seed in seeds:
        check_code(unroll(waiting_threads(seed), 1), model)


def lock_program(threads: int) -> Program:
    """Each thread waits for a lock, counts, and gives the lock back."""
    lock, count = variable_address(0), variable_address(1)
    update = Rmw(0, lock, "compare_exchange", Const(1), Const(0), order=MemoryOrder.ACQUIRE)
    processes = []
    for n in range(threads):
        builder = ProcessBuilder(f"P{n}", f"P{n}")
        builder.register("old", VALUES)
        places = [builder.location() for _ in range(6)]
        builder.emit(places[0], places[1], update)
        builder.emit(places[1], places[0], Assume(Register(0)))
        builder.emit(places[1], places[2], Assume(negate(Register(0))))
        builder.emit(places[2], places[3], Load(0, count))
        builder.emit(places[3], places[4], Store(count, Binary("+", Register(0), Const(1))))
        builder.emit(places[4], places[5], Store(lock, Const(0), order=MemoryOrder.RELEASE))
        processes.append(builder.build(0))
    return Program("lock", (SharedVar("lock", VALUES), SharedVar("count", VALUES)), tuple(processes))


@listed("start", [0], range(1_000, 3_000, 100))
@MODEL
def test_random_programs_have_the_executions_that_enumeration_finds(model: AxiomaticModel, start: int) -> None:
    check_seeds([*range(start, start + 100), UPDATES_AND_A_READ], model)


@listed("start", [0], range(1_000, 2_000, 100))
@MODEL
def test_programs_that_wait_have_the_executions_that_enumeration_finds(model: AxiomaticModel, start: int) -> None:
    check_waiting(range(start, start + 60), model)


@MODEL
@pytest.mark.parametrize("threads", [2, 3, 4])
def test_threads_take_a_lock_in_every_order(model: AxiomaticModel, threads: int) -> None:
    found = explored(unroll(lock_program(threads), 1), model, Asked(keep=ALL, waits=True))
    assert found.counts.executions == factorial(threads)
    assert not found.wrong


def outcomes(seed: int, model: AxiomaticModel) -> frozenset[tuple[int, ...]]:
    """The last values of registers and memory."""
    program = ordered_program(seed)
    values = tuple(expr for _, expr in observed(program))
    return explored(unrolled(program), model, Asked(observed=values, races_branch=True, keep=1)).outcomes


def test_each_model_has_all_outcomes_of_a_stronger_one() -> None:
    different = 0
    for seed in range(120):
        sc, tso, rc11 = (outcomes(seed, model) for model in KNOWN)
        assert sc <= tso <= rc11, seed
        different += len({sc, tso, rc11}) > 1
    assert different >= 30


def test_outcomes_are_those_that_enumeration_finds() -> None:
    for seed in range(30):
        program = ordered_program(seed)
        owners = [owner for owner, _ in observed(program)]
        for model in KNOWN:
            found = set()
            for values in outcomes(seed, model):
                every = (*range(len(program.processes)), None)
                pairs = list(zip(values, owners, strict=True))
                *registers, memory = (tuple(value for value, of in pairs if of == owner) for owner in every)
                found.add((tuple(registers), memory))
            assert found == enumeration.outcomes(unrolled(program), model), (seed, model.name)
