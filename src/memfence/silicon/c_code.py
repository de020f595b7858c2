"""Processes as C functions, one instance of the variables at a time: loads, stores and fences as they are.

A step that cannot be taken now is tried again, a bounded number of times; a process that does not come to its end then
leaves its instance uncounted. What is seen is still a run of the program: only runs are lost, none is invented.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.program import expressions, ir
from memfence.program.traversal import reachable_locations
from memfence.records import Record
from memfence.source import Span

MOST_TRIES = 10_000
WORD = ir.Domain(-(2**31), 2**31 - 1)


def refuse(what: str, span: Span) -> InputError:
    hint = "`memfence check` answers for it"
    return InputError([Diagnostic(Code.UNSUPPORTED, f"cannot be run on the processor: {what}", Label(span), hint=hint)])


Leaf = expressions.Shared | expressions.Register | expressions.RegisterOf | expressions.At | expressions.BufferEmpty


def in_c(expr: expressions.Expr, leaf: Callable[[Leaf], str]) -> str:
    """The expression in C; `leaf` writes what it reads."""

    def text(inner: expressions.Expr) -> str:
        match inner:
            case expressions.Const(value):
                return literal(value)
            case expressions.Unary(op, operand):
                return f"({op}{text(operand)})"
            case expressions.Binary("*" | "<<" as op, left, right):
                return f"((wide){text(left)} {op} {text(right)})"
            case expressions.Binary(op, left, right):
                return f"({text(left)} {op} {text(right)})"
            case expressions.Conditional(condition, then, otherwise):
                return f"({text(condition)} ? {text(then)} : {text(otherwise)})"
            case _:
                return leaf(inner)

    return text(expressions.fold(expr))


def literal(value: int) -> str:
    """The constant in C: C has no literal for the least of 64 bits, and computes with literals as wide as they are."""
    if WORD.holds(value):
        return str(value) if value >= 0 else f"({value})"
    low, high = value & (2**64 - 1), value >> 64
    return f"(((wide)({high}) * ((wide)1 << 64)) + {low}u)"


def wide(name: str, domain: ir.Domain) -> str:
    """The value of a variable of C; of more than 32 bits in the type that all arithmetic is exact in."""
    return name if WORD.holds(domain.lo) and WORD.holds(domain.hi) else f"((wide){name})"


def expression(expr: expressions.Expr, register: Callable[[int], str], span: Span) -> str:
    """In C, as it is evaluated by a process whose registers have these names."""

    def leaf(read: Leaf) -> str:
        if isinstance(read, expressions.Register):
            return register(read.index)
        raise refuse("a step that looks at other processes", span)

    return in_c(expr, leaf)


class ProcessCode(Record):
    """One process as the function `run_N`, which returns whether it came to its end."""

    program: ir.Program
    number: int

    @property
    def process(self) -> ir.Process:
        return self.program.processes[self.number]

    def register(self, index: int) -> str:
        return f"r{index}_{self.process.registers[index].name}".translate(_NAMES)

    def definition(self) -> Iterator[str]:
        """The function, line by line; registers are saved where `observe` finds them."""
        process = self.process
        for index in range(len(process.registers)):
            yield f"static value saved{self.number}_{index}[INSTANCES];"
        yield f"static int run_{self.number}(unsigned i) {{ /* {process.name} */"
        for index, register in enumerate(process.registers):
            yield f"  value {self.register(index)} = {literal(register.init[0])};"
        yield f"  unsigned tries = {MOST_TRIES};"
        yield "  (void)i;"
        yield f"  goto at{process.initial};"
        reachable = sorted(reachable_locations(process))
        if not any(not list(process.leaving(location)) for location in reachable):
            raise refuse(f"{process.name} never ends", process.span)
        for location in reachable:
            yield from self._location(location)
        yield "end:"
        for index in range(len(process.registers)):
            yield f"  saved{self.number}_{index}[i] = {self.register(index)};"
        yield "  return 1;"
        yield "}"

    def _location(self, location: int) -> Iterator[str]:
        leaving = list(self.process.leaving(location))
        yield f"at{location}:"
        if not leaving:
            yield "  goto end;"
            return
        yield "  if (tries-- == 0) return 0;"
        for number, transition in leaving:
            yield from self._transition(number, transition)
        yield f"  goto at{location};"

    def _transition(self, number: int, transition: ir.Transition) -> Iterator[str]:
        if transition.sync is not None:
            raise refuse("a step of two processes at once", transition.span)
        yield f"  {{ /* {_comment(transition)} */"
        if transition.locked or any(isinstance(op, ir.Rmw) for op in transition.ops):
            yield from self._locked(number, transition)
        else:
            for op in transition.ops:
                yield f"    {self._op(op, number, transition.span)}"
        yield f"    goto at{transition.target};"
        yield "  }"
        if any(isinstance(op, ir.Assume) for op in transition.ops):
            yield f"not{number}:;"

    def _op(self, op: ir.Op, number: int, span: Span) -> str:
        match op:
            case ir.Load(register, address, None):
                return f"{self.register(register)} = {self._fit(f'load({self._address(address, span)})', register)};"
            case ir.Store(address, value, False, _, None):
                what = _fitted(self._expression(value, span), self._domain(address))
                return f"store({self._address(address, span)}, {what});"
            case ir.Assign(register, value):
                return f"{self.register(register)} = {self._fit(self._expression(value, span), register)};"
            case ir.Assume(condition):
                return f"if (!{self._expression(condition, span)}) goto not{number};"
            case ir.Assert():
                return ";  /* an assertion: judged by the values that were read */"
            case ir.Fence("mfence"):
                return "MFENCE();"
            case ir.Fence("sfence"):
                return "SFENCE();"
            case ir.Fence():
                raise AssertionError("a fence that the hardware does not have")
            case ir.Load() | ir.Store():
                raise refuse("an access that depends on a condition", span)
            case ir.Rmw() | ir.Lock() | ir.Unlock():
                raise refuse("a locked region", span)
            case _:
                assert_never(op)

    def _locked(self, number: int, transition: ir.Transition) -> Iterator[str]:
        """One variable, exchanged for what the step computes from it; nothing else was there in between."""
        addresses = {op.address for op in transition.ops if isinstance(op, ir.Load | ir.Store | ir.Rmw)}
        touched = {number for address in addresses for number in address.variables}
        if touched & guarded_variables(self.program):
            yield from self._guarded(number, transition)
            return
        if not addresses:
            yield "    MFENCE();"
            yield from (f"    {self._op(op, number, transition.span)}" for op in transition.ops)
            return
        (address,) = addresses
        yield f"    value *const cell = {self._address(address, transition.span)};"
        for index in self._written(transition):
            yield f"    const value before{index} = {self.register(index)};"
        yield "    for (value old = load(cell);;) {"
        yield "      value new_value = old;"
        for index in self._written(transition):
            yield f"      {self.register(index)} = before{index};"
        for op in transition.ops:
            yield f"      {self._locked_op(op, number, transition.span)}"
        yield "      if (replace_in(cell, &old, new_value)) break;"
        yield "    }"

    def _guarded(self, number: int, transition: ir.Transition) -> Iterator[str]:
        """Several variables at once: behind a lock of the instance, which all locked steps on them take."""
        yield "    take_guard(i);"
        for op in transition.ops:
            match op:
                case ir.Assume(condition):
                    yield f"    if (!{self._expression(condition, transition.span)}) {{"
                    yield "      give_guard(i);"
                    yield f"      goto not{number};"
                    yield "    }"
                case ir.Rmw(_, address):
                    yield "    {"
                    yield f"      value *const cell = {self._address(address, transition.span)};"
                    yield "      value new_value = load(cell);"
                    yield f"      {self._locked_op(op, number, transition.span)}"
                    yield "      store(cell, new_value);"
                    yield "    }"
                case _:
                    yield f"    {self._op(op, number, transition.span)}"
        yield "    give_guard(i);"

    def _written(self, transition: ir.Transition) -> list[int]:
        written = [op.register for op in transition.ops if isinstance(op, ir.Load | ir.Assign | ir.Rmw)]
        return sorted({index for index in written if index is not None})

    def _locked_op(self, op: ir.Op, number: int, span: Span) -> str:
        match op:
            case ir.Load(register, _, None):
                return f"{self.register(register)} = {self._fit('new_value', register)};"
            case ir.Store(address, value, _, _, None):
                return f"new_value = {_fitted(self._expression(value, span), self._domain(address))};"
            case ir.Rmw(register, address, kind, operand, expected):
                with_ = self._expression(operand, span)
                compared = "0" if expected is None else self._expression(expected, span)
                domain = self._domain(address)
                old = wide("old_value", domain)
                new = _fitted(RMW[kind].format(old=old, operand=with_, expected=compared), domain)
                keep = "" if register is None else f" {self.register(register)} = {self._fit('old_value', register)};"
                return f"{{ const value old_value = new_value; new_value = {new};{keep} }}"
            case _:
                return self._op(op, number, span)

    def _expression(self, expr: expressions.Expr, span: Span) -> str:
        registers = self.process.registers
        return expression(expr, lambda index: wide(self.register(index), registers[index].domain), span)

    def _address(self, address: expressions.Address, span: Span) -> str:
        known = address.variable
        variable = str(known) if known is not None else f"{address.base} + {self._expression(address.index, span)}"
        return f"AT({variable}, i)"

    def _domain(self, address: expressions.Address) -> ir.Domain:
        return self.program.variables[address.base].domain

    def _fit(self, text: str, register: int) -> str:
        return _fitted(text, self.process.registers[register].domain)


def guarded_variables(program: ir.Program) -> frozenset[int]:
    """Those that some locked step accesses together with others. InputError where a plain access meets them."""
    together: set[int] = set()
    plain: dict[int, ir.Transition] = {}
    for process in program.processes:
        for transition in process.transitions:
            accesses = [op.address for op in transition.ops if isinstance(op, ir.Load | ir.Store | ir.Rmw)]
            touched = {number for address in accesses for number in address.variables}
            if transition.locked or any(isinstance(op, ir.Rmw) for op in transition.ops):
                together |= touched if len(set(accesses)) > 1 else set()
            else:
                plain |= dict.fromkeys(touched, transition)
    for number in sorted(together & set(plain)):
        what = (
            f"`{program.variables[number].name}` is accessed by a plain step, and by a locked one together with others"
        )
        raise refuse(what, plain[number].span)
    return frozenset(together)


RMW = {
    "exchange": "{operand}",
    "compare_exchange": "({old} == {expected} ? {operand} : {old})",
    "add": "({old} + {operand})",
    "sub": "({old} - {operand})",
    "and": "({old} & {operand})",
    "or": "({old} | {operand})",
    "xor": "({old} ^ {operand})",
    "nand": "(~({old} & {operand}))",
    "max": "({old} > {operand} ? {old} : {operand})",
    "min": "({old} < {operand} ? {old} : {operand})",
}
_NAMES = {ord(c): "_" for c in ".[]:$%*&>- "}


def _fitted(text: str, domain: ir.Domain) -> str:
    """Wrapped around where the language says so and a computation may leave the range."""
    if domain.overflow != "wrap" or text.lstrip("(-").rstrip(")").isdigit():
        return text
    return f"wrapped({text}, {literal(domain.lo)}, {literal(domain.hi)})"


def _comment(transition: ir.Transition) -> str:
    text = " ".join(transition.span.text.split())
    return (text if len(text) <= 60 else text[:57] + "...").replace("*/", "* /")
