"""Runs that `fix` and `why` show: without what they do not need, and each stopped by its own fence alone."""

from __future__ import annotations

import pytest

import memfence
from memfence.models.spec import TSO
from memfence.models.steps import evaluate_in
from memfence.passes.orders import for_hardware
from memfence.synthesis.clauses import EditsByPlace, stopped_by
from memfence.synthesis.options import DEFAULT_COSTS
from memfence.synthesis.oracles import watched_processes
from memfence.synthesis.result import FixResult
from memfence.synthesis.sites import find_edits
from memfence.tasks.options import CheckOptions
from support.command_line import ROOT

BYSTANDERS = "".join(
    f"active proctype W{n}() {{{{ byte r; r = x; r = y; r = r + 1; r = r + 1 }}}}\n" for n in range(3)
)  # fmt: skip
TEXT = "byte x, y;\n" + BYSTANDERS + (
    "active proctype P() {{ byte r; x = 1; {fence} r = y; pdone: skip }}\n"
    "active proctype Q() {{ byte r; y = 1; {fence} r = x; qdone: skip }}\n"
)  # fmt: skip
BOTH = "P@pdone && Q@qdone && P.r == 0 && Q.r == 0"


@pytest.mark.parametrize("engine", ["auto", "explicit"])
def test_fix_shows_runs_without_bystanders(engine: str) -> None:
    found = memfence.fix(TEXT.format(fence=""), language="promela", forbid=BOTH, engine=engine)
    assert isinstance(found, FixResult) and found.chosen.count == 2
    for fence in found.chosen.fences:
        assert fence.run is not None
        used = {getattr(taken.step, "process", None) for taken in fence.run.steps}
        assert used <= {3, 4}
        assert len(fence.run.steps) <= 7
        (forbidden,) = memfence.check(TEXT.format(fence=""), language="promela", forbid=BOTH).properties
        assert evaluate_in(fence.run.program, fence.run.end, 0, forbidden.expr)  # type: ignore[union-attr]


def test_why_shows_runs_without_bystanders() -> None:
    (found,) = memfence.why(TEXT.format(fence="mfence();"), language="promela", forbid=BOTH)
    for reason in found.reasons:
        assert reason.need == "needed" and reason.result.trace is not None
        steps = [taken.step for taken in reason.result.trace.steps]
        assert {getattr(step, "process", None) for step in steps} <= {3, 4}
        assert len(steps) <= 7


@pytest.mark.parametrize("name", ["peterson", "dekker", "szymanski"])
def test_a_run_of_fix_is_possible_with_all_other_fences(name: str) -> None:
    """Shortening must not make a run that another of the chosen fences would stop, too."""
    found = memfence.fix(ROOT / "examples" / f"{name}.pml", model="tso")
    assert isinstance(found, FixResult)
    edits = find_edits(for_hardware(found.program, TSO), ("mfence",), DEFAULT_COSTS)
    chosen = {fence.point: edit for fence in found.chosen.fences for edit in edits if edit.point == fence.point}
    watched = watched_processes(found.program, CheckOptions())
    for fence in found.chosen.fences:
        assert fence.run is not None
        others = EditsByPlace(edit for point, edit in chosen.items() if point != fence.point)
        assert stopped_by(fence.run, EditsByPlace([chosen[fence.point]]), watched=watched)
        assert not stopped_by(fence.run, others, watched=watched)
