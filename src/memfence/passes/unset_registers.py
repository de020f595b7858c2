"""First values of registers that are written before they are read: they matter only to a property that looks at them.

Enumerating them all the time would multiply the initial states for nothing, so a program is loaded with one value each
(`RegisterVar.unset`), and gets the others once the question is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.program.expressions import Expr, RegisterOf, walk
from memfence.program.ir import Program, RegisterVar

MOST_FIRST_VALUES = 4096


def with_first_values(program: Program, exprs: Iterable[Expr]) -> Program:
    """`program` with every first value of the registers that `exprs` look at; InputError where there are too many."""
    seen = {(node.process, node.register) for e in exprs for node in walk(e) if isinstance(node, RegisterOf)}
    seen = {(p, r) for p, r in seen if program.processes[p].registers[r].unset is not None}
    if not seen:
        return program
    processes = list(program.processes)
    for p, r in sorted(seen):
        registers = list(processes[p].registers)
        registers[r] = with_every_value(registers[r])
        processes[p] = replace(processes[p], registers=tuple(registers))
    return replace(program, processes=tuple(processes))


def with_every_value(register: RegisterVar) -> RegisterVar:
    """`register` with an initial state for each value that it may start with."""
    domain = register.domain if register.unset is None else register.unset
    if domain.overflow == "undeclared":
        what = f"`{register.name}` may be read before it is written: `*` leaves its value unlimited"
        raise InputError([_refused(Code.UNSUPPORTED, what, register, "declare a domain, as in `: [0:3]`")])
    if domain.size > MOST_FIRST_VALUES:
        what = f"`*` gives `{register.name}` {domain.size} initial values"
        raise InputError([_refused(Code.TOO_LARGE, what, register, f"at most {MOST_FIRST_VALUES} are possible")])
    # While loading, the domain shrank to the values that can be read.
    return replace(register, domain=domain, init=tuple(range(domain.lo, domain.hi + 1)), unset=None)


def _refused(code: Code, message: str, register: RegisterVar, hint: str) -> Diagnostic:
    return Diagnostic(code, message, Label(register.span), hint=hint)
