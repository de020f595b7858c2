"""The sentence under a run and the cycle beside it blame the same store and the same load."""

from __future__ import annotations

import pytest

import memfence
from memfence.execution.happens_before import explained_cycle
from memfence.execution.overtaking import explain
from support.command_line import ROOT

EXAMPLES = ["peterson", "dekker", "lost_wakeup", "bakery", "szymanski", "lamport_fast", "seqlock", "message_passing"]


@pytest.mark.parametrize("model", ["tso", "pso"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_why_and_the_cycle_blame_the_same_pair(name: str, model: str) -> None:
    result = memfence.check(ROOT / "examples" / f"{name}.pml", model=model)
    if result.trace is None:
        assert result.verdict == "holds"
        return
    why, cycle = explain(result.trace), explained_cycle(result.trace)
    assert why is not None and cycle is not None
    later = why.pair.by if why.pair.issued is None else why.pair.issued
    assert (cycle.edges[0].source.step, cycle.edges[0].target.step) == (why.pair.store.position, later.position)
    assert all(one.target == other.source for one, other in zip(cycle.edges, cycle.edges[1:], strict=False))
    assert cycle.edges[-1].target == cycle.edges[0].source
