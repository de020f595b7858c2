"""A whole litmus test as a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label, did_you_mean
from memfence.frontends.litmus import syntax
from memfence.frontends.litmus.condition import atoms_of, display_name, show
from memfence.frontends.litmus.reader import read
from memfence.frontends.litmus.threads import LoweredThread, Thread
from memfence.program import expressions
from memfence.program.ir import UNDECLARED, Final, Program, SharedVar
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.source import SourceText, Span

_QUANTIFIER = {"exists": "exists", "not exists": "~exists", "forall": "forall"}


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> Program:
    """The program of a litmus test; InputError with every mistake found."""
    errors: list[Diagnostic] = []
    test = read(source, errors)
    memory = _Memory(test.initial, errors)
    memory.declare(test.columns)
    memory.is_complete = not errors
    observed = _observed(test.condition) if test.condition is not None else []
    threads = []
    for number, (span, items) in enumerate(zip(test.threads, test.columns, strict=True)):
        asked = [o.register for o in observed if o.thread == number and o.register is not None]
        thread = Thread(number, span, items, test.architecture, test.initial, memory.number, errors)
        threads.append(thread.lower(asked))
    properties = []
    if test.condition is not None:
        properties.append(_property(test.condition, observed, threads, memory, test.architecture))
    if errors or test.condition is None:
        raise InputError(sorted(errors, key=lambda d: d.at.span.start))
    processes = tuple(thread.process for thread in threads)
    read_as = replace(options, language="litmus")
    named = any(stated.quantifier == "exists" for stated in properties)
    notes = ("an `exists` condition names an outcome: HOLDS says that it is impossible",) if named else ()
    return Program(test.name, tuple(memory.variables), processes, tuple(properties), source, read_as, notes)


class _Memory:
    """The shared variables: those of the initial state, then those that instructions mention, as they appear."""

    def __init__(self, initial: syntax.InitialState, errors: list[Diagnostic]) -> None:
        self.initial = initial
        self.errors = errors
        self.numbers: dict[str, int] = {}
        self.variables: list[SharedVar] = []
        self.is_complete = True

    def declare(self, columns: Sequence[Sequence[syntax.Item]]) -> None:
        for name in self.initial.locations:
            self.number(name, self.initial.places[name])
        for column in columns:
            for item in column:
                for operand in item.instruction.operands if item.instruction is not None else ():
                    if isinstance(operand, syntax.Location):
                        self.number(operand.name, operand.span)

    def number(self, name: str, span: Span) -> int:
        if name not in self.numbers:
            self.numbers[name] = len(self.variables)
            self.variables.append(SharedVar(name, UNDECLARED, (self.initial.locations.get(name, 0),), span))
        return self.numbers[name]

    def known(self, what: syntax.Observed) -> int:
        """The number of a location of the condition, which must be one that the test uses."""
        if what.name in self.numbers:
            return self.numbers[what.name]
        if not self.is_complete:  # an instruction that could not be read may have mentioned it
            return 0
        hint = did_you_mean(what.name, list(self.numbers), f"initialise it with `{what.name}=0`")
        message = f"no instruction and no initial value mentions `{what.name}`"
        self.errors.append(Diagnostic(Code.UNKNOWN_VARIABLE, message, Label(what.span), hint=hint))
        return 0


def _observed(condition: syntax.Condition) -> list[syntax.Observed]:
    """What final states show: each register and location once, registers first, in herd's order."""
    every = (*condition.locations, *atoms_of(condition.proposition))
    distinct = {(o.thread, o.register, o.name if o.register is None else ""): o for o in reversed(every)}
    return sorted(distinct.values(), key=lambda o: (o.thread is None, o.thread or 0, o.register or 0, o.name))


def _property(
    condition: syntax.Condition,
    observed: Sequence[syntax.Observed],
    threads: Sequence[LoweredThread],
    memory: _Memory,
    architecture: str,
) -> Final:
    def leaf(what: syntax.Observed) -> expressions.Expr:
        if what.thread is None or what.register is None:
            return expressions.Shared(expressions.variable_address(memory.known(what)))
        return expressions.RegisterOf(what.thread, threads[what.thread].registers[what.register])

    shown = tuple((display_name(what, architecture), leaf(what)) for what in observed)
    leaves = dict(shown)

    def translate(proposition: syntax.Proposition) -> expressions.Expr:
        match proposition:
            case syntax.Atom(what, equal, value):
                return expressions.Binary(
                    "==" if equal else "!=", leaves[display_name(what, architecture)], expressions.Const(value)
                )
            case syntax.Truth(value):
                return expressions.TRUE if value else expressions.FALSE
            case syntax.Not(operand):
                return expressions.negate(translate(operand))
            case syntax.Junction("=>", (left, right)):
                return expressions.Binary("||", expressions.negate(translate(left)), translate(right))
            case syntax.Junction(op, operands):
                return _join("&&" if op == "/\\" else "||", [translate(operand) for operand in operands])
            case _:
                assert_never(proposition)

    text = f"{_QUANTIFIER[condition.quantifier]} ({show(condition.proposition, architecture)})"
    return Final(condition.quantifier, translate(condition.proposition), text, shown)


def _join(op: expressions.BinaryOp, operands: Sequence[expressions.Expr]) -> expressions.Expr:
    """All operands joined as a balanced tree: conditions with thousands of cases stay shallow."""
    if len(operands) == 1:
        return operands[0]
    middle = len(operands) // 2
    return expressions.Binary(op, _join(op, operands[:middle]), _join(op, operands[middle:]))
