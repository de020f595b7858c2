"""Expressions of a process: names become registers, constants or loads; each load of a step is an op of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from memfence.codes import Code
from memfence.diagnostics import Label
from memfence.frontends.parsing.limits import operation
from memfence.frontends.promela import syntax
from memfence.frontends.promela.declarations import (
    INT,
    Errors,
    Model,
    Shape,
    SharedName,
    element_count,
    strides,
    unknown_name,
)
from memfence.frontends.promela.timeouts import MARK as TIMEOUT
from memfence.program import expressions
from memfence.program.builder import ProcessBuilder
from memfence.program.facts.ends import has_ended
from memfence.program.ir import Assert, Assign, Load, Op, Store
from memfence.records import Record

ITS_ENDS = frozenset({-1})
"""Stands for the locations where a process ends, until all processes are known."""


Look = Callable[[syntax.Expression], expressions.Expr]
"""What an expression means to somebody who sees every process."""


class LocalName(Record):
    """A local variable, parameter, or field of a local record: `register` is its first register, None if it never
    changes from `values`. The record itself has no values."""

    name: syntax.Name
    register: int | None
    shape: Shape
    values: tuple[int, ...]

    def element(self, position: int) -> expressions.Expr:
        return (
            expressions.Const(self.values[position])
            if self.register is None
            else expressions.Register(self.register + position)
        )


@dataclass(slots=True)
class Names:
    """What a name means at some place of a process. `beyond`: what expressions mean in a `never` claim."""

    model: Model
    errors: Errors
    beyond: Look | None = None
    scopes: list[dict[str, LocalName]] = field(default_factory=list)

    def find(self, name: syntax.Name) -> LocalName | SharedName | int | None:
        """The variable or constant; None after reporting that there is none."""
        scope = next((scope for scope in reversed(self.scopes) if _root(name.text) in scope), None)
        if scope is not None:
            found = scope.get(name.text)
            if found is not None and found.values:
                return found
            unknown_name(name, scope, self.errors)
            return None
        if name.text in self.model.shared:
            return self.model.shared[name.text]
        if name.text in self.model.constants:
            return self.model.constants[name.text]
        unknown_name(name, self.all_names(), self.errors)
        return None

    def size_of(self, array: syntax.Name) -> int | None:
        """How many elements the array has, of records too; None if it is not one."""
        scope = next((scope for scope in reversed(self.scopes) if array.text in scope), None)
        if scope is not None:
            return scope[array.text].shape[0]
        if array.text in self.model.records:
            return self.model.records[array.text]
        found = self.find(array)
        return found.shape[0] if isinstance(found, SharedName) else None

    def all_names(self) -> Iterator[str]:
        for scope in self.scopes:
            yield from scope
        yield from self.model.shared
        yield from self.model.constants

    def is_shared(self, name: str) -> bool:
        return name in self.model.shared and not any(_root(name) in scope for scope in self.scopes)


def _root(name: str) -> str:
    """The variable whose field `name` is, or itself."""
    return name.partition(".")[0]


class Evaluation:
    """Collects the ops of one step while its expressions are lowered.

    A variable is loaded once per step, however often the text mentions it: the step is atomic, so both reads would see
    the same. With `split` every mention is a load of its own, into a register that lives on between transitions.
    """

    def __init__(self, names: Names, builder: ProcessBuilder, pid: int, *, split: bool = False) -> None:
        self.names, self.builder, self.pid, self.split = names, builder, pid, split
        self.errors = names.errors
        self.ops: list[Op] = []
        self.loaded: dict[expressions.Address, expressions.Expr] = {}
        self.temporaries = 0

    def value(self, expression: syntax.Expression, when: expressions.Expr | None = None) -> expressions.Expr:
        """The value of `expression`; what it loads is loaded only where `when` holds."""
        if self.names.beyond is not None:
            return expressions.fold(self.names.beyond(expression))
        return _within_int(expressions.fold(self._value(expression, when)))

    def _value(self, expression: syntax.Expression, when: expressions.Expr | None) -> expressions.Expr:
        match expression:
            case syntax.Number(value):
                return expressions.Const(value)
            case syntax.Pid():
                return expressions.Const(self.pid)
            case syntax.Reference():
                return self.read(expression, when)
            case syntax.UnaryOperation(op, operand):
                return expressions.Unary(op, self.value(operand, when))
            case syntax.BinaryOperation("&&" | "||" as op, left, right):
                first = self.value(left, when)
                needed = first if op == "&&" else expressions.negate(first)
                return expressions.Binary(op, first, self.value(right, _both(when, needed)))
            case syntax.BinaryOperation(op, left, right):
                return operation(op, self.value(left, when), self.value(right, when))
            case syntax.Choice(condition, then, otherwise):
                test = self.value(condition, when)
                yes = self.value(then, _both(when, test))
                return expressions.Conditional(test, yes, self.value(otherwise, _both(when, expressions.negate(test))))
            case syntax.RunningCount():
                return self.running()
            case syntax.Timeout():
                return TIMEOUT
            case syntax.NoProgress(span):
                self.errors.add(Code.UNSUPPORTED, "`np_`: only a property can look at labels", span)
            case syntax.EmptyBuffer(_, _, span):
                self.errors.add(Code.UNSUPPORTED, f"`{span.text}`: only a property can look at a buffer", span)
            case syntax.Run(proctype, _, span):
                message = f"`run {proctype.text}` is only possible at the beginning of `init`"
                self.errors.add(Code.UNSUPPORTED, message, span, hint="use `active proctype`")
            case syntax.LabelReference(_, _, _, span) | syntax.LocalReference(_, _, _, span):
                message = f"`{span.text}`: a process cannot look into another one; only an `ltl` block can"
                self.errors.add(Code.UNSUPPORTED, message, span, hint="use a shared variable")
            case _:
                assert_never(expression)
        return expressions.Const(0)

    def running(self) -> expressions.Expr:
        """How many processes have not ended, or have stores pending: who waits for them sees all they did."""
        running: expressions.Expr = expressions.Const(0)
        for number in range(self.names.model.processes):
            running = expressions.Binary("+", running, expressions.negate(has_ended(number, ITS_ENDS)))
        return running

    def read(self, reference: syntax.Reference, when: expressions.Expr | None) -> expressions.Expr:
        found = self.names.find(reference.name)
        match found:
            case None:
                return expressions.Const(0)
            case int():
                return expressions.Const(found)
            case SharedName():
                return self.load(self.address(found, reference, when), when)
            case LocalName(_, _, shape):
                index = self.index(found, reference, when)
                if isinstance(index, expressions.Const):
                    return found.element(index.value)
                self.check_bounds(index, element_count(shape), when)
                return _choose(index, [found.element(i) for i in range(element_count(shape))])
            case _:
                assert_never(found)

    def load(self, address: expressions.Address, when: expressions.Expr | None) -> expressions.Expr:
        if address in self.loaded:
            return self.loaded[address]
        value = expressions.Register(self.temporary())
        self.ops.append(Load(value.index, address, when))
        if when is None and not self.split:
            self.loaded[address] = value
        return value

    def temporary(self) -> int:
        """A register for an intermediate value."""
        self.temporaries += 1
        if not self.split:
            return self.builder.scratch(self.temporaries - 1, INT)
        name = f"%split{self.temporaries - 1}"
        known = next((i for i, r in enumerate(self.builder.registers) if r.name == name), None)
        return self.builder.register(name, INT) if known is None else known

    def address(
        self, shared: SharedName, reference: syntax.Reference, when: expressions.Expr | None
    ) -> expressions.Address:
        index = self.index(shared, reference, when)
        if isinstance(index, expressions.Const):
            return expressions.variable_address(shared.base + index.value)
        return expressions.Address(shared.base, element_count(shared.shape), index)

    def index(
        self, found: LocalName | SharedName, reference: syntax.Reference, when: expressions.Expr | None
    ) -> expressions.Expr:
        """Which element of `found` the reference means; a constant one lies within bounds."""
        result: expressions.Expr = expressions.Const(0)
        parts = zip(reference.indices, found.shape, strides(found.shape), strict=True)
        several = sum(size is not None for size in found.shape) > 1
        for given, size, stride in parts:
            if size is None or given is None:
                self.check_kind(found, reference, given is not None, size is not None)
                continue
            index = self.part_index(found, reference, given, size, when)
            if several and not isinstance(index, expressions.Const):  # one that is too large could mean another element
                self.check_bounds(index, size, when)
            result = expressions.fold(
                expressions.Binary("+", result, expressions.Binary("*", index, expressions.Const(stride)))
            )
        return result

    def part_index(
        self,
        found: LocalName | SharedName,
        reference: syntax.Reference,
        given: syntax.Expression,
        size: int,
        when: expressions.Expr | None,
    ) -> expressions.Expr:
        index = self.value(given, when)
        if isinstance(index, expressions.Const) and not 0 <= index.value < size:
            declared = Label(found.name.span, "declared here")
            message = f"index {index.value} of `{reference.name.text}` lies outside 0..{size - 1}"
            self.errors.add(Code.BAD_ADDRESS, message, reference.span, declared)
            return expressions.Const(0)
        return index

    def check_kind(
        self, found: LocalName | SharedName, reference: syntax.Reference, has_index: bool, needs: bool
    ) -> None:
        if has_index == needs:
            return
        declared, name = Label(found.name.span, "declared here"), reference.name.text
        if needs:
            message, hint = (
                f"array `{name}` is used without an index",
                f"write `{name}[0]`" if "." not in name else None,
            )
        else:
            message, hint = f"`{name}` is not an array", None
        self.errors.add(Code.TYPE_MISMATCH, message, reference.span, declared, hint=hint)

    def check_bounds(self, index: expressions.Expr, size: int, when: expressions.Expr | None) -> None:
        """Registers have no addresses: a wrong index of a local array has to fail by itself."""
        inside = expressions.Binary(
            "&&",
            expressions.Binary("<=", expressions.Const(0), index),
            expressions.Binary("<", index, expressions.Const(size)),
        )
        self.ops.append(Assert(inside if when is None else expressions.Binary("||", expressions.negate(when), inside)))

    def assign(self, target: syntax.Reference, value: syntax.Expression) -> None:
        """Append the ops of `target = value`."""
        found = self.names.find(target.name)
        given = self.value(value)
        match found:
            case None:
                pass
            case int():
                message = f"`{target.name.text}` is a constant and cannot be assigned to"
                self.errors.add(Code.TYPE_MISMATCH, message, target.span)
            case SharedName():
                self.ops.append(Store(self.address(found, target, None), given))
            case LocalName(_, register, shape):
                index = self.index(found, target, None)
                if register is None:
                    assert self.errors.found, f"{target.name.text} was taken for a constant"
                else:
                    self.assign_element(register, element_count(shape), index, given)
            case _:
                assert_never(found)

    def assign_element(self, register: int, size: int, index: expressions.Expr, given: expressions.Expr) -> None:
        if isinstance(index, expressions.Const):
            self.ops.append(Assign(register + index.value, given))
            return
        self.check_bounds(index, size, None)
        position, value = self.temporary(), self.temporary()  # both may depend on the elements
        self.ops += [Assign(position, index), Assign(value, given)]
        for i in range(size):
            here = expressions.Binary("==", expressions.Register(position), expressions.Const(i))
            self.ops.append(
                Assign(
                    register + i,
                    expressions.Conditional(here, expressions.Register(value), expressions.Register(register + i)),
                )
            )


def _both(when: expressions.Expr | None, also: expressions.Expr) -> expressions.Expr | None:
    folded = expressions.fold(also if when is None else expressions.conjunction(when, also))
    return None if isinstance(folded, expressions.Const) and folded != expressions.Const(0) else folded


def _choose(index: expressions.Expr, elements: list[expressions.Expr]) -> expressions.Expr:
    """The element at `index`, found by halving, so that long arrays do not make deep expressions."""
    if len(elements) == 1:
        return elements[0]

    def between(low: int, high: int) -> expressions.Expr:
        if high - low == 1:
            return elements[low]
        middle = (low + high) // 2
        return expressions.Conditional(
            expressions.Binary("<", index, expressions.Const(middle)), between(low, middle), between(middle, high)
        )

    return between(0, len(elements))


def _within_int(expr: expressions.Expr) -> expressions.Expr:
    return expressions.Const(INT.fit(expr.value)) if isinstance(expr, expressions.Const) else expr
