"""The ops of a step, in terms of the explored program. Everything that depends on the shape of its ops is here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from memfence.frontends.c.machine.arithmetic import choose, compare, compute
from memfence.frontends.c.machine.residual import (
    Among,
    Barrier,
    Bus,
    Cell,
    Check,
    Draw,
    Gather,
    Guard,
    Modify,
    Op,
    Pause,
    Read,
    Set,
    Target,
    Write,
    loading,
    storing,
)
from memfence.frontends.c.machine.value_sets import UNWRITTEN, all_of_bits
from memfence.frontends.c.machine.values import Known, Scalar, Unknown
from memfence.program import expressions, ir
from memfence.program.orders import MemoryOrder

ASSERTIONS = ("assertion failed", "error reached")
"""Failures that the user wrote as such."""


UNWRITTEN_CONST = expressions.Const(UNWRITTEN)


class Emission:
    """Translates ops; `variables`: the number of each cell by address, `registers`: new numbers of registers.

    `ended`: of threads that others wait for without a flag in memory, what is true when all of them have ended.
    `unwritten`: what stands for memory that nobody has written.
    """

    def __init__(
        self,
        variables: Mapping[int, int],
        registers: Mapping[int, int],
        ended: Mapping[int, expressions.Expr],
        unwritten: int,
    ) -> None:
        self.variables = variables
        self.registers = registers
        self.ended = ended
        self.unwritten = expressions.Const(unwritten)

    def ops(self, op: Op) -> list[ir.Op]:
        match op:
            case Read(register, target, order, _):
                return [ir.Load(self.registers[register], self.address(target), order=order)]
            case Write(target, value, order, direct, _):
                return self._store(target, self.expr(value), order, direct)
            case Modify():
                return self._modify(op)
            case Set(register, value):
                return [ir.Assign(self.registers[register], self.expr(value))]
            case Draw():
                raise AssertionError("a nondeterministic integer without values")
            case Guard(condition):
                return [ir.Assume(self.expr(condition))]
            case Check(condition, text):
                return [ir.Assert(self.expr(condition), "" if text in ASSERTIONS else text)]
            case Barrier(order):
                return [ir.Fence("thread_fence", order)]
            case Gather(thread):
                return [ir.Assume(self.ended[thread])]
            case Bus(take):
                return [ir.Lock() if take else ir.Unlock()]
            case Pause():
                return []
            case _:
                assert_never(op)

    def expr(self, expr: expressions.Expr) -> expressions.Expr:
        def renumbered(leaf: expressions.Expr) -> expressions.Expr:
            if isinstance(leaf, expressions.Register):
                return expressions.Register(self.registers[leaf.index])
            return self.unwritten if leaf == UNWRITTEN_CONST else leaf

        return expressions.rewrite(expr, renumbered)

    def address(self, target: Target) -> expressions.Address:
        if isinstance(target, Cell):
            return expressions.variable_address(self.variables[target.address])
        return self._among(target)

    def _among(self, target: Among) -> expressions.Address:
        """An index from the pointer: by arithmetic for runs of equal distance, else case by case."""
        numbers = [self.variables[a] for a in target.cells]
        first, last = min(numbers), max(numbers)
        pointer = self.expr(target.pointer)
        index: expressions.Expr = expressions.Const(-1)
        for run in reversed(_runs(list(zip(target.cells, numbers, strict=True)))):
            start, variable = run[0]
            if len(run) == 1:
                index = expressions.Conditional(
                    expressions.Binary("==", pointer, expressions.Const(start)),
                    expressions.Const(variable - first),
                    index,
                )
                continue
            stride = run[1][0] - start
            inside = expressions.conjunction(
                expressions.Binary(">=", pointer, expressions.Const(start)),
                expressions.Binary("<=", pointer, expressions.Const(run[-1][0])),
            )
            offset = expressions.Binary(
                "/", expressions.Binary("-", pointer, expressions.Const(start)), expressions.Const(stride)
            )
            value = (
                offset if variable == first else expressions.Binary("+", offset, expressions.Const(variable - first))
            )
            index = expressions.Conditional(inside, value, index) if len(run) < len(numbers) else value
        return expressions.Address(first, last - first + 1, index)

    def _store(self, target: Target, value: expressions.Expr, order: MemoryOrder, direct: bool) -> list[ir.Op]:
        return [ir.Store(self.address(target), value, direct, order)]

    def _modify(self, op: Modify) -> list[ir.Op]:
        address, register = self.address(op.target), self.registers[op.register]
        order, failure = op.order, op.failure_order or op.order
        if op.kind == "cas":
            assert op.expected is not None
            expected, desired = self.expr(op.expected), self.expr(op.operand)
            if op.is_spurious:
                return _failing(register, address, desired, expected, order, failure)
            return [ir.Rmw(register, address, "compare_exchange", desired, expected, order, failure)]
        if op.kind in PLAIN_KINDS and not op.may_wrap:
            return [ir.Rmw(register, address, PLAIN_KINDS[op.kind], self.expr(op.operand), order=order)]
        old = Unknown(expressions.Register(register), all_of_bits(op.bits))
        operand = Unknown(self.expr(op.operand), all_of_bits(op.bits))
        new = _updated(op.kind, op.bits, old, operand).expr
        return [ir.Load(register, address, order=loading(order)), ir.Store(address, new, order=storing(order))]


def _failing(
    register: int,
    address: expressions.Address,
    operand: expressions.Expr,
    expected: expressions.Expr,
    order: MemoryOrder,
    failure: MemoryOrder,
) -> list[ir.Op]:
    """A compare-exchange that finds what it expects, and fails: as if it had expected something else."""
    other: expressions.Expr = expressions.Binary("^", expected, expressions.Const(1))
    if isinstance(expected, expressions.Const):
        other = expressions.Const(expected.value ^ 1)
    found = expressions.Binary("==", expressions.Register(register), expected)
    return [ir.Rmw(register, address, "compare_exchange", operand, other, order, failure), ir.Assume(found)]


PLAIN_KINDS: dict[str, ir.RmwKind] = {
    "xchg": "exchange", "add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor", "nand": "nand",
    "max": "max", "min": "min",
}  # fmt: skip


def _updated(kind: str, bits: int, old: Scalar, operand: Scalar) -> Scalar:
    match kind:
        case "xchg":
            return operand
        case "nand":
            return compute("xor", bits, compute("and", bits, old, operand), Known(-1))
        case "max" | "min" | "umax" | "umin":
            predicate = {"max": "sge", "min": "sle", "umax": "uge", "umin": "ule"}[kind]
            return choose(compare(predicate, bits, old, operand), old, operand)
        case _:
            return compute(kind, bits, old, operand)


def _runs(cells: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Cells at equal distances with consecutive numbers."""
    runs: list[list[tuple[int, int]]] = []
    for address, number in cells:
        run = runs[-1] if runs else None
        follows = run is not None and number == run[-1][1] + 1
        if run is not None and follows and (len(run) == 1 or address - run[-1][0] == run[1][0] - run[0][0]):
            run.append((address, number))
        else:
            runs.append([(address, number)])
    return runs


def is_locked(step_locked: bool, ops: Sequence[ir.Op]) -> bool:
    """Whether the step works on memory directly. Of a read-modify-write op every model knows that by itself."""
    return step_locked and not any(isinstance(op, ir.Rmw) for op in ops)
