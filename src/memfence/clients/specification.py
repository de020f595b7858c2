"""What is said of an object: how it is declared, which operations it has, and who may call them."""

from __future__ import annotations

from memfence.records import Record
from memfence.source import SourceText, Span


class Parameter(Record):
    """An argument of an operation, and the values that are tried. `is_unique`: each call has its own: 1, 2, 3, ..."""

    kind: str
    name: str
    values: tuple[int, ...]
    is_unique: bool = False


class Operation(Record):
    """`role` is who calls it. `code` is an expression if it `returns` something, else statements.

    `fails_as`: it may fail at any time, without any effect, and returns this value then.
    """

    role: str
    name: str
    parameters: tuple[Parameter, ...]
    code: str
    returns: bool
    span: Span
    fails_as: int | None = None


class Share(Record):
    """So many threads of a role at most, with so many calls each; the role "" stands for all roles together."""

    role: str
    threads: int
    calls: int


class Specification(Record, kw_only=True):
    """An object. `source` is where it is described, `language` is `c` or `c++`.

    `includes`: files that declare it, in quotes or angle brackets. `declaration`: the object itself, one per client;
    `per_thread`: what each thread declares for itself. `before` and `after`: statements around all threads. `observed`:
    an expression about the object when all threads have ended. `at_most`: threads of a role; roles that are not named
    have any number. `shapes`: clients to try, each up to its shares. `sequential`: a file with the same names, whose
    code says what calls give one after the other; "": the object itself says it.
    """

    name: str
    source: SourceText
    language: str
    includes: tuple[str, ...]
    declaration: str
    operations: tuple[Operation, ...]
    per_thread: str = ""
    before: str = ""
    after: str = ""
    observed: str = ""
    at_most: tuple[tuple[str, int], ...] = ()
    shapes: tuple[tuple[Share, ...], ...] = ()
    sequential: str = ""

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(operation.role for operation in self.operations))


class Call(Record):
    """An operation with its arguments, by the place of the operation in the specification."""

    operation: int
    arguments: tuple[int, ...]


class Client(Record):
    """What each thread calls, one call after the other."""

    threads: tuple[tuple[Call, ...], ...]

    @property
    def calls(self) -> int:
        return sum(len(thread) for thread in self.threads)


def call_text(specification: Specification, call: Call) -> str:
    """`push(1)`."""
    operation = specification.operations[call.operation]
    return f"{operation.name}({', '.join(map(str, call.arguments))})"


def client_text(specification: Specification, client: Client) -> str:
    """`push(1); push(2) || pop()`."""
    threads = ("; ".join(call_text(specification, call) for call in thread) for thread in client.threads)
    return " || ".join(threads)
