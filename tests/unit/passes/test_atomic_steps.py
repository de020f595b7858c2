"""Atomic writes that wait for their own process are locked steps: the criteria about shared memory understand them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.passes.atomic_writes import AtomicWrite, with_atomic_writes, with_locked_steps
from memfence.passes.shared_memory_form import other_communication
from memfence.pipeline import load
from memfence.program.ir import Program, Store
from memfence.questions import check
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions
from support.generators.criteria_programs import RICH, criteria_programs
from support.models import memory_model
from twins.reference_search import reachable

STORE_BUFFERING = """
byte x = 0;
byte y = 0;
process P {
  byte a = 0;
  state q, r, s;
  init q;
  trans q -> r { effect %s; },
        r -> s { effect a = y; };
}
process Q {
  byte b = 0;
  state q, r, s;
  init q;
  trans q -> r { effect %s; },
        r -> s { effect b = x; };
}
system async;
"""
CRITERIA: tuple[Criterion, ...] = ("robust", "persistent", "trf", "drf")


def store_buffering(folder: Path, first: str, second: str) -> Program:
    path = folder / "sb.dve"
    path.write_text(STORE_BUFFERING % (first, second))
    return load(path)


@pytest.mark.parametrize("criterion", ["robust", "persistent", "trf"])
def test_atomic_writes_on_both_sides_stop_every_attack(tmp_path: Path, criterion: Criterion) -> None:
    both = store_buffering(tmp_path, "/*@atomic*/ x = 1", "/*@atomic*/ y = 1")
    one = store_buffering(tmp_path, "/*@atomic*/ x = 1", "y = 1")
    assert check(both, CheckOptions(criterion=criterion)).verdict is Verdict.HOLDS
    assert check(one, CheckOptions(criterion=criterion)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_step_with_atomic_and_plain_writes_is_refused_with_its_place(tmp_path: Path, criterion: Criterion) -> None:
    program = store_buffering(tmp_path, "/*@atomic*/ x = 1, y = 2", "y = 1")
    with pytest.raises(InputError) as refused:
        check(program, CheckOptions(criterion=criterion))
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code is Code.UNSUPPORTED
    assert "an atomic write beside others" in diagnostic.message
    assert "/*@atomic*/" in diagnostic.at.span.text


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(program=criteria_programs(RICH - {"assertions"}), random=st.randoms(use_true_random=False))
def test_locked_steps_mean_what_atomic_writes_mean(program: Program, random: Random) -> None:
    storing = [
        AtomicWrite(p, n)
        for p, process in enumerate(program.processes)
        for n, transition in enumerate(process.transitions)
        if not transition.locked and any(isinstance(op, Store) for op in transition.ops)
    ]
    atomic = with_atomic_writes(program, random.sample(storing, min(2, len(storing))))
    locked = with_locked_steps(atomic)
    assert other_communication(locked) is None
    for model in map(memory_model, ("tso", "pso")):
        assert reachable(locked, model) == reachable(atomic, model)
