"""A step with two stores whose halves another process may see, though the order of an SC run explains what it saw."""

from __future__ import annotations

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Const, variable_address
from memfence.program.ir import Domain, Load, Program, SharedVar, Store


def unseen_halves() -> Program:
    """`x = 1; {x = 0; x = 1}` beside one load: who reads the 0 in between may as well have read it at the start."""
    domain, x = Domain(0, 1), variable_address(0)
    writer, reader = ProcessBuilder("P", "P"), ProcessBuilder("Q", "Q")
    reader.register("r", domain)
    for builder in (writer, reader):
        for _ in range(3):
            builder.location()
    writer.emit(0, 1, Store(x, Const(1)))
    writer.emit(1, 2, Store(x, Const(0)), Store(x, Const(1)))
    reader.emit(0, 1, Load(0, x))
    return Program("torn", (SharedVar("x", domain),), (writer.build(0), reader.build(0)))
