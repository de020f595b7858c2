"""Random programs with processes that are copies of each other, or nearly, and what may be left out of their states."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from memfence.models.steps import set_at
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import (
    At,
    Binary,
    BufferEmpty,
    Const,
    Expr,
    Register,
    RegisterOf,
    negate,
    variable_address,
)
from memfence.program.ir import (
    Assert,
    Assign,
    Assume,
    Domain,
    Fence,
    Load,
    Lock,
    Op,
    Process,
    Program,
    Rmw,
    SharedVar,
    Store,
    Sync,
    Unlock,
)

VALUES = Domain(0, 2)
LOCATIONS, REGISTERS, VARIABLES = 4, 2, 2


def drawn_copies(random: Random, *, plain: bool = False) -> tuple[Program, tuple[int, ...]]:
    """A program, and which of its processes are copies of one, each of which may have been changed a little.

    `plain`: processes share memory by single loads and stores, and nothing else.
    """
    count, others = random.choice([(2, 0), (2, 1), (3, 0), (3, 0)])
    original = _process(random, plain)
    copies = [original] * count
    if random.random() < 0.5:
        at = random.randrange(count)
        copies[at] = _changed(random, copies[at], plain)
    processes = [(True, copy) for copy in copies] + [(False, _process(random, plain)) for _ in range(others)]
    random.shuffle(processes)
    named = tuple(replace(process, name=f"P{n}", template=f"P{n}") for n, (_, process) in enumerate(processes))
    variables = tuple(SharedVar(f"x{n}", VALUES) for n in range(VARIABLES))
    return Program("drawn", variables, named), tuple(n for n, (is_copy, _) in enumerate(processes) if is_copy)


def _process(random: Random, plain: bool) -> Process:
    builder = ProcessBuilder("P", "P")
    for n in range(REGISTERS):
        builder.register(f"r{n}", VALUES)
    for _ in range(LOCATIONS):
        builder.location()
    ways = [(here, here + 1) for here in range(LOCATIONS - 1)]
    ways += [(random.randrange(LOCATIONS), random.randrange(LOCATIONS)) for _ in range(random.randint(0, 2))]
    for here, there in ways:
        builder.emit(here, there, *(_op(random, plain) for _ in range(1 if plain else random.choice([0, 1, 1, 2]))))
    process = builder.build(0)
    return process if plain or random.random() < 0.9 else _meeting(random, process)


def _meeting(random: Random, process: Process) -> Process:
    """One step hands a value to whoever takes it."""
    at = random.randrange(len(process.transitions))
    sends = random.random() < 0.5
    sync = Sync("c", sends, (Register(0),) if sends else (), () if sends else (1,))
    return replace(process, transitions=set_at(process.transitions, at, replace(process.transitions[at], sync=sync)))


def _op(random: Random, plain: bool) -> Op:
    own, value = Register(random.randrange(REGISTERS)), Const(random.randrange(3))
    address = variable_address(random.randrange(VARIABLES))
    match random.randrange(17 if plain else 21):
        case 0 | 1 | 2 | 3:
            return Load(random.randrange(REGISTERS), address)
        case 4 | 5 | 6 | 7 | 8:
            return Store(address, random.choice([own, value]))
        case 9 | 10 | 11:
            return Assign(random.randrange(REGISTERS), random.choice([own, value]))
        case 12 | 13:
            return Assume(Binary(random.choice(["==", "!="]), own, value))
        case 14 | 15:
            return Fence(random.choice(["mfence", "sfence"]))
        case 16:
            return Rmw(random.randrange(REGISTERS), address, "exchange", value)
        case 17:
            return Lock()
        case 18:
            return Unlock()
        case 19 if random.random() < 0.3:
            return Assert(Binary("!=", own, value), "")
        case _:
            return Assume(_look(random)) if random.random() < 0.2 else Assign(0, value)


def _look(random: Random) -> Expr:
    """At whoever has the number 0 or 1."""
    other = random.randrange(2)
    looks: list[Expr] = [
        negate(At(other, frozenset({random.randrange(LOCATIONS)}))),
        Binary("!=", RegisterOf(other, random.randrange(REGISTERS)), Const(random.randrange(3))),
        BufferEmpty(other),
    ]
    return random.choice(looks)


def _changed(random: Random, process: Process, plain: bool) -> Process:
    """Something of it differs, which matters to somebody or not."""
    at, n = random.randrange(len(process.transitions)), random.randrange(REGISTERS)
    step = process.transitions[at]
    register = process.registers[n]
    location = random.randrange(LOCATIONS)
    match random.randrange(8):
        case 0:
            step = replace(step, ops=(_op(random, plain), *step.ops[1:]))
        case 1:
            step = replace(step, target=random.randrange(LOCATIONS))
        case 2:
            step = replace(step, locked=not step.locked)
        case 3:
            register = replace(register, domain=Domain(0, 3))
        case 4:
            register = replace(register, init=(1,))
        case 5:
            return replace(process, initial=location)
        case 6 if len(process.transitions) > 1:
            return replace(process, transitions=process.transitions[:-1])
        case _:
            ends = replace(process.locations[location], may_end=True)
            return replace(process, locations=set_at(process.locations, location, ends))
    return replace(
        process,
        transitions=set_at(process.transitions, at, step),
        registers=set_at(process.registers, n, register),
    )
