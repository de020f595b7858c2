"""The axiomatic engine beside the explicit one: it proves what holds, sees what does not, and names what it leaves."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from memfence.engines.axiomatic import clauses
from memfence.engines.axiomatic.engine import AxiomaticEngine
from memfence.engines.explicit import ExplicitEngine
from memfence.models.spec import PSO, SC, TSO
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import At, Binary, Const, Register, RegisterOf, conjunction, variable_address
from memfence.program.ir import Assert, Assign, Domain, Load, Program, SharedVar, Store
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import CounterexampleRun, Limit, NoExecution
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task
from support.engines import outcomes_of
from support.generators.racing_programs import racing_program

VALUES = Domain(0, 3)


def ends(program: Program) -> list[At]:
    return [At(p, frozenset({len(process.locations) - 1})) for p, process in enumerate(program.processes)]


def store_buffering() -> Program:
    bodies = []
    for number in range(2):
        body = ProcessBuilder(f"P{number}", "P")
        places = [body.location() for _ in range(4)]
        register = body.register("r", VALUES)
        body.emit(places[0], places[1], Store(variable_address(number), Const(1)))
        body.emit(places[1], places[2], Load(register, variable_address(1 - number)))
        body.emit(places[2], places[3], Assert(Binary("!=", Register(register), Const(2))))
        bodies.append(body.build(0))
    return Program("store buffering", (SharedVar("x", VALUES), SharedVar("y", VALUES)), tuple(bodies))


def both_read_zero(program: Program) -> Safety:
    zero = (Binary("==", RegisterOf(p, 0), Const(0)) for p in range(2))
    return Safety(bad=conjunction(*ends(program), *zero))


def test_it_proves_what_holds_and_sees_what_does_not() -> None:
    program = store_buffering()
    under_sc = AxiomaticEngine().answer(Task(program, SC, both_read_zero(program)))
    assert under_sc.verdict is Verdict.HOLDS
    assert isinstance(under_sc.evidence, NoExecution)
    under_tso = AxiomaticEngine().answer(Task(program, TSO, both_read_zero(program)))
    assert under_tso.verdict is Verdict.VIOLATED
    assert isinstance(under_tso.evidence, CounterexampleRun)
    assert under_tso.evidence.trace.end.registers == ((0,), (0,))


def test_it_sees_exactly_what_the_explicit_engine_finds() -> None:
    seen: Counter[bool] = Counter()
    for seed in range(15):
        program = racing_program(seed)
        strong, weak = ({registers for registers, _ in outcomes_of(program, model)} for model in (SC, PSO))
        registers = min(weak - strong or weak)
        facts = (
            Binary("==", RegisterOf(p, r), Const(value))
            for p, all_ in enumerate(registers)
            for r, value in enumerate(all_)
        )
        halts = [
            At(p, frozenset(n for n in range(len(process.locations)) if not any(process.leaving(n))))
            for p, process in enumerate(program.processes)
        ]
        goal = Safety(bad=conjunction(*halts, *facts), failures=False)
        for model in (SC, TSO, PSO):
            task = Task(program, model, goal)
            holds = ExplicitEngine().answer(task).verdict is Verdict.HOLDS
            answer = AxiomaticEngine().answer(task)
            assert answer.verdict is (Verdict.HOLDS if holds else Verdict.VIOLATED), program.name
            seen[holds] += 1
    assert min(seen[True], seen[False]) >= 5


@pytest.mark.parametrize(
    ("change", "obstacle"),
    [
        ({"model": TSO.bounded(2)}, Obstacle.ANY_BOUND),
        ({"goal": Safety(deadlock=True)}, Obstacle.ASKS_FOR_DEADLOCK),
        ({"goal": Safety(final_values=(RegisterOf(0, 0),))}, Obstacle.LISTS_FINAL_STATES),
        ({"goal": Safety(bad=At(0, frozenset({3})))}, Obstacle.NOT_ABOUT_ENDS),
        ({"goal": Safety()}, None),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_it_says_what_it_does_not_answer(change: dict[str, object], obstacle: Obstacle | None) -> None:
    task = Task(store_buffering(), TSO, Safety())
    assert AxiomaticEngine().obstacle(replace(task, **change)) is obstacle  # type: ignore[arg-type]


def test_loops_that_do_something_are_left_to_others() -> None:
    body = ProcessBuilder("P", "P")
    register, place = body.register("r", VALUES), body.location()
    body.emit(place, place, Assign(register, Const(1)), Store(variable_address(0), Register(register)))
    program = Program("for ever", (SharedVar("x", VALUES),), (body.build(0),))
    assert AxiomaticEngine().obstacle(Task(program, TSO, Safety())) is Obstacle.LOOPS


@pytest.mark.parametrize(
    ("limits", "stop"),
    [
        (Limits(memory_megabytes=1), Stop.MEMORY),
        (Limits(timeout_seconds=0.0), Stop.TIMEOUT),
    ],
)
def test_a_limit_ends_it_while_the_formula_is_made(limits: Limits, stop: Stop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clauses, "LOOKED_AT_EVERY", 8)
    program = store_buffering()
    answer = AxiomaticEngine().answer(Task(program, SC, both_read_zero(program), limits=limits))
    assert (answer.verdict, answer.evidence) == (Verdict.UNKNOWN, Limit(stop, 0))
