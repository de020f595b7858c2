"""One transition as one `d_step` of Promela: the condition under which it is possible, then what it does.

Spin decides by the first statement of a `d_step` whether it can be taken, but our `Assume`s may come after loads and
assignments of the same step. So the condition is computed over the state before the step, by following its ops
symbolically (`possible_when`); the body then runs the ops as they are (`body`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, assert_never

from memfence.program import expressions
from memfence.program.facts.effects import register_written, registers_read
from memfence.program.ir import Assert, Assign, Assume, Domain, Fence, Load, Lock, Op, Program, Rmw, Store, Unlock
from memfence.records import Record

BUS = "bus_owner"


class HandOver(Record):
    """The sender's value reaches a register of the receiver: the middle of a rendezvous."""

    sender: int
    value: expressions.Expr
    register: int


Job = tuple[int, Op | HandOver]

Test = tuple[Literal["needs", "fails unless"], expressions.Expr]
"""In the order of the ops: the step does not exist, or fails, where this is false."""


def possible_when(program: Program, jobs: Sequence[Job]) -> expressions.Expr:
    """True in exactly the states where the step can be taken (or fails), the bus lock aside."""
    tests = _Walk(program).tests(jobs)
    condition: expressions.Expr = expressions.TRUE
    for kind, test in reversed(tests):
        if kind == "needs":
            condition = test if condition == expressions.TRUE else expressions.Binary("&&", test, condition)
        elif condition != expressions.TRUE:
            condition = expressions.Binary("||", expressions.negate(test), condition)
    return expressions.fold(condition)


