"""The condition of a litmus test as a property of final states, and the program with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.frontends.herd.condition import atoms_of
from memfence.frontends.herd.memory import Memory
from memfence.frontends.herd.syntax import Atom, Condition, Junction, Not, Observed, Proposition, Truth
from memfence.program.expressions import (
    FALSE,
    TRUE,
    Binary,
    BinaryOp,
    Const,
    Expr,
    RegisterOf,
    Shared,
    negate,
    variable_address,
)
from memfence.program.ir import Assign, Final, Load, Op, Process, Program, Rmw, Store
from memfence.program.load_options import LoadOptions
from memfence.records import Record
from memfence.source import SourceText

RegisterNames = Callable[[int], str]
_QUANTIFIER = {"exists": "exists", "not exists": "~exists", "forall": "forall"}


class LoweredThread(Record):
    """A thread as a process. `registers`: the number in it of each register that is used or observed."""

    process: Process
    registers: Mapping[int, int]


def observed_by(condition: Condition | None) -> list[Observed]:
    """What final states show: each register and location once, registers first, in herd's order."""
    if condition is None:
        return []
    every = (*condition.locations, *atoms_of(condition.proposition))
    distinct = {(o.thread, o.register, o.name if o.register is None else ""): o for o in reversed(every)}
    return sorted(distinct.values(), key=lambda o: (o.thread is None, o.thread or 0, o.register or 0, o.name))


def whole_test(
    name: str,
    memory: Memory,
    threads: Sequence[LoweredThread],
    stated: Final,
    source: SourceText,
    options: LoadOptions,
    observed: Sequence[Observed] = (),
) -> Program:
    """The program of a test; a note says what an `exists` means. A warning: an `observed` register never changes."""
    names_outcome = "an `exists` condition names an outcome: HOLDS says that it is impossible"
    notes = (names_outcome,) if stated.quantifier == "exists" else ()
    processes = tuple(thread.process for thread in threads)
    warnings = tuple(warning for what in observed for warning in _unwritten(what, threads))
    return Program(name, tuple(memory.variables), processes, (stated,), source, options, notes, warnings=warnings)


def _unwritten(what: Observed, threads: Sequence[LoweredThread]) -> Iterator[Diagnostic]:
    """Most often a slip: the condition is about a register that holds 0 all the time."""
    if what.thread is None or what.register is None:
        return
    thread = threads[what.thread]
    number = thread.registers[what.register]
    ops = (op for step in thread.process.transitions for op in step.ops)
    if thread.process.registers[number].init == (0,) and all(number not in _changed(op) for op in ops):
        message = f"no instruction of P{what.thread} writes `{what.name}`: it is 0 at every end"
        yield Diagnostic(Code.NEVER_TRUE, message, Label(what.span), hint="check the register", severity="warning")


def _changed(op: Op) -> tuple[int | None, ...]:
    match op:
        case Load(register) | Rmw(register=register) | Assign(register):
            return (register,)
        case Store(status=status):
            return (status,)
    return ()


def final_property(
    condition: Condition, threads: Sequence[LoweredThread], memory: Memory, register_name: RegisterNames
) -> Final:
    """The property of final states that the condition states. Every register in it is one of its thread's."""

    def leaf(what: Observed) -> Expr:
        if what.thread is None or what.register is None:
            return Shared(variable_address(memory.known(what)))
        return RegisterOf(what.thread, threads[what.thread].registers[what.register])

    shown = tuple((display_name(what, register_name), leaf(what)) for what in observed_by(condition))
    text = f"{_QUANTIFIER[condition.quantifier]} ({show(condition.proposition, register_name)})"
    holds = _translate(condition.proposition, dict(shown), register_name)
    return Final(condition.quantifier, holds, text, shown)


def _translate(proposition: Proposition, leaves: Mapping[str, Expr], register_name: RegisterNames) -> Expr:
    def translate(proposition: Proposition) -> Expr:
        match proposition:
            case Atom(what, equal, value):
                return Binary("==" if equal else "!=", leaves[display_name(what, register_name)], Const(value))
            case Truth(value):
                return TRUE if value else FALSE
            case Not(operand):
                return negate(translate(operand))
            case Junction("=>", (left, right)):
                return Binary("||", negate(translate(left)), translate(right))
            case Junction(op, operands):
                return _join("&&" if op == "/\\" else "||", [translate(operand) for operand in operands])
            case _:
                assert_never(proposition)

    return translate(proposition)


def _join(op: BinaryOp, operands: Sequence[Expr]) -> Expr:
    """All operands joined as a balanced tree: conditions with thousands of cases stay shallow."""
    if len(operands) == 1:
        return operands[0]
    middle = len(operands) // 2
    return Binary(op, _join(op, operands[:middle]), _join(op, operands[middle:]))


def display_name(what: Observed, register_name: RegisterNames) -> str:
    """How herd prints a register (`0:EAX`) or a location (`[x]`) in final states."""
    if what.register is None:
        return f"[{what.name}]"
    return f"{what.thread}:{register_name(what.register)}"


def show(proposition: Proposition, register_name: RegisterNames, binding: int = 0) -> str:
    """The proposition with as few parentheses as its precedence allows, as herd prints it."""
    match proposition:
        case Atom(what, equal, value):
            return f"{display_name(what, register_name)}{'=' if equal else '<>'}{value}"
        case Truth(value):
            return "true" if value else "false"
        case Not(operand):
            return f"not ({show(operand, register_name)})"
        case Junction(op, operands):
            level = {"\\/": 1, "/\\": 2, "=>": 3}[op]
            shown = f" {op} ".join(show(operand, register_name, level) for operand in operands)
            return f"({shown})" if level <= binding else shown
        case _:
            assert_never(proposition)
