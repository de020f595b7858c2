"""Putting a process together: what may be shared between its steps, and what may not."""

from __future__ import annotations

from memfence.program import ir
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import FALSE


def test_equal_ops_become_one_object() -> None:
    builder = ProcessBuilder("p", "p")
    here, there = builder.location(), builder.location()
    builder.emit(here, there, ir.Assert(FALSE, "null pointer dereference: load"))
    builder.emit(here, there, ir.Assert(FALSE, "null pointer dereference: load"))
    first, second = builder.build(here).transitions
    assert first.ops[0] is second.ops[0]


def test_assertions_that_fail_for_different_reasons_keep_their_own() -> None:
    builder = ProcessBuilder("p", "p")
    here, there = builder.location(), builder.location()
    errors = ("read of uninitialised memory: x", "", "use of freed memory: y")
    for error in errors:
        builder.emit(here, there, ir.Assert(FALSE, error))
    assert tuple(t.ops[0].error for t in builder.build(here).transitions if isinstance(t.ops[0], ir.Assert)) == errors
