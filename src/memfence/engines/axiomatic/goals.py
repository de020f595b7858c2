"""What is asked of an execution, besides that the model allows it."""

from __future__ import annotations

from typing import assert_never

from memfence.axiomatic.execution import Execution
from memfence.axiomatic.waiting import waiting_for_ever
from memfence.engines.axiomatic.clauses import Clauses
from memfence.engines.axiomatic.core import Core
from memfence.engines.axiomatic.terms import Leaf, Terms
from memfence.engines.axiomatic.vectors import Vector, constant
from memfence.program.expressions import BufferEmpty, Expr, RegisterOf, Shared, evaluate
from memfence.records import Record


class Anything(Record):
    """Any execution at all."""


class Fails(Record):
    """Some check fails."""


class ReachesCut(Record):
    """Some thread reaches the bound of the unrolling."""


class Ends(Record):
    """Every thread ends, and then the condition is true of registers (`RegisterOf`) and memory (`Shared`)."""

    condition: Expr


class Raises(Record):
    """The model raises the flag with this name."""

    flag: str


class WaitsForEver(Record):
    """Every thread has ended or waits for ever, and one waits: `axiomatic.waiting`.

    `undecided`: also threads of which nobody knows whether they go on.
    """

    undecided: bool = False


Goal = Anything | Fails | ReachesCut | Ends | Raises | WaitsForEver


class FinalState:
    """Expressions about the state after all threads have ended."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.clauses: Clauses = core.clauses
        self.terms = Terms(core.clauses, self._leaf)

    @property
    def all_ended(self) -> int:
        return self.clauses.all_of(self.core.events.ended)

    def _leaf(self, node: Leaf) -> Vector:
        match node:
            case RegisterOf(process, register):
                return self.core.events.last_register(process, register)
            case Shared(address):
                return self.core.memory.last_value_at(address, self.terms.value)
            case BufferEmpty():
                return constant(1)
            case _:
                raise AssertionError(f"{node} in a condition on final states")


def is_reached(goal: Goal, execution: Execution) -> bool:
    """Whether the execution reaches the goal; a flag is the interpreter's matter."""
    match goal:
        case Anything() | Raises():
            return True
        case Fails():
            return bool(execution.failed)
        case ReachesCut():
            return bool(execution.cut)
        case Ends(condition):
            return execution.ended and value_at_end(condition, execution) != 0
        case WaitsForEver(undecided):
            return bool(waiting_for_ever(execution, undecided=undecided))
        case _:
            assert_never(goal)


def value_at_end(expr: Expr, execution: Execution) -> int:
    """The value of an expression about the state after all threads have ended."""

    def leaf(node: Leaf, index: int) -> int:
        match node:
            case RegisterOf(process, register):
                return execution.registers[process][register]
            case Shared(address):
                return execution.memory[address.base + index]
            case BufferEmpty():
                return 1
            case _:
                raise AssertionError(f"{node} in a condition on final states")

    return evaluate(expr, leaf)
