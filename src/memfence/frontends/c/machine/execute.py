"""What each instruction does to a way through a thread."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from memfence.codes import Code
from memfence.failures import UNREACHABLE
from memfence.frontends.c.llvm import instructions
from memfence.frontends.c.llvm.types import ArrayType, FloatType, IntType, StructType, Type, size_of
from memfence.frontends.c.llvm.values import Local
from memfence.frontends.c.machine.access import load, store, written
from memfence.frontends.c.machine.arithmetic import choose, compare, compute, is_truth, negation, unwrapped
from memfence.frontends.c.machine.calls import call_function, return_from
from memfence.frontends.c.machine.liveness import CONTENT
from memfence.frontends.c.machine.offsets import moved_pointer
from memfence.frontends.c.machine.packing import WIDEST, combined, equality, extended, part, plain, with_zeros
from memfence.frontends.c.machine.parts import inner_type, part_of, with_part
from memfence.frontends.c.machine.path import FLOAT_HINT, LONG_HINT, LONG_INTEGER, VLA_HINT, Path, is_system
from memfence.frontends.c.machine.read_modify_write import compare_exchange, update
from memfence.frontends.c.machine.residual import Barrier
from memfence.frontends.c.machine.undefined import BIT_OPS, DIVISION, SIGNED_OVERFLOW, Undefined, used
from memfence.frontends.c.machine.value_sets import listed, range_of_bits
from memfence.frontends.c.machine.values import (
    UNDEFINED,
    ZERO,
    Integer,
    Known,
    Packed,
    Parts,
    Scalar,
    Unknown,
    Value,
    is_undefined,
)
from memfence.program.expressions import Binary, Const, conjunction, disjunction


def execute(path: Path, instruction: instructions.Instruction) -> None:
    """Do one instruction; `path` stands behind it."""
    EXECUTE[instruction.__class__](path, instruction)


def _alloca(path: Path, i: instructions.Alloca) -> None:
    if isinstance(i.count, Local):
        _check_length(path, i.result, i.type, path.scalar(IntType(64), i.count))


def _check_length(path: Path, name: str, type: Type, count: Scalar) -> None:
    """An array whose length is computed is placed here, once: it must always have the same length."""
    if not isinstance(count, Known):
        raise path.refuse(Code.UNSUPPORTED, "an array on the stack whose length is not known", VLA_HINT)
    placed = path.world.space.at(path.local_object(name))
    if placed is None or placed.end - placed.start != size_of(type) * count.value:
        raise path.refuse(Code.UNSUPPORTED, "an array on the stack that has several lengths", VLA_HINT)


def _frozen(path: Path, value: Value) -> Value:
    """Any value, but always the same one."""
    if isinstance(value, Parts) or not is_undefined(value):
        return value
    path.world.assumed.add(FROZEN)
    return with_zeros(value)


FROZEN = "an undefined value that the optimiser froze is read as 0"


def _unsupported(path: Path, opcode: str) -> Exception:
    if opcode in FLOATING or "float" in opcode:
        return path.refuse(Code.UNSUPPORTED, "floating-point numbers are not supported", FLOAT_HINT)
    if opcode == "va_arg":
        return path.refuse(Code.UNSUPPORTED, "variadic functions of the program are not supported")
    if opcode in ("landingpad", "resume", "catchpad", "cleanuppad"):
        return path.refuse(Code.UNSUPPORTED, "exceptions are not supported")
    return path.refuse(Code.UNSUPPORTED, f"the instruction `{opcode}` is not supported")


FLOATING = frozenset(
    ("fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "fcmp", "fptoui", "fptosi", "fptrunc", "fpext", "sitofp", "uitofp")
)


def _load(path: Path, i: instructions.LoadFrom) -> None:
    frame = path.state.top
    if isinstance(i.type, FloatType):
        raise path.refuse(Code.UNSUPPORTED, "floating-point numbers are not supported", FLOAT_HINT)
    if isinstance(i.pointer, Local) and i.pointer.name in frame.facts.simple:
        content = frame.env.get(CONTENT + i.pointer.name)
        if content is None:
            content = UNDEFINED
        if isinstance(content, Unknown) and i.result not in frame.facts.copied:
            content = written(path, content, path.variable_name(i.pointer.name))
            if path.ended:
                return
        if path.bits_of(i.type) == 1 and not isinstance(content, Parts):
            content = part(content, 8, 0, 1)
        path.set(i.result, content)
        return
    load(path, i.result, i.type, path.scalar(i.type, i.pointer), i.order, i.volatile)


def _store(path: Path, i: instructions.StoreTo) -> None:
    frame = path.state.top
    value = path.value(i.type, i.value)
    if isinstance(i.pointer, Local) and i.pointer.name in frame.facts.simple:
        frame.env[CONTENT + i.pointer.name] = value
        return
    store(path, i.type, value, path.scalar(i.type, i.pointer), i.order, i.volatile)


# Arithmetic.


def _compute(path: Path, i: instructions.Compute) -> None:
    bits = path.bits_of(i.type)
    if isinstance(i.type, ArrayType | StructType):
        raise path.refuse(Code.UNSUPPORTED, "vectors are not supported")
    left, right = path.integer(i.type, i.left), path.integer(i.type, i.right)
    try:
        if i.op in SHIFTS:
            _check_shift(path, bits, plain(right))
        found = None if path.ended else _in_pieces(path, i.op, bits, left, right)
        if found is not None:
            path.set(i.result, found)
        if path.ended or found is not None:
            return
        a, b = plain(left), plain(right)
        no_signed_wrap = i.no_signed_wrap and not _is_of_atomic(path, i)
        is_checked = no_signed_wrap and not is_undefined(a) and not is_undefined(b) and path.world.options.overflow
        if is_checked and i.op in ("add", "sub", "mul"):
            _check_overflow(path, i.op, bits, a, b)
        if i.op in ("sdiv", "udiv", "srem", "urem"):
            _check_divisor(path, used(b))
        if i.op in ("sdiv", "srem") and not path.ended:
            _check_quotient(path, bits, a, b)
        if not path.ended:
            path.set(i.result, _combined(i.op, bits, a, b, checked=is_checked))
    except Undefined as error:
        path.fail(str(error))


def _is_of_atomic(path: Path, i: instructions.Compute) -> bool:
    """Whether it is what libc++ computes behind an update, for the value of `++x` and `x += n`: atomics wrap around."""
    frame = path.state.top
    if not OF_ATOMIC.match(frame.symbol.name) or path.place is None or not is_system(path.place):
        return False
    code = (one for block in frame.facts.blocks.values() for one in block)
    update = next((one for one in code if isinstance(one, instructions.Call) and Local(one.result) == i.left), None)
    return update is not None and UPDATES.search(getattr(update.callee, "name", "")) is not None


OF_ATOMIC = re.compile(r"_ZN[VKR]*St3__1\d+_*atomic")
UPDATES = re.compile(r"9fetch_(add|sub)")


def _check_divisor(path: Path, divisor: Scalar) -> None:
    if divisor == ZERO:
        raise Undefined(DIVISION)
    if isinstance(divisor, Unknown) and divisor.values.contains(0):
        path.check(Binary("!=", divisor.expr, Const(0)), DIVISION)


SHIFTS = ("shl", "lshr", "ashr")


def _check_shift(path: Path, bits: int, by: Scalar) -> None:
    """A shift by as many bits as there are, or more, means nothing."""
    bounds = by.values.bounds()
    if is_undefined(by) or (bounds is not None and bounds[0] >= 0 and bounds[1] < bits):
        return
    if isinstance(by, Known):
        raise Undefined(f"{SHIFT}: by {by.value} of {bits} bits")
    path.check(conjunction(Binary(">=", by.expr, Const(0)), Binary("<", by.expr, Const(bits))), SHIFT)


SHIFT = "shift beyond the width of the type"


def _in_pieces(path: Path, op: str, bits: int, a: Integer, b: Integer) -> Integer | None:
    """The result where it is known piece by piece, or has to be: None where the operands are numbers like any other."""
    has_unknown = not (isinstance(a, Known) and isinstance(b, Known))
    is_mixed = op in BIT_OPS and is_undefined(a) != is_undefined(b) and has_unknown
    if not (isinstance(a, Packed) or isinstance(b, Packed) or is_mixed):
        return None
    found = combined(op, bits, a, b)
    if found is None and bits > WIDEST:
        raise path.refuse(Code.UNSUPPORTED, LONG_INTEGER, LONG_HINT)
    return found


def _compare(path: Path, i: instructions.Compare) -> None:
    bits = path.bits_of(i.type)
    a, b = path.integer(i.type, i.left), path.integer(i.type, i.right)
    if i.predicate in ("eq", "ne") and (isinstance(a, Packed) or isinstance(b, Packed)):
        same = equality(bits, a, b)
        path.set(i.result, same if i.predicate == "eq" else compute("xor", 1, same, Known(1)))
        return
    path.set(i.result, compare(i.predicate, bits, path.scalar(i.type, i.left), path.scalar(i.type, i.right)))


def _combined(op: str, bits: int, a: Scalar, b: Scalar, *, checked: bool) -> Scalar:
    """Truth values are combined as such; where a wrap was `checked` to be impossible, none is written out."""
    if checked and op in ("add", "sub", "mul") and isinstance(ideal := unwrapped(op, bits, a, b), Unknown):
        lo, hi = range_of_bits(bits)
        return Unknown(ideal.expr, ideal.values.keep(lambda v: lo <= v <= hi, lo, hi))
    both_unknown = isinstance(a, Unknown) and isinstance(b, Unknown)
    if bits == 1 and op in ("and", "or") and both_unknown and is_truth(a.expr) and is_truth(b.expr):
        return Unknown(Binary("&&" if op == "and" else "||", a.expr, b.expr), listed((0, 1)))
    return compute(op, bits, a, b)


def _check_overflow(path: Path, op: str, bits: int, a: Scalar, b: Scalar) -> None:
    lo, hi = range_of_bits(bits)
    ideal = unwrapped(op, bits, a, b)
    if isinstance(ideal, Known):
        if not lo <= ideal.value <= hi:
            path.fail(SIGNED_OVERFLOW)
        return
    bounds = ideal.values.bounds()
    if bounds is not None and lo <= bounds[0] and bounds[1] <= hi:
        return
    inside = [Binary("<=", ideal.expr, Const(hi))] if bounds is None or bounds[1] > hi else []
    inside += [Binary(">=", ideal.expr, Const(lo))] if bounds is None or bounds[0] < lo else []
    path.check(conjunction(*inside), SIGNED_OVERFLOW)


def _check_quotient(path: Path, bits: int, a: Scalar, b: Scalar) -> None:
    """The least integer divided by -1 is too large for its width, and x86 traps."""
    least = range_of_bits(bits)[0]
    if is_undefined(a) or not (a.values.contains(least) and b.values.contains(-1)):
        return
    if isinstance(a, Known) and isinstance(b, Known):
        path.fail(QUOTIENT)
    else:
        path.check(disjunction(Binary("!=", a.expr, Const(least)), Binary("!=", b.expr, Const(-1))), QUOTIENT)


QUOTIENT = "signed integer overflow: the least integer divided by -1"


def _convert(path: Path, i: instructions.Convert) -> None:
    if isinstance(i.origin, FloatType) or isinstance(i.target, FloatType):
        raise path.refuse(Code.UNSUPPORTED, "floating-point numbers are not supported", FLOAT_HINT)
    value = path.integer(i.origin, i.operand)
    origin, target = path.bits_of(i.origin), path.bits_of(i.target)
    op = i.op
    if op in ("ptrtoint", "inttoptr", "bitcast", "addrspacecast"):
        op = "trunc" if target < origin else "zext"
    path.set(i.result, value if target == origin else extended(op, origin, target, value))


def _select(path: Path, i: instructions.Select) -> None:
    condition = used(path.scalar(IntType(1), i.condition))
    then, otherwise = path.value(i.type, i.then), path.value(i.type, i.otherwise)
    if isinstance(condition, Known):
        path.set(i.result, then if condition.value else otherwise)
    elif _must_fork(then) or _must_fork(otherwise):
        for guard, value in ((condition.expr, then), (negation(condition.expr), otherwise)):
            copy = path.fork(guard)
            if copy is not None:
                copy.set(i.result, value)
        path.ended = True
    else:
        assert isinstance(then, Known | Unknown) and isinstance(otherwise, Known | Unknown)
        path.set(i.result, choose(condition, then, otherwise))


def _must_fork(value: Value) -> bool:
    """Whether a choice of the value is no expression."""
    return isinstance(value, Parts | Packed) or is_undefined(value)


# Control.


def _branch(path: Path, i: instructions.Branch) -> None:
    if i.condition is None:
        path.enter(i.targets[0])
        return
    here = path.state.top.position[:3]
    path.world.decided.add(here)
    condition = used(path.scalar(IntType(1), i.condition))
    if isinstance(condition, Known):
        path.world.evident.add(here)
        path.enter(i.targets[0 if condition.value else 1])
        return
    for guard, target in ((condition.expr, i.targets[0]), (negation(condition.expr), i.targets[1])):
        copy = path.fork(guard)
        if copy is not None:
            copy.enter(target)
    path.ended = True


def _switch(path: Path, i: instructions.Switch) -> None:
    path.world.decided.add(path.state.top.position[:3])
    value = used(path.scalar(i.type, i.value))
    if isinstance(value, Known):
        path.enter(next((target for number, target in i.cases if number == value.value), i.default))
        return
    for number, target in i.cases:
        if value.values.contains(number):
            copy = path.fork(Binary("==", value.expr, Const(number)))
            if copy is not None:
                copy.enter(target)
    rest = path.fork(conjunction(*(Binary("!=", value.expr, Const(number)) for number, _ in i.cases)))
    if rest is not None:
        rest.enter(i.default)
    path.ended = True


def _fence(path: Path, i: instructions.FenceOf) -> None:
    if not i.single_thread and path.state.started:
        path.emit([Barrier(i.order)])


# Everything else.


def _offset(path: Path, i: instructions.Offset) -> None:
    path.set(i.result, moved_pointer(path, path.scalar(i.source, i.base), i))


def _return(path: Path, i: instructions.Return) -> None:
    return_from(path, None if i.value is None else path.value(i.type, i.value))


def _extract(path: Path, i: instructions.Extract) -> None:
    path.set(i.result, part_of(path, path.value(i.type, i.aggregate), i.path))


def _insert(path: Path, i: instructions.Insert) -> None:
    element = path.value(inner_type(i.type, i.path), i.element)
    path.set(i.result, with_part(path.value(i.type, i.aggregate), i.path, element))


def _freeze(path: Path, i: instructions.Freeze) -> None:
    path.set(i.result, _frozen(path, path.value(i.type, i.operand)))


def _unreachable(path: Path, i: instructions.Unreachable) -> None:
    path.fail(UNREACHABLE.text())


def _entered(path: Path, i: instructions.Phi) -> None:
    """Whoever entered the block has set the result."""


def _other(path: Path, i: instructions.Other) -> None:
    raise _unsupported(path, i.opcode)


EXECUTE: dict[type, Callable[[Path, Any], None]] = {
    instructions.Alloca: _alloca,
    instructions.Phi: _entered,
    instructions.LoadFrom: _load,
    instructions.StoreTo: _store,
    instructions.Offset: _offset,
    instructions.Compute: _compute,
    instructions.Compare: _compare,
    instructions.Convert: _convert,
    instructions.Select: _select,
    instructions.Branch: _branch,
    instructions.Switch: _switch,
    instructions.Return: _return,
    instructions.Unreachable: _unreachable,
    instructions.Call: call_function,
    instructions.CompareExchange: compare_exchange,
    instructions.Update: update,
    instructions.FenceOf: _fence,
    instructions.Extract: _extract,
    instructions.Insert: _insert,
    instructions.Freeze: _freeze,
    instructions.Other: _other,
}
"""What does each kind of instruction."""
