"""Counters that are taken to stay small: a program that fails where one of them does not.

C's integers have 32 bits, and a variable that is counted up and down could hold any of them; a search over values is
lost there. A program in which such variables have a small range, and leaving it is an error, can do whatever the
original does until one of them leaves it. So if it never fails, the original never does, and they stay small.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from memfence.program.expressions import Binary, Expr, Register, walk
from memfence.program.ir import Assign, Domain, Load, Process, Program, RegisterVar, Rmw, SharedVar, Store

SMALL = 64
"""Ranges up to this size are left alone."""
ARITHMETIC = ("+", "-", "*")
COUNTING = ("add", "sub")


def has_counters(program: Program) -> bool:
    """Whether there is anything to make smaller."""
    return bool(_counted_variables(program)) or any(_counted_registers(p) for p in program.processes)


def with_small_counters(program: Program, most: int) -> Program:
    """The program in which counters lie between -1 and `most`, or their initial values; it fails where one does not."""
    counted = _counted_variables(program)
    variables = tuple(_small(v, most) if n in counted else v for n, v in enumerate(program.variables))
    return replace(program, variables=variables, processes=tuple(_with_small(p, most) for p in program.processes))


def _with_small(process: Process, most: int) -> Process:
    counted = _counted_registers(process)
    if not counted:
        return process
    registers = tuple(_small(r, most) if n in counted else r for n, r in enumerate(process.registers))
    return replace(process, registers=registers)


Variable = TypeVar("Variable", SharedVar, RegisterVar)


def _small(variable: Variable, most: int) -> Variable:
    lo = max(variable.domain.lo, min(-1, *variable.init))
    hi = min(variable.domain.hi, max(most, *variable.init))
    return replace(variable, domain=Domain(lo, hi, "error", variable.domain.names))


def _is_large(variable: SharedVar | RegisterVar) -> bool:
    return variable.domain.size > SMALL


def _counted_variables(program: Program) -> set[int]:
    """Large variables that get the result of a computation."""
    found: set[int] = set()
    for process in program.processes:
        for op in (op for t in process.transitions for op in t.ops):
            match op:
                case Store(address, value) if _computes(value):
                    found.update(range(address.base, address.base + address.size))
                case Rmw(_, address, kind, operand) if kind in COUNTING or _computes(operand):
                    found.update(range(address.base, address.base + address.size))
                case _:
                    pass
    return {n for n in found if _is_large(program.variables[n])}


def _counted_registers(process: Process) -> set[int]:
    """Large registers that get the result of a computation with themselves, step by step or through others."""
    flows: dict[int, set[int]] = {}
    computed: set[int] = set()
    for op in (op for t in process.transitions for op in t.ops):
        if isinstance(op, Assign):
            flows.setdefault(op.register, set()).update(_read(op.value))
            if _computes(op.value):
                computed.add(op.register)
        elif isinstance(op, Load | Rmw) and op.register is not None:
            flows.setdefault(op.register, set())
    return {r for r in computed if r in _sources(flows, r) and _is_large(process.registers[r])}


def _sources(flows: dict[int, set[int]], register: int) -> set[int]:
    """The registers whose values may get into this one."""
    found: set[int] = set()
    waiting = [register]
    while waiting:
        for source in flows.get(waiting.pop(), set()) - found:
            found.add(source)
            waiting.append(source)
    return found


def _computes(expr: Expr) -> bool:
    return any(isinstance(node, Binary) and node.op in ARITHMETIC for node in walk(expr))


def _read(expr: Expr) -> set[int]:
    return {node.index for node in walk(expr) if isinstance(node, Register)}
