"""Abridged sets: whatever the checker lets a certificate leave out, the states that stay say what all states say.

Programs, what questions look at and what is left out are drawn at random, as much of it as the checker does not refuse.
The states that it goes through then have something in them that a question could be about exactly if all states do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

import pytest

from memfence.certificates.checker.abridged import Ends, ends_of
from memfence.certificates.checker.refusal import Refused
from memfence.certificates.format.abridged import Abridgement
from memfence.models.spec import PSO, SC, TSO
from memfence.models.state import Failure, State
from memfence.models.steps import MemoryModel, evaluate_in, set_at, starts, successors
from memfence.passes.liveness import dead_registers
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import At, Binary, Const, Expr, Register, RegisterOf, negate, variable_address
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Assert, Assign, Assume, Domain, Fence, Load, Op, Process, Program, SharedVar, Store
from twins.reference_search import breadth_first, explore

MODELS = (SC, TSO.bounded(1), PSO.bounded(1), TSO.bounded(2), PSO.bounded(2))
MOST_STATES = 3_000
SAMPLE, MANY = 90, 6_000
VALUES, REGISTERS = Domain(0, 2), 2


def drawn_program(random: Random) -> Program:
    """Two or three processes with much work on registers, some of which looks at other processes."""
    variables = tuple(SharedVar(f"x{n}", VALUES) for n in range(random.randint(1, 2)))
    sizes = [random.randint(3, 5) for _ in range(random.choice([2, 2, 3]))]
    processes = tuple(_process(random, p, sizes, len(variables)) for p in range(len(sizes)))
    return Program("drawn", variables, processes)


def _process(random: Random, number: int, sizes: list[int], variables: int) -> Process:
    builder = ProcessBuilder(f"P{number}", f"P{number}")
    for n in range(REGISTERS):
        builder.register(f"r{n}", VALUES)
    for _ in range(sizes[number]):
        builder.location()
    ways = [(here, here + 1) for here in range(sizes[number] - 1)]
    ways += [(random.randrange(sizes[number]), random.randrange(sizes[number])) for _ in range(random.randint(0, 3))]
    for here, there in ways:
        builder.emit(here, there, *(_op(random, sizes, variables) for _ in range(random.choice([0, 1, 1, 1, 2]))))
    return builder.build(0)


def _op(random: Random, sizes: list[int], variables: int) -> Op:
    own, value = Register(random.randrange(REGISTERS)), Const(random.randrange(3))
    other = random.randrange(len(sizes))
    address = variable_address(random.randrange(variables))
    match random.randrange(20):
        case 0 | 1 | 2 | 3:
            return Load(random.randrange(REGISTERS), address)
        case 4 | 5 | 6:
            return Store(address, random.choice([own, value]))
        case 7 | 8 | 9 | 10 | 11:
            return Assign(random.randrange(REGISTERS), random.choice([own, value]))
        case 12 | 13 | 14 | 15 | 16:
            return Assume(Binary(random.choice(["==", "!="]), own, value))
        case 17 if random.random() < 0.5:
            return Assume(Binary("!=", RegisterOf(other, random.randrange(REGISTERS)), value))
        case 17:
            return Assume(negate(At(other, frozenset({random.randrange(sizes[other])}))))
        case 18:
            return Fence(random.choice(["mfence", "sfence"]))
        case _:
            return Assert(Binary("!=", own, value), "") if random.random() < 0.2 else Assign(0, value)


def seen_of(random: Random, program: Program, process: int) -> Expr:
    own = program.processes[process]
    if own.registers and random.random() < 0.5:
        return Binary("==", RegisterOf(process, random.randrange(len(own.registers))), Const(random.randrange(3)))
    return At(process, frozenset({random.randrange(len(own.locations))}))


def accepted(program: Program, model: MemoryModel, left_out: Abridgement, seen: tuple[Expr, ...]) -> Ends | None:
    try:
        return ends_of(program, model, left_out, seen)
    except Refused:
        return None


def drawn_ends(random: Random, program: Program, model: MemoryModel, seen: tuple[Expr, ...]) -> Ends:
    """As much left out as the checker puts up with, tried one by one: locations, and registers at some locations."""
    dead = [list(of) for of in dead_registers(program, observed_by(program, seen))]
    passing = [frozenset[int]() for _ in program.processes]
    best = accepted(program, model, Abridgement(tuple(passing), tuple(map(tuple, dead))), seen)
    assert best is not None
    places = [(p, at) for p, process in enumerate(program.processes) for at in range(len(process.locations))]
    for p, at in random.sample(places, len(places)):
        more = Abridgement(set_at(best.left_out.passing, p, best.left_out.passing[p] | {at}), best.left_out.dead)
        best = accepted(program, model, more, seen) or best
    for p in range(len(program.processes)):
        register = frozenset({random.randrange(REGISTERS)})
        changed = tuple(of | register if random.random() < 0.7 else of for of in best.left_out.dead[p])
        more = Abridgement(best.left_out.passing, set_at(best.left_out.dead, p, changed))
        best = accepted(program, model, more, seen) or best
    return best


def views(program: Program, seen: tuple[Expr, ...], found: Iterable[State | Failure]) -> set[object]:
    """What questions about `seen` and about memory can tell of these states: all questions at once."""
    return {
        "failure"
        if isinstance(state, Failure)
        else (state.memory, *(evaluate_in(program, state, 0, expr) for expr in seen))
        for state in found
    }


def kept(ends: Ends) -> Iterator[State | Failure]:
    """What the checker goes through: initial states and steps, each followed by local steps."""

    def follow(state: State | Failure) -> Iterator[State | Failure]:
        for step, after in () if isinstance(state, Failure) else successors(ends.program, ends.model, state):
            yield from (after,) if isinstance(after, Failure) else ends.of(after, step)

    first = [end for state in starts(ends.program, ends.model) for end in ends.of(state)]
    return breadth_first(first, follow, most=MOST_STATES)


def compare(seed: int) -> str:
    """What became of one draw."""
    random = Random(seed)
    program, model = drawn_program(random), random.choice(MODELS).definition
    drawn = (seen_of(random, program, random.randrange(len(program.processes))) for _ in range(random.randint(1, 3)))
    seen = tuple(drawn)
    ends = drawn_ends(random, program, model, seen)
    everything = explore(program, model, most_states=MOST_STATES)
    if not everything.complete:
        return "large"
    whole = views(program, seen, [*everything.states, *everything.failures])
    part = views(program, seen, kept(ends))
    assert ("failure" in part) == ("failure" in whole), f"seed {seed}"
    if "failure" not in whole:
        assert part == whole, f"seed {seed}: {part ^ whole}"
    return "passing" if any(ends.left_out.passing) else "dead"


def test_what_may_be_left_out_changes_no_answer() -> None:
    results = [compare(seed) for seed in range(SAMPLE)]
    assert results.count("passing") > SAMPLE // 4, "the sample leaves something out"


@pytest.mark.slow
def test_it_changes_none_in_thousands_of_programs() -> None:
    results = [compare(seed) for seed in range(SAMPLE, MANY)]
    assert results.count("passing") > MANY // 2
