"""What a model declares: types, constants, shared variables, proctypes; and the value of constant expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, product
from math import prod
from typing import assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label, did_you_mean
from memfence.frontends.promela import syntax
from memfence.program.expressions import EvaluationError, apply_binary, apply_unary
from memfence.program.ir import Domain
from memfence.records import Record
from memfence.source import Span

MOST_ELEMENTS = 4096
INT = Domain(-(2**31), 2**31 - 1, "wrap")
DOMAINS = {
    "bit": Domain(0, 1, "wrap"), "bool": Domain(0, 1, "wrap"), "byte": Domain(0, 255, "wrap"),
    "pid": Domain(0, 255, "wrap"), "mtype": Domain(0, 255, "wrap"), "short": Domain(-(2**15), 2**15 - 1, "wrap"),
    "int": INT,
}  # fmt: skip


class NotConstant(Exception):
    """The expression has no value before the program runs; `span` is the part that has none."""

    def __init__(self, span: Span) -> None:
        super().__init__()
        self.span = span


@dataclass(slots=True)
class Errors:
    """Diagnostics in the order in which they are found, each once: instances of a proctype share their mistakes."""

    found: list[Diagnostic] = field(default_factory=list)

    def add(
        self, code: Code, message: str, span: Span, *related: Label, note: str = "", hint: str | None = None
    ) -> None:
        diagnostic = Diagnostic(code, message, Label(span, note), related, hint)
        if diagnostic not in self.found:
            self.found.append(diagnostic)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.found += [diagnostic for diagnostic in diagnostics if diagnostic not in self.found]


Shape = tuple[int | None, ...]
"""How many elements each part of a name has, None where it is no array: `a[2].b` has the shape (2, None)."""


def element_count(shape: Shape) -> int:
    return prod(size or 1 for size in shape)


def is_array(shape: Shape) -> bool:
    return any(size is not None for size in shape)


def strides(shape: Shape) -> list[int]:
    """By how much each index moves on among all elements; the last one moves by one."""
    return [element_count(shape[part + 1 :]) for part in range(len(shape))]


def element_names(name: str, shape: Shape) -> list[str]:
    """What the elements are called, in the order of their positions: `a[0].b`, `a[1].b`."""
    parts = name.split(".")
    counts: list[list[int | None]] = [[None] if size is None else [*range(size)] for size in shape]
    return [
        ".".join(part if i is None else f"{part}[{i}]" for part, i in zip(parts, chosen, strict=True))
        for chosen in product(*counts)
    ]


class SharedName(Record):
    """A global, or one field of a global record. `base` is the number of its first variable."""

    name: syntax.Name
    base: int
    shape: Shape
    domain: Domain


class Member(Record):
    """What a declaration makes: a variable, or each field of a record."""

    name: syntax.Name
    shape: Shape
    domain: Domain
    values: list[int]


@dataclass(slots=True)
class Model:
    """Everything declared outside the bodies. `memory` are the initial values, one per variable."""

    constants: dict[str, int] = field(default_factory=dict)
    types: dict[str, syntax.Typedef] = field(default_factory=dict)
    shared: dict[str, SharedName] = field(default_factory=dict)
    records: dict[str, int | None] = field(default_factory=dict)
    memory: list[int] = field(default_factory=list)
    proctypes: dict[str, syntax.Proctype] = field(default_factory=dict)
    init: syntax.Init | None = None
    started: list[syntax.Proctype | syntax.Init] = field(default_factory=list)
    claims: list[syntax.Never] = field(default_factory=list)
    processes: int = 0

    @property
    def hull(self) -> Domain:
        """A range that holds every value in memory."""
        domains = [shared.domain for shared in self.shared.values()]
        return Domain(min((d.lo for d in domains), default=0), max((d.hi for d in domains), default=1), "wrap")


def collect(units: Iterable[syntax.Unit], errors: Errors) -> Model:
    """The declarations of a model in the order of the text; mistakes go to `errors`."""
    model = Model()
    for unit in units:
        match unit:
            case syntax.Mtype(names):
                _number_constants(model, names, errors)
            case syntax.Typedef(name, fields):
                if any(declaration.type == name.text for declaration in fields):
                    errors.add(Code.RECURSION, f"record `{name.text}` contains itself", name.span)
                    model.types[name.text] = syntax.Typedef(name, ())
                elif _is_new(model, name, errors):
                    model.types[name.text] = unit
            case syntax.Declaration():
                for item in unit.items:
                    _declare_shared(model, unit, item, errors)
            case syntax.Proctype(name):
                if _is_new(model, name, errors):
                    model.proctypes[name.text] = unit
                if unit.active is not None:
                    model.started.append(unit)
            case syntax.Init():
                if model.init is not None:
                    first = Label(model.init.span, "first one")
                    errors.add(Code.DUPLICATE, "`init` is defined twice", unit.span, first)
                model.init = unit
                model.started.append(unit)
            case syntax.Never():
                model.claims.append(unit)
            case _:
                assert_never(unit)
    return model


def _number_constants(model: Model, names: tuple[syntax.Name, ...], errors: Errors) -> None:
    """Spin numbers backwards: the last name of all is 1, and a later `mtype` comes on top of an earlier one."""
    top = len(model.constants)
    for position, name in enumerate(names):
        if _is_new(model, name, errors):
            model.constants[name.text] = top + len(names) - position
    if len(model.constants) > 255:
        errors.add(Code.TOO_LARGE, "more than 255 `mtype` names", names[-1].span)


def _declare_shared(model: Model, declaration: syntax.Declaration, item: syntax.Declared, errors: Errors) -> None:
    def value_of(expression: syntax.Expression) -> int:
        return constant_value(expression, model.constants.get, errors)

    if not _is_new(model, item.name, errors):
        return
    if declaration.type in model.types:
        model.records[item.name.text] = array_size(item, value_of, errors)
    for member in members(model, declaration, item, value_of, errors):
        model.shared[member.name.text] = SharedName(member.name, len(model.memory), member.shape, member.domain)
        model.memory += member.values


def members(
    model: Model,
    declaration: syntax.Declaration,
    item: syntax.Declared,
    value_of: Callable[[syntax.Expression], int],
    errors: Errors,
) -> list[Member]:
    """The variables that `item` stands for: itself, or every field of a record, of arrays and of inner records too."""
    found = list(islice(_members(model, declaration.type, item, value_of, errors), MOST_ELEMENTS + 1))
    if sum(element_count(member.shape) for member in found) > MOST_ELEMENTS:
        message = f"`{item.name.text}` has more than {MOST_ELEMENTS} elements in all"
        errors.add(Code.TOO_LARGE, message, item.name.span)
        return []
    return [replace(one, values=one.values * (element_count(one.shape) // len(one.values))) for one in found]


def _members(
    model: Model, kind: str, item: syntax.Declared, value_of: Callable[[syntax.Expression], int], errors: Errors
) -> Iterator[Member]:
    size = array_size(item, value_of, errors)
    if kind not in model.types:
        domain = domain_of(kind, item, errors)
        yield Member(item.name, (size,), domain, initial_values(item, size, domain, value_of, errors))
        return
    if item.initial is not None or item.width is not None:
        message = f"`{item.name.text}` is a record and has no initial value of its own"
        errors.add(Code.TYPE_MISMATCH, message, item.name.span, hint="give the fields values in the `typedef`")
    for declaration in model.types[kind].fields:
        for inner in declaration.items:
            for member in _members(model, declaration.type, inner, value_of, errors):
                name = replace(item.name, text=f"{item.name.text}.{member.name.text}")
                yield Member(name, (size, *member.shape), member.domain, member.values)


def domain_of(type_name: str, item: syntax.Declared, errors: Errors) -> Domain:
    """The values of a declared variable."""
    if type_name != "unsigned":
        if item.width is not None:
            message = f"`{type_name} {item.name.text}` has a width, but only `unsigned` may"
            errors.add(Code.TYPE_MISMATCH, message, item.name.span, hint=f"write `unsigned {item.name.text} : n`")
        return DOMAINS[type_name]
    width = 1 if item.width is None else item.width
    if not 1 <= width <= 31:
        errors.add(Code.TOO_LARGE, f"`{item.name.text}` is {width} bits wide", item.name.span, hint="use 1 to 31 bits")
        width = 1
    return Domain(0, 2**width - 1, "wrap")


def array_size(item: syntax.Declared, value_of: Callable[[syntax.Expression], int], errors: Errors) -> int | None:
    """The number of elements, None for a scalar."""
    if item.size is None:
        return None
    size = value_of(item.size)
    if 1 <= size <= MOST_ELEMENTS:
        return size
    code = Code.TOO_LARGE if size > 0 else Code.EMPTY_RANGE
    message = f"array `{item.name.text}` has {size} elements"
    errors.add(code, message, item.name.span, hint=f"use 1 to {MOST_ELEMENTS} elements")
    return 1


def initial_values(
    item: syntax.Declared,
    size: int | None,
    domain: Domain,
    value_of: Callable[[syntax.Expression], int],
    errors: Errors,
) -> list[int]:
    """The initial value of every element; as in Spin the last one given serves the elements that remain."""
    count = size or 1
    given = [domain.fit(value_of(expression)) for expression in item.initial or ()]
    if len(given) > count:
        message = f"`{item.name.text}` has {count} elements, but {len(given)} initial values"
        errors.add(Code.OUT_OF_RANGE, message, item.name.span)
    return [*given, *(given[-1:] or [0]) * count][:count]


def _is_new(model: Model, name: syntax.Name, errors: Errors) -> bool:
    known: SharedName | syntax.Proctype | syntax.Typedef | None = (
        model.shared.get(name.text) or model.proctypes.get(name.text) or model.types.get(name.text)
    )
    if known is None and name.text not in model.constants and name.text not in model.records:
        return True
    related = (Label(known.name.span, "first declared here"),) if known else ()
    errors.add(Code.DUPLICATE, f"`{name.text}` is declared twice", name.span, *related)
    return False


def constant_value(expression: syntax.Expression, lookup: Callable[[str], int | None], errors: Errors) -> int:
    """The value of a constant expression; 1, which is good for a size, too, after reporting that it has none."""
    try:
        return evaluate(expression, lambda reference: lookup(reference.name.text))
    except NotConstant as problem:
        errors.add(Code.UNSUPPORTED, f"`{problem.span.text}` is not a constant", problem.span)
    except EvaluationError as problem:
        errors.add(Code.OUT_OF_RANGE, f"`{expression.span.text}` has no value: {problem}", expression.span)
    return 1


def evaluate(
    expression: syntax.Expression, lookup: Callable[[syntax.Reference], int | None], pid: int | None = None
) -> int:
    """The value of an expression, where `lookup` knows the values of names; NotConstant where it does not."""
    match expression:
        case syntax.Number(value):
            return value
        case syntax.RunningCount(span) | syntax.Timeout(span) | syntax.NoProgress(span):
            raise NotConstant(span)
        case syntax.EmptyBuffer(_, _, span):
            raise NotConstant(span)
        case syntax.Pid(span):
            if pid is None:
                raise NotConstant(span)
            return pid
        case syntax.Reference(_, _, span):
            found = lookup(expression)
            if found is None:
                raise NotConstant(span)
            return found
        case syntax.UnaryOperation(op, operand):
            return apply_unary(op, evaluate(operand, lookup, pid))
        case syntax.BinaryOperation("&&", left, right):
            return int(bool(evaluate(left, lookup, pid)) and bool(evaluate(right, lookup, pid)))
        case syntax.BinaryOperation("||", left, right):
            return int(bool(evaluate(left, lookup, pid)) or bool(evaluate(right, lookup, pid)))
        case syntax.BinaryOperation(op, left, right):
            return apply_binary(op, evaluate(left, lookup, pid), evaluate(right, lookup, pid))
        case syntax.Choice(condition, then, otherwise):
            return evaluate(then if evaluate(condition, lookup, pid) else otherwise, lookup, pid)
        case syntax.Run(_, _, span) | syntax.LabelReference(_, _, _, span) | syntax.LocalReference(_, _, _, span):
            raise NotConstant(span)
        case _:
            assert_never(expression)


def unknown_name(name: syntax.Name, known: Iterable[str], errors: Errors) -> None:
    known = set(known)
    root, _, field_name = name.text.partition(".")
    fields = sorted(other.removeprefix(f"{root}.") for other in known if other.startswith(f"{root}."))
    if fields and not field_name:
        message = f"`{root}` is a record: name one of its fields"
        errors.add(Code.TYPE_MISMATCH, message, name.span, hint=f"write `{root}.{fields[0]}`")
        return
    if field_name and (fields or root in known):
        message = f"`{root}` has no field `{field_name}`" if fields else f"`{root}` is not a record"
        hint = did_you_mean(field_name, fields, f"fields: {', '.join(fields)}" if fields else None)
        errors.add(Code.UNKNOWN_VARIABLE, message, name.span, hint=hint)
        return
    hint = did_you_mean(name.text, sorted(known), f"declare it with `byte {name.text};`")
    errors.add(Code.UNKNOWN_VARIABLE, f"unknown variable `{name.text}`", name.span, note="not declared", hint=hint)
