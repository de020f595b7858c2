"""Narrower ranges: a program that fails where a value leaves them can do whatever the original does until then.

Theorem 16 of `docs/theory/certificates.md`: so if it never fails, the original has the same runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from memfence.certificates.format.container import NotACertificate
from memfence.program.crowd import instances_of
from memfence.program.ir import Domain, Program, RegisterVar, SharedVar

Variable = TypeVar("Variable", SharedVar, RegisterVar)


def narrowed(program: Program, ranges: Any) -> Program:
    """The program with these ranges, `{"variables": [[lo, hi], ...], "registers": [...]}`; None: as it is."""
    if ranges is None:
        return program
    match ranges:
        case {"variables": list(variables), "registers": list(registers)} if len(registers) == len(program.processes):
            processes = tuple(
                replace(process, registers=_all(process.registers, _list(given)))
                for process, given in zip(program.processes, registers, strict=True)
            )
            for template in program.any_number:
                if len({processes[n].registers for n in instances_of(program, template)}) > 1:
                    raise NotACertificate("instances that are alike have different ranges")
            return replace(program, variables=_all(program.variables, variables), processes=processes)
        case _:
            raise NotACertificate("ranges cannot be read")


def _all(variables: Sequence[Variable], ranges: list[Any]) -> tuple[Variable, ...]:
    if len(variables) != len(ranges):
        raise NotACertificate("there are more or fewer ranges than variables")
    return tuple(_one(variable, given) for variable, given in zip(variables, ranges, strict=True))


def _one(variable: Variable, given: Any) -> Variable:
    old = variable.domain
    match given:
        case [int(lo), int(hi)] if old.lo <= lo <= hi <= old.hi and all(lo <= value <= hi for value in variable.init):
            return variable if (lo, hi) == (old.lo, old.hi) else replace(variable, domain=Domain(lo, hi, "error"))
        case _:
            raise NotACertificate("a range is not one within the declared one")


def _list(found: Any) -> list[Any]:
    if not isinstance(found, list):
        raise NotACertificate("a list was expected")
    return found
