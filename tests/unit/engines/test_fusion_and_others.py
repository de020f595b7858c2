"""Fusing steps where other processes look at each other's locations."""

from __future__ import annotations

from memfence.engines.native.explicit import explore
from memfence.models.spec import SC
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import At, Binary, Const, Register, conjunction, negate, variable_address
from memfence.program.ir import Assume, Domain, Load, Program, SharedVar, Store
from memfence.tasks.task import ALL_REDUCTIONS, Safety


def test_a_step_that_another_process_waits_for_is_not_moved_to_the_read_before_it() -> None:
    """Between the read and the step to `2`, the other process still finds nobody there, and writes what was read."""
    values = Domain(0, 1)
    reader = ProcessBuilder("P", "P")
    reader.register("r", values)
    for _ in range(4):
        reader.location()
    reader.emit(0, 1, Load(0, variable_address(0)))
    reader.emit(1, 2)
    reader.emit(2, 3, Assume(Binary("==", Register(0), Const(0))))
    writer = ProcessBuilder("Q", "Q")
    writer.location(), writer.location()
    writer.emit(0, 1, Assume(negate(At(0, frozenset({2, 3})))), Store(variable_address(0), Const(1)))
    program = Program("t", (SharedVar("x", values),), (reader.build(0), writer.build(0)))
    bad = conjunction(At(0, frozenset({3})), At(1, frozenset({1})))
    for reductions in (frozenset[str](), frozenset({"fuse"}), frozenset(ALL_REDUCTIONS)):
        assert explore(program, SC, Safety(bad=bad), reductions=reductions).finding is not None
