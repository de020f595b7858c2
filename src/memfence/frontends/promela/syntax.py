"""The abstract syntax of Promela: closed unions of frozen dataclasses, every name knows its place.

Nodes are compared by identity: two statements that read the same are still two statements.
"""

from __future__ import annotations

from collections.abc import Iterator

from memfence.program.expressions import BinaryOp, UnaryOp
from memfence.records import Record
from memfence.source import Span


class Name(Record, eq=False):
    """An identifier; `frame` tells the expansions of one `inline` apart."""

    text: str
    span: Span
    frame: int = 0


class Number(Record, eq=False):
    value: int
    span: Span


class Pid(Record, eq=False):
    span: Span


class RunningCount(Record, eq=False):
    """`_nr_pr`: how many processes have not ended."""

    span: Span


class NoProgress(Record, eq=False):
    """`np_`, in properties: no process is at a label that begins with `progress`."""

    span: Span


class EmptyBuffer(Record, eq=False):
    """`empty(proctype[pid])`, in properties: no store of the process is pending."""

    proctype: Name
    pid: Expression | None
    span: Span


class Timeout(Record, eq=False):
    """`timeout`: no other statement of any process can be executed."""

    span: Span


class Reference(Record, eq=False):
    """`name`, `name[index]`, or a field of a record: `a[i].b` has the name `a.b` and the indices `i` and None."""

    name: Name
    indices: tuple[Expression | None, ...]
    span: Span


class UnaryOperation(Record, eq=False):
    op: UnaryOp
    operand: Expression
    span: Span


class BinaryOperation(Record, eq=False):
    op: BinaryOp
    left: Expression
    right: Expression
    span: Span


class Choice(Record, eq=False):
    """`(condition -> then : otherwise)`."""

    condition: Expression
    then: Expression
    otherwise: Expression
    span: Span


class Run(Record, eq=False):
    """`run proctype(arguments)`."""

    proctype: Name
    arguments: tuple[Expression, ...]
    span: Span


class LabelReference(Record, eq=False):
    """`proctype[pid]@label`."""

    proctype: Name
    pid: Expression | None
    label: Name
    span: Span


class LocalReference(Record, eq=False):
    """`proctype[pid]:variable`."""

    proctype: Name
    pid: Expression | None
    variable: Reference
    span: Span


Expression = (
    Number
    | Pid
    | RunningCount
    | NoProgress
    | Timeout
    | EmptyBuffer
    | Reference
    | UnaryOperation
    | BinaryOperation
    | Choice
    | Run
    | LabelReference
    | LocalReference
)


class Declared(Record, eq=False):
    """One name of a declaration: `name : width [size] = initial`."""

    name: Name
    width: int | None
    size: Expression | None
    initial: tuple[Expression, ...] | None


class Declaration(Record, eq=False):
    type: str
    items: tuple[Declared, ...]


class Assignment(Record, eq=False):
    target: Reference
    value: Expression


class Condition(Record, eq=False):
    """An expression as a statement: it waits until the expression is true."""

    expression: Expression


class Assertion(Record, eq=False):
    expression: Expression


class Skip(Record, eq=False):
    """`skip`, and `printf`, whose arguments nobody sees."""


class Else(Record, eq=False):
    pass


class Break(Record, eq=False):
    pass


class Goto(Record, eq=False):
    label: Name


class Call(Record, eq=False):
    """`mfence()` and the like; the calls of an `inline` are expanded before."""

    name: Name
    arguments: int


class Select(Record, eq=False):
    """`select (target : low .. high)`."""

    target: Reference
    low: Expression
    high: Expression


class Sequence(Record, eq=False):
    """Steps one after the other; names declared in it are known to its end."""

    steps: tuple[Step, ...]


class Atomic(Record, eq=False):
    """`atomic`, or `d_step`, which is `deterministic`: of several options that are possible it takes the first."""

    body: Sequence
    keyword: Span
    deterministic: bool


class If(Record, eq=False):
    options: tuple[tuple[Step, ...], ...]


