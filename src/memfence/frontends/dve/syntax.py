"""What a DVE text says, before names are looked up: a closed union of frozen nodes, each with its place."""

from __future__ import annotations

from typing import Literal

from memfence.frontends.parsing.syntax import Name
from memfence.records import Record
from memfence.source import Span

ValueType = Literal["byte", "int"]
PrefixOperator = Literal["-", "~", "not"]
InfixOperator = Literal[
    "imply", "or", "and", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "<<", ">>", "+", "-", "*", "/", "%"
]


class Number(Record):
    value: int
    span: Span


class Variable(Record):
    """`x`, `a[index]`, and with an `owner` the local variable of a process: `owner->x`."""

    name: Name
    index: Expression | None
    owner: Name | None
    span: Span


class InState(Record):
    """`process.state`: 1 where the process is in that state."""

    process: Name
    state: Name
    span: Span


class Prefix(Record):
    operator: PrefixOperator
    operand: Expression
    span: Span


class Infix(Record):
    operator: InfixOperator
    left: Expression
    right: Expression
    span: Span


Expression = Number | Variable | InState | Prefix | Infix


class Declaration(Record):
    """A variable; `size` is given for arrays only, and `initial` may have more or fewer values than elements."""

    name: Name
    type: ValueType
    size: int | None
    initial: tuple[Expression, ...]
    constant: bool
    span: Span


class Channel(Record):
    """`types` is None for an untyped channel; capacity 0 means rendezvous."""

    name: Name
    types: tuple[ValueType, ...] | None
    capacity: int


class Synchronisation(Record):
    """`channel!values` or `channel?variables`. `atomic`: what is received goes to memory at once."""

    channel: Name
    sends: bool
    values: tuple[Expression, ...]
    atomic: bool
    span: Span


class Assignment(Record):
    """`target = value`; an `atomic` one goes to memory at once, when no store of its process is pending."""

    target: Variable
    value: Expression
    atomic: bool
    span: Span


class Step(Record):
    """One transition; without a `source` it starts where the one before it starts."""

    source: Name | None
    target: Name
    guard: Expression | None
    sync: Synchronisation | None
    effects: tuple[Assignment, ...]
    span: Span


class Assertion(Record):
    state: Name
    condition: Expression


class ProcessText(Record):
    """`accepting`: one set for Büchi acceptance, several for a generalised one, none where nothing is said."""

    name: Name
    declarations: tuple[Declaration, ...]
    states: tuple[Name, ...]
    initial: Name | None
    committed: tuple[Name, ...]
    accepting: tuple[tuple[Name, ...], ...]
    assertions: tuple[Assertion, ...]
    steps: tuple[Step, ...]
    span: Span


class Model(Record):
    """A whole text. `property` names the process that is the property; `notes` say how doubtful places were read."""

    declarations: tuple[Declaration, ...]
    channels: tuple[Channel, ...]
    processes: tuple[ProcessText, ...]
    property: Name | None
    notes: tuple[str, ...]


def subexpressions(expression: Expression) -> tuple[Expression, ...]:
    """The direct parts."""
    match expression:
        case Variable(_, index, _, _):
            return () if index is None else (index,)
        case Prefix(_, operand, _):
            return (operand,)
        case Infix(_, left, right, _):
            return (left, right)
        case Number() | InState():
            return ()
