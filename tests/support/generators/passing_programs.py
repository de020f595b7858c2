"""Random programs with much work on registers between accesses, which backward searches pass, and which may fail."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Expr, Register, variable_address
from memfence.program.ir import (
    Assert,
    Assign,
    Assume,
    Domain,
    Fence,
    Load,
    Op,
    Process,
    Program,
    RegisterVar,
    Rmw,
    SharedVar,
    Store,
)
from memfence.program.parameterised import several

VALUES, STRICT = Domain(0, 2), Domain(0, 2, "error")


def passing_program(seed: int, *, instances: bool = False) -> Program:
    """The same for the same seed. `instances`: any number of `T`, sometimes beside a process `P`."""
    random = Random(seed)
    count = random.choice([1, 2, 2])
    starts = [(0,), (0,), (1,), (0, 1)]
    shared = tuple(SharedVar(f"x{n}", random.choice([VALUES, STRICT]), random.choice(starts)) for n in range(count))
    if instances:
        fixed = [_process(random, "P", count, 3)] if random.random() < 0.4 else []
        return Program(
            f"instances {seed}", shared, (*fixed, *several(_process(random, "T", count, 4))), any_number=("T",)
        )
    names = ["P0", "P1", "P2"][: random.choice([1, 2, 2, 2, 3])]
    longest = 5 if len(names) < 3 else 3
    return Program(f"passing {seed}", shared, tuple(_process(random, name, count, longest) for name in names))


def _process(random: Random, name: str, variables: int, longest: int) -> Process:
    builder = ProcessBuilder(name, name)
    registers = random.choice([1, 1, 2])
    for n in range(registers):
        builder.register(f"r{n}", random.choice([VALUES, STRICT]))
    builder.scratch(0, VALUES)
    size = random.randint(2, longest)
    for _ in range(size + 1):
        builder.location()
    back = [(random.randrange(size + 1), random.randrange(size + 1)) for _ in range(random.choice([0, 1, 1, 2]))]
    for here, there in (*((n, n + 1) for n in range(size)), *back):
        is_local = random.random() < 0.45
        ops, locked = (_local(random, registers), False) if is_local else _access(random, registers, variables)
        builder.emit(here, there, *ops, locked=locked)
    process = builder.build(0)
    return replace(process, registers=tuple(_started(random, register) for register in process.registers))


def _started(random: Random, register: RegisterVar) -> RegisterVar:
    several_values = not register.transient and random.random() < 0.15
    return replace(register, init=tuple(random.sample(range(3), 2))) if several_values else register


def _local(random: Random, registers: int) -> tuple[Op, ...]:
    """Work on registers: it may wait, fail, or put a value outside its range."""
    one, other, value = random.randrange(registers), random.randrange(registers), Const(random.randrange(3))
    return random.choice(
        [
            (),
            (Assert(_compared(random, one)),),
            (Assume(_compared(random, one)),),
            (Assume(_compared(random, one)), Assign(other, value)),
            (Assign(one, value),),
            (Assign(one, Register(other)),),
            (Assign(one, Binary("+", Register(one), Const(1))),),
            (Assign(one, Binary("%", Binary("+", Register(one), Const(1)), Const(3))),),
        ]
    )


def _access(random: Random, registers: int, variables: int) -> tuple[tuple[Op, ...], bool]:
    """Loads and stores, and whether the step is locked: fences in plain steps, guarded ones, exchanges that fail."""
    scratch, register = registers, random.randrange(registers)
    x, y = (variable_address(random.randrange(variables)) for _ in range(2))
    value = random.choice([Register(register), Const(random.randrange(3)), Const(random.randrange(3))])
    store = Store(x, value, when=_compared(random, register) if random.random() < 0.2 else None)
    load = Load(register, y, when=_compared(random, register) if random.random() < 0.15 else None)
    tried = (Load(scratch, y), random.choice([Assume, Assume, Assert])(_compared(random, scratch)))
    fence = Fence(random.choice(["mfence", "mfence", "sfence"]))
    swap = Rmw(random.choice([register, scratch]), x, "compare_exchange", Const(random.randrange(3)), Const(0))
    mixed = [(load, fence), (fence, store), (store, fence), (store, *tried, fence), (*tried, fence, store)]
    plain: list[tuple[Op, ...]] = [(store,)] * 4 + [(load,)] * 4 + [tried] * 3 + [(fence,), random.choice(mixed)]
    ops = random.choice([*plain, (*tried, store), (store, *tried), (swap,), (swap, *tried)])
    return ops, len(ops) == 3 and random.random() < 0.4


def _compared(random: Random, register: int) -> Expr:
    return Binary(random.choice(["==", "!=", "<"]), Register(register), Const(random.randrange(3)))
