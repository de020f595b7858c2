"""Random programs in which every process has a cycle: the symbolic engine's own generator, plain and seeded.

`generators.programs` rarely draws loops that store; here every process is a small control graph with a way back.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, Const, Expr, Register, variable_address
from memfence.program.ir import (
    Assign,
    Assume,
    Domain,
    Fence,
    Load,
    Op,
    Process,
    Program,
    Rmw,
    RmwKind,
    SharedVar,
    Store,
    Transition,
)
from memfence.program.orders import MemoryOrder

VALUES = Domain(0, 2)


def cyclic_program(seed: int, *, ordered: bool = False) -> Program:
    """One or two processes, each with at least one cycle in its control graph; the same for the same seed.

    `ordered`: some accesses have memory orders or are read-modify-write ops.
    """
    random = Random(seed)
    variables = random.choice([1, 2, 2, 2, 3])
    count = random.choice([1, 2, 2, 2, 2, 2, 3])
    shared = tuple(SharedVar(f"x{n}", VALUES, (random.choice([0, 0, 0, 1]),)) for n in range(variables))
    processes = tuple(random_process(random, f"P{n}", variables, 4 if count < 3 else 3) for n in range(count))
    program = Program(f"cyclic {seed}", shared, processes)
    return with_orders(program, random) if ordered else program


def with_orders(program: Program, random: Random) -> Program:
    """`program` with orders for some of its accesses, and some of them turned into a read-modify-write."""

    def changed(transition: Transition) -> Transition:
        return replace(transition, ops=tuple(_ordered(op, random) for op in transition.ops))

    processes = tuple(replace(p, transitions=tuple(map(changed, p.transitions))) for p in program.processes)
    return replace(program, processes=processes)


def _ordered(op: Op, random: Random) -> Op:
    if random.random() < 0.6:
        return op
    match op:
        case Load(register, address) if random.random() < 0.5:
            kind: RmwKind = random.choice(["exchange", "compare_exchange", "max", "and"])
            expected = Const(random.randint(0, 2)) if kind == "compare_exchange" else None
            return Rmw(register, address, kind, Const(random.randint(0, 2)), expected)
        case Load():
            return replace(op, order=random.choice([MemoryOrder.ACQUIRE, MemoryOrder.SEQ_CST]))
        case Store():
            return replace(op, order=random.choice([MemoryOrder.RELEASE, MemoryOrder.RELEASE, MemoryOrder.SEQ_CST]))
        case Fence():
            return Fence("thread_fence", random.choice([MemoryOrder.RELEASE, MemoryOrder.SEQ_CST, MemoryOrder.ACQUIRE]))
        case _:
            return op


def random_process(random: Random, name: str, variables: int, longest: int) -> Process:
    builder = ProcessBuilder(name, name)
    registers = random.choice([0, 0, 1])
    for n in range(registers):
        builder.register(f"r{n}", VALUES)
    builder.scratch(0, VALUES)
    size = random.randint(2, longest)
    for _ in range(size):
        builder.location()
    for here in range(size - 1):
        _edge(random, builder, here, here + 1, variables, registers)
    for _ in range(random.choice([1, 1, 1, 2])):
        here = random.randrange(size)
        _edge(random, builder, here, random.randint(0, here), variables, registers)
    return builder.build(0)


def _edge(random: Random, builder: ProcessBuilder, here: int, there: int, variables: int, registers: int) -> None:
    locked = False
    scratch = registers  # the register behind the others
    value = Const(random.randint(0, 2))
    store, load = (
        Store(_address(random, variables), _value(random, registers)),
        Load(scratch, _address(random, variables)),
    )
    ops: tuple[Op, ...]
    match random.randrange(24):
        case 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8:
            ops = (store,)
        case 9 | 10 | 11 | 12 | 13 | 14:
            ops = (load, Assume(Binary(random.choice(["==", "!="]), Register(scratch), value)))
        case 15 | 16 if registers:
            ops = (Load(0, _address(random, variables)),)
        case 17 if registers:
            ops = (Assume(Binary("==", Register(0), value)),)
        case 18 if registers:
            ops = (Assign(0, Binary("%", Binary("+", Register(0), Const(1)), Const(3))),)
        case 19:
            ops = (Fence("mfence"),)
        case 20:
            ops = (Fence("sfence"),)
        case 21:
            ops, locked = (load, Assume(Binary("==", Register(scratch), value)), store), True
        case 22:
            ops = (store, load, Assume(Binary("!=", Register(scratch), value)))
        case _:
            ops = ()
    builder.emit(here, there, *ops, locked=locked)


def _address(random: Random, variables: int) -> Address:
    return variable_address(random.randrange(variables))


def _value(random: Random, registers: int) -> Expr:
    return Register(0) if registers and random.random() < 0.3 else Const(random.randint(0, 2))
