"""What a guard tells about the values in registers."""

from __future__ import annotations

from memfence.frontends.c.machine.state import State
from memfence.frontends.c.machine.value_sets import ValueSet
from memfence.frontends.c.machine.values import Known, Packed, Parts, Unknown, Value
from memfence.program.expressions import Binary, Const, Expr, Register, Unary


def refined(state: State, guard: Expr) -> bool:
    """Narrow the possible values of `state` by a guard that is true; False where nothing is left."""
    facts = list(_facts(guard))
    if not facts:
        return True
    alive = True

    def narrow(value: Value) -> Value:
        nonlocal alive
        if isinstance(value, Parts):
            return Parts(tuple(narrow(item) for item in value.items))
        if isinstance(value, Packed):
            return Packed(tuple((bits, narrow(piece)) for bits, piece in value.pieces))  # type: ignore[misc]
        if not isinstance(value, Unknown):
            return value
        root, added = _shifted(value.expr)
        for subject, op, bound in facts:
            if root == subject:
                kept = _keep(value.values, op, bound + added)
                alive = alive and not kept.is_empty
                value = Unknown(value.expr, kept)
        return value

    for frame in state.frames:
        env = frame.env
        unknown = [(name, value) for name, value in env.items() if value.__class__ is not Known]
        changed = {name: new for name, value in unknown if (new := narrow(value)) is not value}
        if changed:
            frame.env = {**env, **changed}
    others = [(a, size, value) for a, (size, value) in state.cells.items() if value.__class__ is not Known]
    narrowed = {a: (size, new) for a, size, value in others if (new := narrow(value)) is not value}
    if narrowed:
        state.cells = {**state.cells, **narrowed}
    return alive


def _facts(guard: Expr) -> list[tuple[Expr, str, int]]:
    match guard:
        case Binary("&&", left, right):
            return [*_facts(left), *_facts(right)]
        case Binary("==" | "!=" | "<" | "<=" | ">" | ">=" as op, subject, Const(bound)):
            root, added = _shifted(subject)
            return [(root, op, bound - added)]
        case Binary("==" | "!=" | "<" | "<=" | ">" | ">=" as op, Const(bound), subject):
            root, added = _shifted(subject)
            return [(root, MIRRORED[op], bound - added)]
        case Register():
            return [(guard, "!=", 0)]
        case Unary("!", Register() as subject):
            return [(subject, "==", 0)]
        case _:
            return []


def _shifted(expr: Expr) -> tuple[Expr, int]:
    """What the expression is, but for a constant that is added."""
    if expr.__class__ is not Binary:
        return expr, 0
    match expr:
        case Binary("+", root, Const(added)):
            return root, added
        case Binary("-", root, Const(taken)):
            return root, -taken
        case _:
            return expr, 0


MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _keep(values: ValueSet, op: str, bound: int) -> ValueSet:
    match op:
        case "==":
            if values.is_open:
                return ValueSet(frozenset({bound}))
            return ValueSet(frozenset({bound})) if values.contains(bound) else ValueSet(frozenset())
        case "!=":
            lo, hi = values.lo, values.hi
            if values.has_interval:
                lo, hi = lo + (lo == bound), hi - (hi == bound)
            return ValueSet(values.listed - {bound}, lo, hi, values.is_open)
        case "<":
            return values.keep(lambda v: v < bound, hi=bound - 1)
        case "<=":
            return values.keep(lambda v: v <= bound, hi=bound)
        case ">":
            return values.keep(lambda v: v > bound, lo=bound + 1)
        case _:
            return values.keep(lambda v: v >= bound, lo=bound)
