"""The shared variables of a litmus test."""

from __future__ import annotations

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label, did_you_mean
from memfence.frontends.herd.syntax import InitialState, Observed
from memfence.program.ir import UNDECLARED, SharedVar
from memfence.source import Span


class Memory:
    """The shared variables: those of the initial state, then those that threads mention, as they appear.

    `is_complete`: false where a part of the test that could not be read may have mentioned others.
    """

    def __init__(self, initial: InitialState, errors: list[Diagnostic]) -> None:
        self.initial = initial
        self.errors = errors
        self.numbers: dict[str, int] = {}
        self.variables: list[SharedVar] = []
        self.is_complete = True
        for name in initial.locations:
            self.number(name, initial.places[name])

    def number(self, name: str, span: Span) -> int:
        if name not in self.numbers:
            self.numbers[name] = len(self.variables)
            self.variables.append(SharedVar(name, UNDECLARED, (self.initial.locations.get(name, 0),), span))
        return self.numbers[name]

    def known(self, what: Observed) -> int:
        """The number of a location of the condition, which must be one that the test uses."""
        if what.name in self.numbers:
            return self.numbers[what.name]
        if not self.is_complete:
            return 0
        hint = did_you_mean(what.name, list(self.numbers), f"initialise it with `{what.name}=0`")
        message = f"no instruction and no initial value mentions `{what.name}`"
        self.errors.append(Diagnostic(Code.UNKNOWN_VARIABLE, message, Label(what.span), hint=hint))
        return 0