class _Walk:
    """Follows the ops of one step with values as expressions over the state before it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.registers: dict[tuple[int, int], expressions.Expr] = {}
        self.stored: list[tuple[expressions.Address, expressions.Expr]] = []
        self.found: list[Test] = []

    def tests(self, jobs: Sequence[Job]) -> list[Test]:
        for process, op in jobs:
            self.follow(process, op)
        return self.found

    def now(self, process: int, expr: expressions.Expr) -> expressions.Expr:
        def leaf(node: expressions.Expr) -> expressions.Expr:
            match node:
                case expressions.Register(index):
                    return self.registers.get((process, index), expressions.RegisterOf(process, index))
                case expressions.RegisterOf(owner, index):
                    return self.registers.get((owner, index), node)
                case expressions.BufferEmpty():
                    return expressions.TRUE
                case _:
                    return node

        return expressions.fold(expressions.rewrite(expr, leaf))

    def follow(self, process: int, op: Op | HandOver) -> None:
        match op:
            case HandOver(sender, value, register):
                self.assign(process, register, self.now(sender, value))
            case Load(register, address, when):
                loaded = self.load(self.address(process, address))
                if when is not None:
                    loaded = expressions.Conditional(self.now(process, when), loaded, expressions.FALSE)
                self.assign(process, register, loaded)
            case Store(address, value, when=when):
                unless = expressions.FALSE if when is None else expressions.negate(self.now(process, when))
                there = self.address(process, address, unless)
                tests, stored = stored_value(self.program, there, self.now(process, value))
                self.found += [("fails unless", _either(unless, test)) for test in tests]
                self.stored.append(
                    (there, stored if when is None else expressions.Conditional(unless, self.load(there), stored))
                )
            case Assign(register, value):
                self.assign(process, register, self.now(process, value))
            case Assume(condition):
                self.found.append(("needs", self.now(process, condition)))
            case Assert(condition):
                self.found.append(("fails unless", self.now(process, condition)))
            case Fence() | Lock() | Unlock():
                pass
            case Rmw():
                raise AssertionError(f"{op}: passes.orders comes before")
            case _:
                assert_never(op)

    def assign(self, process: int, register: int, value: expressions.Expr) -> None:
        domain = self.program.processes[process].registers[register].domain
        self.found += [("fails unless", test) for test in range_tests(self.program, value, domain)]
        self.registers[process, register] = fitted(self.program, value, domain)

    def address(
        self, process: int, address: expressions.Address, unless: expressions.Expr = expressions.FALSE
    ) -> expressions.Address:
        index = self.now(process, address.index)
        there = expressions.Address(address.base, address.size, index)
        if there.variable is None:
            self.found.append(("fails unless", _either(unless, within(index, 0, address.size - 1))))
        return there

    def load(self, address: expressions.Address) -> expressions.Expr:
        value: expressions.Expr = expressions.Shared(address)
        for other, stored in self.stored:
            if address.variable is not None and other.variable is not None:
                value = stored if address.variable == other.variable else value
            elif overlap(address, other):
                value = expressions.Conditional(
                    expressions.Binary("==", _absolute(address), _absolute(other)), stored, value
                )
        return value


def _either(unless: expressions.Expr, test: expressions.Expr) -> expressions.Expr:
    return test if unless == expressions.FALSE else expressions.Binary("||", unless, test)


def _absolute(address: expressions.Address) -> expressions.Expr:
    return expressions.fold(expressions.Binary("+", expressions.Const(address.base), address.index))


def overlap(a: expressions.Address, b: expressions.Address) -> bool:
    return a.base < b.base + b.size and b.base < a.base + a.size


def domains_of(program: Program, address: expressions.Address) -> set[Domain]:
    """The domains of the variables that the address may mean."""
    return {program.variables[number].domain for number in address.variables}


def within(value: expressions.Expr, lo: int, hi: int) -> expressions.Expr:
    return expressions.Binary(
        "&&",
        expressions.Binary("<=", expressions.Const(lo), value),
        expressions.Binary("<=", value, expressions.Const(hi)),
    )


def _known_range(program: Program, value: expressions.Expr) -> tuple[int, int] | None:
    """Bounds of a value that need no thought."""
    match value:
        case expressions.Const(number):
            return number, number
        case expressions.RegisterOf(process, register):
            domain = program.processes[process].registers[register].domain
            return domain.lo, domain.hi
        case expressions.Shared(address):
            domains = domains_of(program, address)
            return min(d.lo for d in domains), max(d.hi for d in domains)
        case expressions.Unary("!", _) | expressions.Binary("==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||", _, _):
            return 0, 1
        case _:
            return None


def range_tests(program: Program, value: expressions.Expr, domain: Domain) -> list[expressions.Expr]:
    """What has to be true for the value to be stored without a failure: nothing where that is certain."""
    known = _known_range(program, value)
    if domain.overflow == "wrap" or (known and domain.lo <= known[0] and known[1] <= domain.hi):
        return []
    return [within(value, domain.lo, domain.hi)]


def fitted(program: Program, value: expressions.Expr, domain: Domain) -> expressions.Expr:
    """The value as it is stored: wrapped around where the domain says so."""
    known = _known_range(program, value)
    if domain.overflow != "wrap" or (known and domain.lo <= known[0] and known[1] <= domain.hi):
        return value
    if domain.lo == 0 and domain.size & domain.hi == 0:
        return expressions.Binary("&", value, expressions.Const(domain.hi))
    size, shifted = expressions.Const(domain.size), expressions.Binary("-", value, expressions.Const(domain.lo))
    positive = expressions.Binary("%", expressions.Binary("+", expressions.Binary("%", shifted, size), size), size)
    return expressions.Binary("+", positive, expressions.Const(domain.lo))


def stored_value(
    program: Program, address: expressions.Address, value: expressions.Expr
) -> tuple[list[expressions.Expr], expressions.Expr]:
    """What `range_tests` and `fitted` say for a store to `address`, whose elements may differ in their domains."""
    if len(domains_of(program, address)) == 1:
        domain = program.variables[address.base if address.variable is None else address.variable].domain
        return range_tests(program, value, domain), fitted(program, value, domain)
    tests, stored = list[expressions.Expr](), value
    for position in range(address.size):
        domain = program.variables[address.base + position].domain
        here = expressions.Binary("==", address.index, expressions.Const(position))
        tests += [
            expressions.Binary("||", expressions.negate(here), test) for test in range_tests(program, value, domain)
        ]
        stored = expressions.Conditional(here, fitted(program, value, domain), stored)
    return tests, stored


def bus_needed(program: Program, jobs: Sequence[Job], locked: Sequence[int]) -> list[str]:
    """Conditions on the owner of the bus lock; none in a program without lock regions."""
    if not uses_bus(program):
        return []
    needed = []
    for process in dict.fromkeys([*locked, *(p for p, _ in jobs)]):
        ops = [op for p, op in jobs if p == process]
        if any(isinstance(op, Lock) for op in ops):
            needed.append(f"{BUS} == 0")
        elif any(isinstance(op, Unlock) for op in ops):
            needed.append(f"{BUS} == {process + 1}")
        elif process in locked or any(isinstance(op, Load | Store) for op in ops):
            needed.append(f"({BUS} == 0 || {BUS} == {process + 1})")
    return needed


def uses_bus(program: Program) -> bool:
    return any(isinstance(op, Lock) for p in program.processes for t in p.transitions for op in t.ops)


def body(program: Program, jobs: Sequence[Job], text: Callable[[int, expressions.Expr], str]) -> list[str]:
    """The statements of the step; `text(process, expr)` writes an expression as that process sees it.

    Assumptions are gone: `possible_when` has them. So are loads into scratch registers that only these needed.
    """
    statements = list[str]()
    for position, (process, op) in enumerate(jobs):
        if not isinstance(op, HandOver):
            written = register_written(op)
            if written is not None and _is_dead(program, jobs, position, written):
                continue
        statements += _statements(program, process, op, text)
    return statements


def _is_dead(program: Program, jobs: Sequence[Job], position: int, register: int) -> bool:
    process = jobs[position][0]
    if not program.processes[process].registers[register].transient:
        return False
    for other, op in jobs[position + 1 :]:
        if isinstance(op, HandOver):
            if op.sender == process and register in expressions.registers_of(op.value):
                return False
        elif other == process and not isinstance(op, Assume) and register in registers_read(op):
            return False
    return True


def _statements(
    program: Program, process: int, op: Op | HandOver, text: Callable[[int, expressions.Expr], str]
) -> list[str]:
    match op:
        case HandOver(sender, value, register):
            return _assignment(program, process, register, _absolute_registers(sender, value), text)
        case Load(register, address, when):
            loaded: expressions.Expr = expressions.Shared(_absolute_address(process, address))
            checks = _index_check(process, address, text)
            if when is not None:
                condition = _absolute_registers(process, when)
                loaded, checks = expressions.Conditional(condition, loaded, expressions.FALSE), []
            return checks + _assignment(program, process, register, loaded, text)
        case Store(address, value, when=when):
            there = _absolute_address(process, address)
            unless = expressions.FALSE if when is None else expressions.negate(_absolute_registers(process, when))
            tests, stored = stored_value(program, there, _absolute_registers(process, value))
            if when is not None:
                stored = expressions.Conditional(unless, expressions.Shared(there), stored)
            checks = [f"assert({text(process, _either(unless, test))})" for test in tests]
            assignment = f"{text(process, expressions.Shared(there))} = {text(process, stored)}"
            return [*_index_check(process, address, text, unless), *checks, assignment]
        case Assign(register, value):
            return _assignment(program, process, register, _absolute_registers(process, value), text)
        case Assert(condition):
            return [f"assert({text(process, condition)})"]
        case Lock():
            return [f"{BUS} = {process + 1}"]
        case Unlock():
            return [f"{BUS} = 0"]
        case Assume() | Fence():
            return []
        case Rmw():
            raise AssertionError(f"{op}: passes.orders comes before")
        case _:
            assert_never(op)


def _absolute_registers(process: int, expr: expressions.Expr) -> expressions.Expr:
    return expressions.rewrite(
        expr,
        lambda node: expressions.RegisterOf(process, node.index) if isinstance(node, expressions.Register) else node,
    )


def _absolute_address(process: int, address: expressions.Address) -> expressions.Address:
    return expressions.Address(address.base, address.size, _absolute_registers(process, address.index))


def _index_check(
    process: int,
    address: expressions.Address,
    text: Callable[[int, expressions.Expr], str],
    unless: expressions.Expr = expressions.FALSE,
) -> list[str]:
    if address.variable is not None:
        return []
    return [f"assert({text(process, _either(unless, within(address.index, 0, address.size - 1)))})"]


def _assignment(
    program: Program, process: int, register: int, value: expressions.Expr, text: Callable[[int, expressions.Expr], str]
) -> list[str]:
    domain = program.processes[process].registers[register].domain
    tests = [f"assert({text(process, test)})" for test in range_tests(program, value, domain)]
    target = text(process, expressions.Register(register))
    return [*tests, f"{target} = {text(process, fitted(program, value, domain))}"]
