"""Narrower ranges: a program that fails where a value leaves them can do whatever the original does until then.

Theorem 16 of `docs/theory/certificates.md`: so if it never fails, the original has the same runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from memfence.certificates.format.container import NotACertificate
from memfence.program.ir import Domain, Program, RegisterVar, SharedVar
from memfence.program.parameterised import instances_of

Variable = TypeVar("Variable", SharedVar, RegisterVar)


def narrowed(program: Program, ranges: Any) -> Program:
    """The program with these ranges, `{"variables": [[lo, hi], ...], "registers": [...]}`; None: as it is."""
    match ranges:
        case None:
            return program
        case {"variables": variables, "registers": list(registers)} if len(registers) == len(program.processes):
            pairs = zip(program.processes, registers, strict=True)
            processes = tuple(replace(process, registers=_all(process.registers, given)) for process, given in pairs)
            alike = [{processes[n].registers for n in instances_of(program, t)} for t in program.any_number]
            if all(len(registers) == 1 for registers in alike):
                return replace(program, variables=_all(program.variables, variables), processes=processes)
    raise NotACertificate("ranges cannot be read, or differ where instances are alike")


def _all(variables: Sequence[Variable], ranges: Any) -> tuple[Variable, ...]:
    if not isinstance(ranges, list) or len(variables) != len(ranges):
        raise NotACertificate("there are more or fewer ranges than variables")
    return tuple(map(_one, variables, ranges))


def _one(variable: Variable, given: Any) -> Variable:
    old = variable.domain
    match given:
        case [int(lo), int(hi)] if old.lo <= lo <= hi <= old.hi and all(lo <= value <= hi for value in variable.init):
            return variable if (lo, hi) == (old.lo, old.hi) else replace(variable, domain=Domain(lo, hi, "error"))
    raise NotACertificate("a range is not one within the declared one")
