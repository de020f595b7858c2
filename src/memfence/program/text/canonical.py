"""A whole program as text, the same for everybody who reads the same program: what a digest is taken of.

One line a variable, register, location or transition, each a list in parentheses; names are quoted, numbers are
decimal. Everything that a run depends on is there, and nothing else: no places, no fence points, no properties.
`docs/theory/certificates.md` has the grammar.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import assert_never

from memfence.program.expressions import (
    Address,
    At,
    Binary,
    BufferEmpty,
    Conditional,
    Const,
    Expr,
    Register,
    RegisterOf,
    Shared,
    Unary,
)
from memfence.program.ir import (
    Assert,
    Assign,
    Assume,
    Domain,
    Fence,
    Load,
    Location,
    Lock,
    Op,
    Process,
    Program,
    RegisterVar,
    Rmw,
    Store,
    Sync,
    Transition,
    Unlock,
)

ABSENT = "_"


def canonical_text(program: Program) -> str:
    """The text of `program`. Programs with the same text have the same runs, step by step."""
    return "".join(line + "\n" for line in _lines(program))


def digest_of(text: str) -> str:
    """What tells programs apart: SHA-256 of the canonical text."""
    return sha256(text.encode()).hexdigest()


def _lines(program: Program) -> Iterator[str]:
    for variable in program.variables:
        yield _list("variable", _quoted(variable.name), *_domain(variable.domain), _numbers(variable.init))
    for process in program.processes:
        yield from _process_lines(process)
    if program.error_locations is not None:
        yield _list("errors", _numbers(program.error_locations))


def _process_lines(process: Process) -> Iterator[str]:
    yield _list("process", _quoted(process.name), _quoted(process.template), process.initial)
    yield from map(_register, process.registers)
    yield from map(_location, process.locations)
    yield from map(_step, process.transitions)


def _register(register: RegisterVar) -> str:
    unset = ABSENT if register.unset is None else _list(*_domain(register.unset))
    kind = "transient" if register.transient else "kept"
    return _list("register", _quoted(register.name), *_domain(register.domain), _numbers(register.init), kind, unset)


def _location(location: Location) -> str:
    marks = [name for name, is_set in (("committed", location.committed), ("may_end", location.may_end)) if is_set]
    return _list("location", _list(*map(_quoted, location.labels)), *marks)


def _step(transition: Transition) -> str:
    sync = ABSENT if transition.sync is None else _sync(transition.sync)
    kind = "locked" if transition.locked else "plain"
    return _list("step", transition.source, transition.target, kind, sync, *map(_op, transition.ops))


def _sync(sync: Sync) -> str:
    side = "sends" if sync.sends else "receives"
    values = _list(*map(expression_text, sync.values))
    return _list("sync", _quoted(sync.channel), side, values, _numbers(sync.registers), sync.guard_ops)


def _op(op: Op) -> str:
    match op:
        case Load(register, address, when, order):
            return _list("load", register, *_address(address), _optional(when), order.value)
        case Store(address, value, direct, order, when):
            kind = "direct" if direct else "buffered"
            return _list("store", *_address(address), expression_text(value), kind, order.value, _optional(when))
        case Rmw(old, address, kind, operand, expected, order, failure):
            place = ABSENT if old is None else str(old)
            operands = (expression_text(operand), _optional(expected))
            return _list("rmw", place, *_address(address), kind, *operands, order.value, failure.value)
        case Assign(register, value):
            return _list("assign", register, expression_text(value))
        case Assume(condition):
            return _list("assume", expression_text(condition))
        case Assert(condition, error):
            return _list("assert", expression_text(condition), _quoted(error))
        case Fence(kind, order):
            return _list("fence", kind, order.value)
        case Lock():
            return "(lock)"
        case Unlock():
            return "(unlock)"
        case _:
            assert_never(op)


def expression_text(expr: Expr) -> str:
    """`expr` as it stands in canonical texts."""
    match expr:
        case Const(value):
            return str(value)
        case Register(number):
            return _list("register", number)
        case RegisterOf(process, number):
            return _list("register-of", process, number)
        case Shared(address):
            return _list("memory", *_address(address))
        case At(process, locations):
            return _list("at", process, _numbers(sorted(locations)))
        case BufferEmpty(process):
            return _list("empty", process)
        case Unary(op, operand):
            return _list(op, expression_text(operand))
        case Binary(op, left, right):
            return _list(op, expression_text(left), expression_text(right))
        case Conditional(condition, then, otherwise):
            return _list("?", *map(expression_text, (condition, then, otherwise)))
        case _:
            assert_never(expr)


def _optional(expr: Expr | None) -> str:
    return ABSENT if expr is None else expression_text(expr)


def _address(address: Address) -> tuple[int, int, str]:
    return address.base, address.size, expression_text(address.index)


def _domain(domain: Domain) -> tuple[int, int, str]:
    return domain.lo, domain.hi, domain.overflow


def _numbers(values: Iterable[int]) -> str:
    return _list(*values)


def _quoted(text: str) -> str:
    return json.dumps(text)


def _list(*parts: str | int) -> str:
    return "(" + " ".join(map(str, parts)) + ")"
