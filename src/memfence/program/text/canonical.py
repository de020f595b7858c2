"""A whole program as text, the same for everybody who reads the same program: what a digest is taken of.

One line a variable, register, location or transition, each a list in parentheses; names are quoted, numbers are
decimal. Everything that a run depends on is there, and nothing else: no places, no fence points, no properties.
`docs/theory/certificates.md` has the grammar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from typing import Any

from memfence.program import expressions, ir

ABSENT = "_"
_quoted: Callable[[str], str] = encode_basestring_ascii


def canonical_text(program: ir.Program) -> str:
    """The text of `program`. Programs with the same text have the same runs, step by step."""
    return "\n".join([*_lines(program), ""])


def digest_of(text: str) -> str:
    """What tells programs apart: SHA-256 of the canonical text."""
    return sha256(text.encode()).hexdigest()


def _lines(program: ir.Program) -> list[str]:
    lines = [
        _list("variable", _quoted(variable.name), *_domain(variable.domain), _numbers(variable.init))
        for variable in program.variables
    ]
    for process in program.processes:
        lines.append(_list("process", _quoted(process.name), _quoted(process.template), process.initial))
        lines += map(_register, process.registers)
        lines += map(_location, process.locations)
        lines += map(_step, process.transitions)
    if program.error_locations is not None:
        lines.append(_list("errors", _numbers(program.error_locations)))
    return lines


def _register(register: ir.RegisterVar) -> str:
    unset = ABSENT if register.unset is None else _list(*_domain(register.unset))
    kind = "transient" if register.transient else "kept"
    return _list("register", _quoted(register.name), *_domain(register.domain), _numbers(register.init), kind, unset)


def _location(location: ir.Location) -> str:
    marks = f"{' committed' if location.committed else ''}{' may_end' if location.may_end else ''}"
    return f"(location ({' '.join(map(_quoted, location.labels))}){marks})"


def _step(transition: ir.Transition) -> str:
    sync = ABSENT if transition.sync is None else _sync(transition.sync)
    kind = "locked" if transition.locked else "plain"
    ops = "".join([f" {_OPS[op.__class__](op)}" for op in transition.ops])
    return f"(step {transition.source} {transition.target} {kind} {sync}{ops})"


def _sync(sync: ir.Sync) -> str:
    side = "sends" if sync.sends else "receives"
    values = _list(*map(expression_text, sync.values))
    return _list("sync", _quoted(sync.channel), side, values, _numbers(sync.registers), sync.guard_ops)


def _rmw(op: ir.Rmw) -> str:
    place = ABSENT if op.register is None else str(op.register)
    operands = f"{expression_text(op.operand)} {_optional(op.expected)}"
    return f"(rmw {place} {_address(op.address)} {op.kind} {operands} {op.order.value} {op.failure_order.value})"


def _store(op: ir.Store) -> str:
    kind = "direct" if op.direct else "buffered"
    return f"(store {_address(op.address)} {expression_text(op.value)} {kind} {op.order.value} {_optional(op.when)})"


# Asked of every op of every program that is certified: a table is faster than a `match`.
_OPS: dict[type, Callable[[Any], str]] = {
    ir.Load: lambda op: f"(load {op.register} {_address(op.address)} {_optional(op.when)} {op.order.value})",
    ir.Store: _store,
    ir.Rmw: _rmw,
    ir.Assign: lambda op: f"(assign {op.register} {expression_text(op.value)})",
    ir.Assume: lambda op: f"(assume {expression_text(op.condition)})",
    ir.Assert: lambda op: f"(assert {expression_text(op.condition)} {_quoted(op.error)})",
    ir.Fence: lambda op: f"(fence {op.kind} {op.order.value})",
    ir.Lock: lambda op: "(lock)",
    ir.Unlock: lambda op: "(unlock)",
}


def expression_text(expr: expressions.Expr) -> str:
    """`expr` as it stands in canonical texts."""
    return _EXPRESSIONS[expr.__class__](expr)


def _conditional(expr: expressions.Conditional) -> str:
    return f"(? {expression_text(expr.condition)} {expression_text(expr.then)} {expression_text(expr.otherwise)})"


_EXPRESSIONS: dict[type, Callable[[Any], str]] = {
    expressions.Const: lambda e: str(e.value),
    expressions.Register: lambda e: f"(register {e.index})",
    expressions.RegisterOf: lambda e: f"(register-of {e.process} {e.register})",
    expressions.Shared: lambda e: f"(memory {_address(e.address)})",
    expressions.At: lambda e: f"(at {e.process} {_numbers(sorted(e.locations))})",
    expressions.BufferEmpty: lambda e: f"(empty {e.process})",
    expressions.Unary: lambda e: f"({e.op} {expression_text(e.operand)})",
    expressions.Binary: lambda e: f"({e.op} {expression_text(e.left)} {expression_text(e.right)})",
    expressions.Conditional: _conditional,
}


def _optional(expr: expressions.Expr | None) -> str:
    return ABSENT if expr is None else expression_text(expr)


def _address(address: expressions.Address) -> str:
    return f"{address.base} {address.size} {expression_text(address.index)}"


def _domain(domain: ir.Domain) -> tuple[int, int, str]:
    return domain.lo, domain.hi, domain.overflow


def _numbers(values: Iterable[int]) -> str:
    return _list(*values)


def _list(*parts: str | int) -> str:
    return "(" + " ".join(map(str, parts)) + ")"
