"""Expressions, taken apart: every access is a step of its own, in the order of the text.

It puts what it finds into a register. What stands behind `&&`, `||` or `?` and has steps is done only where C does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from memfence.codes import Code
from memfence.diagnostics import did_you_mean
from memfence.frontends.clitmus import syntax
from memfence.frontends.clitmus.calls import FUNCTIONS, ORDERS, Function, allowed_orders
from memfence.frontends.clitmus.places import Names
from memfence.frontends.clitmus.steps import Do, Fork, Step
from memfence.frontends.parsing.limits import operation
from memfence.frontends.parsing.syntax import Name
from memfence.program import ir
from memfence.program.expressions import Address, Binary, BinaryOp, Const, Expr, Register, Unary, variable_address
from memfence.program.orders import MemoryOrder
from memfence.source import Span

_RMW: dict[BinaryOp, ir.RmwKind] = {"+": "add", "-": "sub", "&": "and", "|": "or", "^": "xor"}
_NOTHING = Const(0)


class Values:
    """Evaluates expressions of one thread; the steps that this takes are added to `steps`."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.steps: list[Step] = []

    def apart(self, expression: syntax.Expression, into: int | None = None) -> tuple[tuple[Step, ...], Expr]:
        """The value, and the steps that come before it, for themselves."""
        kept, self.steps = self.steps, []
        value = self.value(expression, into)
        found, self.steps = tuple(self.steps), kept
        return found, value

    def do(self, span: Span, *ops: ir.Op) -> None:
        self.steps.append(Do(ops, span))

    def value(self, expression: syntax.Expression, into: int | None = None) -> Expr:
        """The value of `expression`, after its steps. An access puts what it finds `into` that register, if given."""
        match expression:
            case syntax.Number(number):
                return Const(number)
            case Name():
                return Register(self.names.local(expression))
            case syntax.Prefix(op, operand):
                return Unary(op, self.value(operand))
            case syntax.Infix("&&" | "||" as op, left, right, span):
                return self._both(op, left, right, span)
            case syntax.Infix(op, left, right):
                return operation(op, self.value(left), self.value(right))
            case syntax.Ternary():
                return self._either(expression)
            case syntax.Deref(pointer, span):
                address, is_atomic = self._place(pointer)
                return self._load(address, MemoryOrder.SEQ_CST if is_atomic else MemoryOrder.PLAIN, span, into)
            case syntax.AddressOf(_, span):
                self.names.report(Code.UNSUPPORTED, "addresses as values are not supported", span)
                return _NOTHING
            case syntax.Assignment():
                return self._assign(expression)
            case syntax.Call():
                return self._call(expression, into)
            case _:
                assert_never(expression)

    def _both(self, op: BinaryOp, left: syntax.Expression, right: syntax.Expression, span: Span) -> Expr:
        first = self.value(left)
        steps, second = self.apart(right)
        if not steps:
            return Binary(op, first, second)
        result = self.names.temporary()
        decided = Do((ir.Assign(result, Const(int(op == "||"))),), span)
        asked = (*steps, Do((ir.Assign(result, Binary("!=", second, Const(0))),), span))
        self.steps.append(Fork(first, asked, (decided,), span) if op == "&&" else Fork(first, (decided,), asked, span))
        return Register(result)

    def _either(self, ternary: syntax.Ternary) -> Expr:
        condition = self.value(ternary.condition)
        (then, one), (otherwise, other) = self.apart(ternary.then), self.apart(ternary.otherwise)
        result, span = self.names.temporary(), ternary.span
        ways = ((*then, Do((ir.Assign(result, one),), span)), (*otherwise, Do((ir.Assign(result, other),), span)))
        self.steps.append(Fork(condition, *ways, span))
        return Register(result)

    def _load(self, address: Address, order: MemoryOrder, span: Span, into: int | None) -> Expr:
        register = self.names.temporary() if into is None else into
        self.do(span, ir.Load(register, address, None, order))
        return Register(register)

    def _place(self, pointer: syntax.Expression) -> tuple[Address, bool]:
        """What a pointer points to, and whether that is atomic."""
        match pointer:
            case Name(text) if text in self.names.places:
                place = self.names.places[text]
                return Address(place.base, place.size, Const(0)), place.is_atomic
            case syntax.Infix("+", left, right) if self._is_pointer(left):
                address, is_atomic = self._place(left)
                index = self.value(right)
                total = index if address.index == Const(0) else Binary("+", address.index, index)
                return Address(address.base, address.size, total), is_atomic
            case syntax.AddressOf(syntax.Deref(inner)):
                return self._place(inner)
            case _:
                what = f"`{pointer.span.text}` does not point to a shared variable"
                hint = did_you_mean(pointer.span.text, list(self.names.places), "use a parameter of the thread")
                self.names.report(Code.TYPE_MISMATCH, what, pointer.span, hint)
                return variable_address(0), False

    def _is_pointer(self, expression: syntax.Expression) -> bool:
        while isinstance(expression, syntax.Infix) and expression.op == "+":
            expression = expression.left
        return isinstance(expression, Name) and expression.text in self.names.places

    def _assign(self, assignment: syntax.Assignment) -> Expr:
        if isinstance(assignment.target, Name):
            return self._assign_local(assignment, assignment.target)
        assert isinstance(assignment.target, syntax.Deref)
        address, is_atomic = self._place(assignment.target.pointer)
        op, span = assignment.op, assignment.span
        order = MemoryOrder.SEQ_CST if is_atomic else MemoryOrder.PLAIN
        if op is None:
            value = self.value(assignment.value)
            self.do(span, ir.Store(address, value, order=order))
            return value
        if is_atomic and op in _RMW:
            operand, old = self.value(assignment.value), self.names.temporary()
            self.do(span, ir.Rmw(old, address, _RMW[op], operand))
            return Register(old) if assignment.gives_old else operation(op, Register(old), operand)
        if is_atomic:
            self.names.report(Code.UNSUPPORTED, f"`{op}=` of an atomic variable is not supported", span)
        before = self._load(address, order, span, None)
        value = operation(op, before, self.value(assignment.value))
        self.do(span, ir.Store(address, value, order=order))
        return before if assignment.gives_old else value

    def _assign_local(self, assignment: syntax.Assignment, target: Name) -> Expr:
        register = self.names.local(target)
        is_truth = target.text in self.names.truths
        if assignment.op is None:
            return self.into(register, assignment.value, assignment.span, is_truth=is_truth)
        before: Expr = Register(register)
        if assignment.gives_old:
            before = Register(self.names.temporary())
            self.do(assignment.span, ir.Assign(before.index, Register(register)))
        value = operation(assignment.op, Register(register), self.value(assignment.value))
        self.do(assignment.span, ir.Assign(register, Binary("!=", value, Const(0)) if is_truth else value))
        return before

    def into(self, register: int, expression: syntax.Expression, span: Span, *, is_truth: bool) -> Expr:
        """Put the value of `expression` into the register of a local variable."""
        value = self.value(expression, None if is_truth else register)
        if is_truth:
            value = Binary("!=", value, Const(0))
        if value != Register(register):
            self.do(span, ir.Assign(register, value))
        return Register(register)

    def _call(self, call: syntax.Call, into: int | None) -> Expr:
        function = FUNCTIONS.get(call.function.text)
        if function is None:
            hint = did_you_mean(call.function.text, list(FUNCTIONS), "memfence knows the functions of <stdatomic.h>")
            self.names.report(Code.UNKNOWN_CALL, f"`{call.function.text}` is not known", call.function.span, hint)
            return _NOTHING
        expected = function.values + function.orders
        if len(call.arguments) != expected:
            what = f"`{call.function.text}` has {expected} argument{'' if expected == 1 else 's'}"
            self.names.report(Code.ARGUMENT_COUNT, f"{what}, not {len(call.arguments)}", call.span)
            return _NOTHING
        orders = self._orders(function, call.arguments[function.values :])
        return self._perform(function, call, orders, into)

    def _orders(self, function: Function, arguments: Sequence[syntax.Expression]) -> list[MemoryOrder]:
        orders: list[MemoryOrder] = []
        for position, argument in enumerate(arguments):
            order = ORDERS.get(argument.span.text)
            if order is None or order not in allowed_orders(function.kind, position):
                allowed = [f"memory_order_{one.value}" for one in allowed_orders(function.kind, position)]
                what = f"`{argument.span.text}` is not an order that can stand here"
                every = f"use one of {', '.join(allowed)}"
                hint = did_you_mean(argument.span.text, allowed, every) if order is None else every
                self.names.report(Code.TYPE_MISMATCH, what, argument.span, hint)
            orders.append(order or MemoryOrder.SEQ_CST)
        return orders or [MemoryOrder.SEQ_CST] * 2

    def _perform(self, function: Function, call: syntax.Call, orders: Sequence[MemoryOrder], into: int | None) -> Expr:
        order, span = orders[0], call.span
        if function.kind == "fence":
            self.do(span, ir.Fence("thread_fence", order))
            return _NOTHING
        address, _ = self._place(call.arguments[0])
        match function.kind:
            case "load":
                return self._load(address, order, span, into)
            case "store":
                value = self.value(call.arguments[1])
                self.do(span, ir.Store(address, value, order=order))
                return value
            case "modify":
                operand, old = self.value(call.arguments[1]), self.names.temporary() if into is None else into
                failing = MemoryOrder.SEQ_CST if order is MemoryOrder.SEQ_CST else MemoryOrder.RELAXED
                self.do(span, ir.Rmw(old, address, function.rmw, operand, None, order, failing))
                return Register(old)
            case "compare":
                return self._compare_exchange(call, address, order, orders[1])
            case _:
                assert_never(function.kind)

    def _compare_exchange(
        self, call: syntax.Call, address: Address, order: MemoryOrder, failure_order: MemoryOrder
    ) -> Expr:
        """The expected value is a local variable or in memory; where it is not found, what was found goes there."""
        _, place, desired = call.arguments[:3]
        old, result, span = self.names.temporary(), self.names.temporary(), call.span
        local = place.operand if isinstance(place, syntax.AddressOf) and isinstance(place.operand, Name) else None
        if local is not None and local.text not in self.names.places:
            expected: Expr = Register(self.names.local(local))
        else:
            local, (there, _) = None, self._place(place)
            expected = self._load(there, MemoryOrder.PLAIN, span, None)
        found = ir.Rmw(old, address, "compare_exchange", self.value(desired), expected, order, failure_order)
        succeeds = ir.Assign(result, Binary("==", Register(old), expected))
        if local is not None:
            assert isinstance(expected, Register)
            self.do(span, found, succeeds, ir.Assign(expected.index, Register(old)))
        else:
            self.do(span, found, succeeds)
            failed = Do((ir.Store(there, Register(old)),), span)
            self.steps.append(Fork(Register(result), (), (failed,), span))
        return Register(result)
