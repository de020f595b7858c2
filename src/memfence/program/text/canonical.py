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

from memfence.program import expressions, ir

ABSENT = "_"


def canonical_text(program: ir.Program) -> str:
    """The text of `program`. Programs with the same text have the same runs, step by step."""
    return "".join(line + "\n" for line in _lines(program))


def digest_of(text: str) -> str:
    """What tells programs apart: SHA-256 of the canonical text."""
    return sha256(text.encode()).hexdigest()


def _lines(program: ir.Program) -> Iterator[str]:
    for variable in program.variables:
        yield _list("variable", _quoted(variable.name), *_domain(variable.domain), _numbers(variable.init))
    for process in program.processes:
        yield from _process_lines(process)
    if program.error_locations is not None:
        yield _list("errors", _numbers(program.error_locations))


def _process_lines(process: ir.Process) -> Iterator[str]:
    yield _list("process", _quoted(process.name), _quoted(process.template), process.initial)
    yield from map(_register, process.registers)
    yield from map(_location, process.locations)
    yield from map(_step, process.transitions)


def _register(register: ir.RegisterVar) -> str:
    unset = ABSENT if register.unset is None else _list(*_domain(register.unset))
    kind = "transient" if register.transient else "kept"
    return _list("register", _quoted(register.name), *_domain(register.domain), _numbers(register.init), kind, unset)


def _location(location: ir.Location) -> str:
    marks = [name for name, is_set in (("committed", location.committed), ("may_end", location.may_end)) if is_set]
    return _list("location", _list(*map(_quoted, location.labels)), *marks)


def _step(transition: ir.Transition) -> str:
    sync = ABSENT if transition.sync is None else _sync(transition.sync)
    kind = "locked" if transition.locked else "plain"
    return _list("step", transition.source, transition.target, kind, sync, *map(_op, transition.ops))


def _sync(sync: ir.Sync) -> str:
    side = "sends" if sync.sends else "receives"
    values = _list(*map(expression_text, sync.values))
    return _list("sync", _quoted(sync.channel), side, values, _numbers(sync.registers), sync.guard_ops)


def _op(op: ir.Op) -> str:
    match op:
        case ir.Load(register, address, when, order):
            return _list("load", register, *_address(address), _optional(when), order.value)
        case ir.Store(address, value, direct, order, when):
            kind = "direct" if direct else "buffered"
            return _list("store", *_address(address), expression_text(value), kind, order.value, _optional(when))
        case ir.Rmw(old, address, kind, operand, expected, order, failure):
            place = ABSENT if old is None else str(old)
            operands = (expression_text(operand), _optional(expected))
            return _list("rmw", place, *_address(address), kind, *operands, order.value, failure.value)
        case ir.Assign(register, value):
            return _list("assign", register, expression_text(value))
        case ir.Assume(condition):
            return _list("assume", expression_text(condition))
        case ir.Assert(condition, error):
            return _list("assert", expression_text(condition), _quoted(error))
        case ir.Fence(kind, order):
            return _list("fence", kind, order.value)
        case ir.Lock():
            return "(lock)"
        case ir.Unlock():
            return "(unlock)"
        case _:
            assert_never(op)


def expression_text(expr: expressions.Expr) -> str:
    """`expr` as it stands in canonical texts."""
    match expr:
        case expressions.Const(value):
            return str(value)
        case expressions.Register(number):
            return _list("register", number)
        case expressions.RegisterOf(process, number):
            return _list("register-of", process, number)
        case expressions.Shared(address):
            return _list("memory", *_address(address))
        case expressions.At(process, locations):
            return _list("at", process, _numbers(sorted(locations)))
        case expressions.BufferEmpty(process):
            return _list("empty", process)
        case expressions.Unary(op, operand):
            return _list(op, expression_text(operand))
        case expressions.Binary(op, left, right):
            return _list(op, expression_text(left), expression_text(right))
        case expressions.Conditional(condition, then, otherwise):
            return _list("?", *map(expression_text, (condition, then, otherwise)))
        case _:
            assert_never(expr)


def _optional(expr: expressions.Expr | None) -> str:
    return ABSENT if expr is None else expression_text(expr)


def _address(address: expressions.Address) -> tuple[int, int, str]:
    return address.base, address.size, expression_text(address.index)


def _domain(domain: ir.Domain) -> tuple[int, int, str]:
    return domain.lo, domain.hi, domain.overflow


def _numbers(values: Iterable[int]) -> str:
    return _list(*values)


def _quoted(text: str) -> str:
    return json.dumps(text)


def _list(*parts: str | int) -> str:
    return "(" + " ".join(map(str, parts)) + ")"