class Do(Record, eq=False):
    options: tuple[tuple[Step, ...], ...]


class For(Record, eq=False):
    """`for (target : low .. high) body`."""

    target: Reference
    low: Expression
    high: Expression
    body: Sequence


class ForIn(Record, eq=False):
    """`for (target in array) body`."""

    target: Reference
    array: Name
    body: Sequence


Statement = (
    Declaration | Assignment | Condition | Assertion | Skip | Else | Break | Goto | Call | Select
    | Sequence | Atomic | If | Do | For | ForIn
)  # fmt: skip


class TextPlace(Record, eq=False):
    """Where edits around a statement go: `first` is in front of its labels, `end` behind the separator that follows.

    `separator` is what has to be added before another statement can follow. `before`, `after`: whether text can be
    written there at all; not inside a macro, nor in an included file.
    """

    first: int
    start: int
    end: int
    separator: str
    before: bool
    after: bool
    owner: str


class Step(Record, eq=False):
    """A statement with its labels, where it stands, and where text around it would go."""

    statement: Statement
    span: Span
    labels: tuple[Name, ...] = ()
    text: TextPlace | None = None


class Mtype(Record, eq=False):
    names: tuple[Name, ...]


class Typedef(Record, eq=False):
    """`typedef name { fields }`."""

    name: Name
    fields: tuple[Declaration, ...]


class Proctype(Record, eq=False):
    """`active [active] proctype name(parameters) { body }`; `active` is None for one that only `run` starts.

    `any_number`: `active [*]`.
    """

    name: Name
    parameters: tuple[Declaration, ...]
    body: Sequence
    active: Expression | int | None
    any_number: bool = False


class Init(Record, eq=False):
    body: Sequence
    span: Span


class Never(Record, eq=False):
    """`never { body }`, which may have a name."""

    name: Name
    body: Sequence


Unit = Mtype | Typedef | Declaration | Proctype | Init | Never


def inner_sequences(statement: Statement) -> tuple[tuple[Step, ...], ...]:
    """The step lists directly inside a compound statement."""
    match statement:
        case Sequence(steps) | Atomic(Sequence(steps)) | For(_, _, _, Sequence(steps)) | ForIn(_, _, Sequence(steps)):
            return (steps,)
        case If(options) | Do(options):
            return options
        case _:
            return ()


def all_steps(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Every step, those inside others included, in the order of the text."""
    for step in steps:
        yield step
        for inner in inner_sequences(step.statement):
            yield from all_steps(inner)


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """The expressions that stand directly in a statement; the target of an assignment counts."""
    match statement:
        case Declaration(_, items):
            return tuple(e for item in items for e in (item.initial or ()))
        case Assignment(target, value):
            return (target, value)
        case Condition(expression) | Assertion(expression):
            return (expression,)
        case Select(target, low, high) | For(target, low, high, _):
            return (target, low, high)
        case ForIn(target, _, _):
            return (target,)
        case _:
            return ()


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """`expression` and everything below it."""
    yield expression
    inner: tuple[Expression | None, ...]
    match expression:
        case Reference(_, indices):
            inner = indices
        case UnaryOperation(_, operand):
            inner = (operand,)
        case BinaryOperation(_, left, right):
            inner = (left, right)
        case Choice(condition, then, otherwise):
            inner = (condition, then, otherwise)
        case Run(_, arguments):
            inner = arguments
        case LocalReference(_, pid, variable):
            inner = (pid, variable)
        case LabelReference(_, pid, _):
            inner = (pid,)
        case _:
            inner = ()
    for part in inner:
        if part is not None:
            yield from subexpressions(part)


def assigned_names(steps: tuple[Step, ...]) -> frozenset[str]:
    """The names that some statement among `steps` gives a value to."""
    found = set()
    for step in all_steps(steps):
        match step.statement:
            case Assignment(target) | Select(target) | For(target) | ForIn(target):
                found.add(target.name.text)
            case _:
                pass
    return frozenset(found)
