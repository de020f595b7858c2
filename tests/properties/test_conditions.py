"""Where control never comes, against an enumeration of one process with loads that give every value.

The analysis may overlook a dead location (most are dead because of values, not of comparisons), never call a live one
dead.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from memfence.engines.native.explicit import explore
from memfence.engines.unreachable import is_out_of_reach
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import (
    At,
    Binary,
    Const,
    EvaluationError,
    Expr,
    Register,
    Unary,
    conjunction,
    disjunction,
    evaluate,
    negate,
    variable_address,
)
from memfence.program.facts.dead_locations import locations_in_reach
from memfence.program.ir import Assert, Assign, Assume, Domain, Load, Op, Process, Program, SharedVar, Store
from memfence.strategy.portfolio import ask
from memfence.tasks.answer import Verdict
from memfence.tasks.task import Safety, Task
from support.models import spec

VALUES = Domain(0, 2)
REGISTERS = 3
"""The last one is scratch: 0 between steps."""


def branching_process(random: Random, name: str, locations: int, *, asserts: bool) -> Process:
    """A control graph with few different conditions, so that many are tested twice."""
    builder = ProcessBuilder(name, name)
    for n in range(REGISTERS - 1):
        builder.register(f"r{n}", Domain(0, 2, random.choice(["error", "wrap"])), init=random.choice([(0,), (0, 1, 2)]))
    builder.scratch(0, VALUES)
    conditions = [_condition(random, 2) for _ in range(3)]
    for _ in range(locations):
        builder.location()
    for here in range(locations):
        test = random.choice(conditions)
        if random.random() < 0.6:
            builder.emit(here, random.randrange(locations), Assume(test))
            builder.emit(here, min(here + 1, locations - 1), Assume(negate(test)))
        else:
            op = _op(random, conditions, asserts)
            ops = (op, Assume(test)) if random.random() < 0.3 else (op,)
            builder.emit(here, min(here + 1, locations - 1), *ops)
    return builder.build(0)


def _condition(random: Random, depth: int) -> Expr:
    if depth and random.random() < 0.5:
        parts = _condition(random, depth - 1), _condition(random, depth - 1)
        return random.choice([conjunction(*parts), disjunction(*parts), negate(parts[0])])
    left: Expr = Register(random.randrange(REGISTERS))
    if random.random() < 0.2:
        return left
    other = Register(random.randrange(REGISTERS))
    right: Expr = random.choice([Const(random.randint(0, 2)), other, Unary("-", left), Binary("+", other, Const(1))])
    sides = (left, right) if random.random() < 0.5 else (right, left)
    return Binary(random.choice(["==", "!=", "<", "<=", ">", ">="]), *sides)


def _op(random: Random, conditions: list[Expr], asserts: bool) -> Op:
    register = random.randrange(REGISTERS)
    match random.randrange(5 if asserts else 4):
        case 0 | 1:
            return Load(register, variable_address(0))
        case 2:
            values = Const(random.randint(0, 2)), Register(random.randrange(REGISTERS))
            more = Binary("+", Register(random.randrange(REGISTERS)), Const(1))
            return Assign(register, random.choice([*values, more]))
        case 3:
            return Store(variable_address(0), Const(random.randint(0, 2)))
        case _:
            return Assert(random.choice(conditions))


def enumerated(process: Process) -> set[int]:
    """The locations that the process comes to, if every load may give every value."""
    starts = product(*(r.init if not r.transient else (0,) for r in process.registers))
    waiting = [(process.initial, start) for start in starts]
    seen = set(waiting)
    while waiting:
        here, registers = waiting.pop()
        for _, transition in process.leaving(here):
            for after in _runs(process, transition.ops, registers):
                scratched = tuple(0 if r.transient else v for r, v in zip(process.registers, after, strict=True))
                state = (transition.target, scratched)
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
    return {here for here, _ in seen}


def _runs(process: Process, ops: tuple[Op, ...], registers: tuple[int, ...]) -> list[tuple[int, ...]]:
    if not ops:
        return [registers]
    op, rest = ops[0], ops[1:]

    def value(expr: Expr) -> int:
        return evaluate(expr, lambda node, _: registers[node.index])

    def put(register: int, new: int) -> list[tuple[int, ...]]:
        try:
            new = process.registers[register].domain.fit(new)
        except EvaluationError:
            return []
        return _runs(process, rest, (*registers[:register], new, *registers[register + 1 :]))

    match op:
        case Assume(condition) | Assert(condition):
            return _runs(process, rest, registers) if value(condition) else []
        case Assign(register, expr):
            return put(register, value(expr))
        case Load(register, _, _):
            return [after for loaded in range(3) for after in put(register, loaded)]
        case _:
            return _runs(process, rest, registers)


def program_of(seed: int, *, asserts: bool = False) -> Program:
    random = Random(seed)
    processes = tuple(branching_process(random, f"P{n}", random.randint(3, 7), asserts=asserts) for n in range(2))
    return Program(f"branches {seed}", (SharedVar("x", VALUES),), processes)


def compare(seeds: range) -> tuple[int, int]:
    """How many locations are dead, and how many of them the analysis finds."""
    dead = found = 0
    for seed in seeds:
        program = program_of(seed, asserts=True)
        for process, claimed in zip(program.processes, locations_in_reach(program), strict=True):
            live = enumerated(process)
            assert live <= claimed, (seed, process.name)
            dead += len(process.locations) - len(live)
            found += len(process.locations) - len(claimed)
    return dead, found


def test_no_live_location_is_called_dead():
    dead, found = compare(range(1_000))
    assert dead // 20 < found < dead


@pytest.mark.slow
def test_no_live_location_is_called_dead_in_many_programs():
    dead, found = compare(range(1_000, 20_000))
    assert dead // 20 < found < dead


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_what_is_out_of_reach_is_found_by_no_search(model):
    proofs = 0
    for seed in range(150):
        program = program_of(seed)
        last = [len(p.locations) - 1 for p in program.processes]
        question = Safety(bad=conjunction(*(At(p, frozenset({at})) for p, at in enumerate(last))))
        answer = ask("control flow", Task(program, spec(model), question))
        assert (answer.verdict is Verdict.HOLDS) == is_out_of_reach(program, question)
        if answer.verdict is Verdict.HOLDS:
            proofs += 1
            found = explore(program, spec(model, 0 if model == "sc" else 2), question)
            assert found.finding is None, (seed, model)
    assert proofs >= 5


def test_questions_about_failures_and_deadlocks_are_left_to_a_search():
    builder = ProcessBuilder("P", "P")
    builder.register("r", VALUES)
    for _ in range(3):
        builder.location()
    builder.emit(0, 1, Assert(Binary("==", Register(0), Const(0))))
    builder.emit(1, 2, Assume(Register(0)))
    program = Program("fails", (), (builder.build(0),))
    bad = At(0, frozenset({2}))
    assert is_out_of_reach(program, Safety(bad=bad, failures=False))
    assert not is_out_of_reach(program, Safety(bad=bad))
    assert not is_out_of_reach(program, Safety(bad=bad, failures=False, deadlock=True))
    assert not is_out_of_reach(program, Safety(bad=At(0, frozenset({1})), failures=False))
