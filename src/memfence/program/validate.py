"""The last look at a loaded program: the user's mistakes that only the whole shows, and our own inconsistencies."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.program import ir
from memfence.program.expressions import (
    Address,
    At,
    Binary,
    BufferEmpty,
    Const,
    Expr,
    Register,
    RegisterOf,
    Shared,
    fold,
    walk,
)
from memfence.program.facts.effects import op_expressions, register_written
from memfence.program.orders import MemoryOrder
from memfence.program.traversal import distinct_ops, property_expressions
from memfence.source import NOWHERE, Span

PLAIN = MemoryOrder.PLAIN


_ACCESSES = (ir.Load, ir.Store, ir.Rmw)
_ORDERED = (*_ACCESSES, ir.Fence)
_BUS = (ir.Lock, ir.Unlock)


def validate(program: ir.Program) -> None:
    """Check everything that the models and engines rely on.

    InputError for mistakes in the program: no process (MF109), a constant outside the range of what it is given to
    (MF107), a constant index out of bounds (MF108). AssertionError for what only a bug of ours can cause.
    """
    _check_numbers(program)
    mistakes = list(_mistakes(program))
    if mistakes:
        distinct = list({(d.message, d.at.span): d for d in mistakes}.values())
        raise InputError(sorted(distinct, key=lambda d: d.at.span.start))


def _mistakes(program: ir.Program) -> Iterator[Diagnostic]:
    if not program.processes:
        place = program.source.span(0, min(1, len(program.source.text)))
        yield Diagnostic(Code.NO_PROCESS, "the program has no process", Label(place, "nothing would run"))
    for variable in program.variables:
        yield from _bad_initial_values(variable)
    for prop in program.properties:
        for expr in property_expressions(prop):
            yield from _bad_shared_indices(program, expr)
    for process in program.processes:
        for register in process.registers:
            yield from _bad_initial_values(register)
        suspect = {id(op) for op in distinct_ops(process) if _is_suspect(program, process, op)}
        for transition in process.transitions:
            if any(id(op) in suspect for op in transition.ops):
                yield from _bad_constants(program, process, transition)


def _bad_initial_values(variable: ir.SharedVar | ir.RegisterVar) -> Iterator[Diagnostic]:
    for value in variable.init:
        if not _fits(variable.domain, value):
            yield _out_of_range(variable, value, variable.span, "initial value")


def _bad_shared_indices(program: ir.Program, expr: Expr) -> Iterator[Diagnostic]:
    for node in walk(expr):
        if isinstance(node, Shared):
            yield from _bad_address(program, node.address, program.source.span(0, 0))


def _is_suspect(program: ir.Program, process: ir.Process, op: ir.Op) -> bool:
    """Whether a transition with this op needs a look."""
    return _is_never_passed(op) or next(_bad_op(program, process, op, NOWHERE), None) is not None


def _is_never_passed(op: ir.Op) -> bool:
    return isinstance(op, ir.Assume) and fold(op.condition) == Const(0)


def _bad_constants(program: ir.Program, process: ir.Process, transition: ir.Transition) -> Iterator[Diagnostic]:
    for op in transition.ops:
        if _is_never_passed(op):
            return  # nothing behind it is ever executed
        yield from _bad_op(program, process, op, transition.span)


def _bad_op(program: ir.Program, process: ir.Process, op: ir.Op, span: Span) -> Iterator[Diagnostic]:
    match op:
        case ir.Store(address, expr, when=None) | ir.Rmw(_, address, "exchange" | "compare_exchange", expr):
            yield from _bad_address(program, address, span)
            variable = Address(address.base, address.size, fold(address.index)).variable
            if variable is not None:
                yield from _bad_value(program.variables[variable], expr, span)
        case ir.Rmw(_, address):
            yield from _bad_address(program, address, span)
        case ir.Load(_, address, None):
            yield from _bad_address(program, address, span)
        case ir.Assign(number, expr):
            yield from _bad_value(process.registers[number], expr, span)
        case _:
            pass


def _bad_value(target: ir.SharedVar | ir.RegisterVar, expr: Expr, span: Span) -> Iterator[Diagnostic]:
    value = fold(expr)
    if isinstance(value, Const) and not _fits(target.domain, value.value):
        yield _out_of_range(target, value.value, span, "value")


def _fits(domain: ir.Domain, value: int) -> bool:
    return domain.overflow == "wrap" or domain.lo <= value <= domain.hi


def _out_of_range(target: ir.SharedVar | ir.RegisterVar, value: int, span: Span, what: str) -> Diagnostic:
    allowed = f"{target.domain.lo}..{target.domain.hi}"
    return Diagnostic(
        Code.OUT_OF_RANGE,
        f"{what} {value} of `{target.name}` lies outside its range {allowed}",
        Label(span, f"not in {allowed}"),
        (Label(target.span, "declared here"),) if _is_elsewhere(target.span, span) else (),
        hint=f"choose a value in {allowed}, or widen the range of `{target.name}`",
    )


def _is_elsewhere(declaration: Span, span: Span) -> bool:
    return declaration.source is span.source and declaration != span


def _bad_address(program: ir.Program, address: Address, span: Span) -> Iterator[Diagnostic]:
    index = fold(address.index)
    if not isinstance(index, Const) or 0 <= index.value < address.size:
        return
    name = program.variables[address.base].name.split("[")[0] if address.size < len(program.variables) else "memory"
    bounds = f"0..{address.size - 1}"
    yield Diagnostic(
        Code.BAD_ADDRESS,
        f"index {index.value} of `{name}` lies outside its bounds {bounds}",
        Label(span, f"not in {bounds}"),
        hint=f"use an index in {bounds}, or make `{name}` larger",
    )


def _require(fact: bool, message: str) -> None:
    # Not an `assert` statement: `python -O` must not let a broken program through.
    if not fact:
        raise AssertionError(message)


def _check_numbers(program: ir.Program) -> None:
    for variable in program.variables:
        _check_values(variable)
    for process in program.processes:
        _check_process(program, process)
    for prop in program.properties:
        for expr in property_expressions(prop):
            _require(not any(isinstance(e, Register) for e in walk(expr)), "a property reads a register of no process")
            _check_expression(program, None, expr)
    _check_channels(program)


def _check_values(variable: ir.SharedVar | ir.RegisterVar) -> None:
    _require(variable.domain.overflow != "undeclared", f"the range of {variable.name} was never determined")
    _require(variable.domain.lo <= variable.domain.hi, f"the range of {variable.name} is empty")
    within = ir.WIDEST.lo <= variable.domain.lo and variable.domain.hi <= ir.WIDEST.hi
    _require(within, f"the range of {variable.name} needs more than 64 bits")
    _require(len(variable.init) > 0, f"{variable.name} has no initial value")
    if isinstance(variable, ir.RegisterVar) and variable.transient:
        _require(variable.domain.lo <= 0 <= variable.domain.hi, f"transient {variable.name} cannot be 0")


def _check_process(program: ir.Program, process: ir.Process) -> None:
    for register in process.registers:
        _check_values(register)
    count = len(process.locations)
    _require(0 <= process.initial < count, f"{process.name} starts nowhere")
    for op in distinct_ops(process):
        _check_op(program, process, op)
    takes_bus = any(isinstance(op, _BUS) for op in distinct_ops(process))
    for t in process.transitions:
        _require(0 <= t.source < count and 0 <= t.target < count, f"{process.name} has a transition to nowhere")
        if takes_bus:
            _check_bus(process, t)
        if t.sync is not None:
            _check_sync(process, t, t.sync)
            for expr in t.sync.values:
                _check_expression(program, process, expr)


def _check_op(program: ir.Program, process: ir.Process, op: ir.Op) -> None:
    written = register_written(op)
    _require(written is None or 0 <= written < len(process.registers), f"{process.name} sets no register")
    if isinstance(op, _ACCESSES):
        _check_address(program, op.address)
    if not _can_have_its_order(op):  # the words are made only if needed: an op takes long to write
        _require(False, f"{process.name} has an op that cannot have its order: {op}")
    for expr in op_expressions(op):
        _check_expression(program, process, expr)


def _check_bus(process: ir.Process, transition: ir.Transition) -> None:
    """A step that its ops make locked cannot take or release the bus lock, too."""
    locking = any(isinstance(op, ir.Rmw) or _is_sequential_store(op) for op in transition.ops)
    takes_bus = any(isinstance(op, _BUS) for op in transition.ops)
    _require(not (locking and takes_bus), f"{process.name} has a locked access in a step that takes the bus lock")


def _is_sequential_store(op: ir.Op) -> bool:
    return isinstance(op, ir.Store) and op.order is MemoryOrder.SEQ_CST


def _can_have_its_order(op: ir.Op) -> bool:
    match op:
        case ir.Load(order=order):
            return order not in (MemoryOrder.RELEASE, MemoryOrder.ACQ_REL)
        case ir.Store(_, _, direct, order, when) if direct or when is not None:
            return order is PLAIN
        case ir.Store(order=order):
            return order in (PLAIN, MemoryOrder.RELAXED, MemoryOrder.RELEASE, MemoryOrder.SEQ_CST)
        case ir.Rmw(_, _, kind, _, expected, _, failure_order):
            can_fail_so = failure_order not in (MemoryOrder.RELEASE, MemoryOrder.ACQ_REL)
            return can_fail_so and (kind == "compare_exchange") == (expected is not None)
        case ir.Fence(kind, order):
            return (kind == "thread_fence") == (order is not PLAIN)
        case _:
            return True


def _check_address(program: ir.Program, address: Address) -> None:
    _require(
        address.size > 0 and address.base >= 0 and address.base + address.size <= len(program.variables),
        f"address {address.base}+{address.size} lies outside the memory",
    )


def _check_expression(program: ir.Program, process: ir.Process | None, expr: Expr) -> None:
    for node in walk(expr):
        match node:
            case Binary() | Const():
                pass
            case Register(number) if process is not None:
                _require(0 <= number < len(process.registers), f"{process.name} reads no register")
            case RegisterOf(owner, number):
                _require(0 <= owner < len(program.processes), "an expression looks at no process")
                _require(0 <= number < len(program.processes[owner].registers), "an expression looks at no register")
            case At(owner, locations):
                _require(0 <= owner < len(program.processes), "an expression looks at no process")
                count = len(program.processes[owner].locations)
                _require(all(0 <= n < count for n in locations), "an expression looks at no location")
            case BufferEmpty(owner):
                _require(0 <= owner < len(program.processes), "an expression looks at no process")
            case Shared(address):
                _require(process is None, "an op reads memory without a load")
                _check_address(program, address)
            case _:
                pass


def _check_sync(process: ir.Process, transition: ir.Transition, sync: ir.Sync) -> None:
    _require(0 <= sync.guard_ops <= len(transition.ops), f"{process.name} has fewer ops than guard ops")
    _require(
        all(op.order is PLAIN for op in transition.ops if isinstance(op, _ORDERED)),
        f"{process.name} has an access with a memory order in a rendezvous",
    )
    _require(not (sync.registers if sync.sends else sync.values), f"{process.name} sends and receives in one step")
    _require(all(0 <= r < len(process.registers) for r in sync.registers), f"{process.name} receives into no register")


def _check_channels(program: ir.Program) -> None:
    syncs = [t.sync for p in program.processes for t in p.transitions if t.sync is not None]
    for channel in {s.channel for s in syncs}:
        arities = {len(s.values) if s.sends else len(s.registers) for s in syncs if s.channel == channel}
        _require(len(arities) == 1, f"the two sides of channel {channel} disagree on the number of values")
