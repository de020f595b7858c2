"""The values that variables can hold, where these are few: found without regard to the order in which things happen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod

from memfence.program.expressions import Const, EvaluationError, Expr, Register, evaluate, registers_of
from memfence.program.facts.effects import value_written
from memfence.program.ir import Assign, Load, Op, Program, Rmw, Store

MOST_VALUES = 16
MOST_COMBINATIONS = 256

Known = frozenset[int] | None
"""A few values, or any."""


def few_values(program: Program) -> tuple[Known, ...]:
    """For each variable every value that it can hold, under any memory model whose reads see what was written."""
    found = _Values(program)
    while found.grow():
        pass
    return tuple(found.variables)


class _Values:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.variables: list[Known] = [frozenset(v.init) for v in program.variables]
        self.registers: list[list[Known]] = [
            [frozenset(r.init) | {0} for r in process.registers] for process in program.processes
        ]
        for process, known in zip(program.processes, self.registers, strict=True):
            for n, register in enumerate(process.registers):
                if register.unset is not None:
                    known[n] = None

    def grow(self) -> bool:
        before = (tuple(self.variables), tuple(map(tuple, self.registers)))
        for number, process in enumerate(self.program.processes):
            for step in process.transitions:
                for op in step.ops:
                    self._op(number, op)
        return before != (tuple(self.variables), tuple(map(tuple, self.registers)))

    def _op(self, process: int, op: Op) -> None:
        known = self.registers[process]
        match op:
            case Load(register, address):
                for n in address.variables:
                    self._learn(process, register, self.variables[n])
            case Assign(register, value):
                self._learn(process, register, self._value(known, value))
            case Store(address, value):
                for n in address.variables:
                    self._write(n, self._value(known, value))
            case Rmw():
                for n in op.address.variables:
                    written = value_written(op, Register(len(known)))
                    self._write(n, self._value([*known, self.variables[n]], written))
                    if op.register is not None:
                        self._learn(process, op.register, self.variables[n])
            case _:
                pass

    def _value(self, known: Sequence[Known], expr: Expr) -> Known:
        if isinstance(expr, Const):
            return frozenset({expr.value})
        used = sorted(registers_of(expr))
        sets = [known[n] for n in used]
        if any(values is None for values in sets):
            return None
        choices = [sorted(values) for values in sets if values is not None]
        if prod(map(len, choices)) > MOST_COMBINATIONS:
            return None
        results = (_result(expr, dict(zip(used, chosen, strict=True))) for chosen in product(*choices))
        return frozenset(result for result in results if result is not None)

    def _learn(self, process: int, register: int, values: Known) -> None:
        domain = self.program.processes[process].registers[register].domain
        known = self.registers[process]
        known[register] = _joined(known[register], values, domain.fit, domain.lo, domain.hi)

    def _write(self, variable: int, values: Known) -> None:
        domain = self.program.variables[variable].domain
        self.variables[variable] = _joined(self.variables[variable], values, domain.fit, domain.lo, domain.hi)


def _joined(known: Known, more: Known, fit: Callable[[int], int], lo: int, hi: int) -> Known:
    if known is None or more is None:
        return frozenset(range(lo, hi + 1)) if hi - lo < MOST_VALUES else None
    fitting = set(known)
    for value in more:
        try:
            fitting.add(fit(value))
        except EvaluationError:
            continue
    if len(fitting) > MOST_VALUES:
        return frozenset(range(lo, hi + 1)) if hi - lo < MOST_VALUES else None
    return frozenset(fitting)


def _result(expr: Expr, values: dict[int, int]) -> int | None:
    """None where it is an error."""

    def leaf(node: object, _: int) -> int:
        assert isinstance(node, Register)
        return values[node.index]

    try:
        return evaluate(expr, leaf)
    except EvaluationError:
        return None
