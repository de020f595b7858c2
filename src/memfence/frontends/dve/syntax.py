"""What a DVE text says, before names are looked up: a closed union of frozen nodes, each with its place."""

from __future__ import annotations

from typing import Literal

from memfence.frontends.parsing.syntax import Name
from memfence.records import dataclass
from memfence.source import Span

ValueType = Literal["byte", "int"]
PrefixOperator = Literal["-", "~", "not"]
InfixOperator = Literal[
    "imply", "or", "and", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "<<", ">>", "+", "-", "*", "/", "%"
]


@dataclass(frozen=True, slots=True)
class Number:
    value: int
    span: Span


@dataclass(frozen=True, slots=True)
class Variable:
    """`x`, `a[index]`, and with an `owner` the local variable of a process: `owner->x`."""

    name: Name
    index: Expression | None
    owner: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class InState:
    """`process.state`: 1 where the process is in that state."""

    process: Name
    state: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Prefix:
    operator: PrefixOperator
    operand: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Infix:
    operator: InfixOperator
    left: Expression
    right: Expression
    span: Span


Expression = Number | Variable | InState | Prefix | Infix


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable; `size` is given for arrays only, and `initial` may have more or fewer values than elements."""

    name: Name
    type: ValueType
    size: int | None
    initial: tuple[Expression, ...]
    constant: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Channel:
    """`types` is None for an untyped channel; capacity 0 means rendezvous."""

    name: Name
    types: tuple[ValueType, ...] | None
    capacity: int


@dataclass(frozen=True, slots=True)
class Synchronisation:
    """`channel!values` or `channel?variables`. `atomic`: what is received goes to memory at once."""

    channel: Name
    sends: bool
    values: tuple[Expression, ...]
    atomic: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Assignment:
    """`target = value`; an `atomic` one goes to memory at once, when no store of its process is pending."""

    target: Variable
    value: Expression
    atomic: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Step:
    """One transition; without a `source` it starts where the one before it starts."""

    source: Name | None
    target: Name
    guard: Expression | None
    sync: Synchronisation | None
    effects: tuple[Assignment, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Assertion:
    state: Name
    condition: Expression


@dataclass(frozen=True, slots=True)
class ProcessText:
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


@dataclass(frozen=True, slots=True)
class Model:
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
