"""The engines that look at one process alone, and at PSO by way of TSO: what they say, and what they leave open."""

from __future__ import annotations

import pytest

from memfence.engines.one_process import OneProcessEngine
from memfence.engines.tso_underapproximation import TsoUnderapproximationEngine
from memfence.models.spec import PSO, TSO
from memfence.pipeline import load_text
from memfence.program.expressions import At
from memfence.questions.safety import goal_of
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import CounterexampleRun, Invariant, Route
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task

PARITY = """
forbidden ERROR *
data c = * : [0:60]
process registers $r = * : [0:60] $s = * : [0:60]
text
  L0: read: $r := c;
  $s := $r;
  L1: if $s > 1 then { $s := $s - 2; goto L1 };
  if $s = %d then goto L0 else {
    read: $s := c;
    if $s != $r then goto L0 else {
      L2: if $s > 1 then { $s := $s - 2; goto L2 };
      if $s = 1 then { ERROR: nop }
    };
    goto L0
  }
process registers $r = * : [0:60]
text
  L0: read: $r := c;
  write: c := $r + 1;
  goto L0
"""

STORE_BUFFERING = """
bit x, y;
active proctype P() { x = 1; y == 0 -> inside: skip }
active proctype Q() { y = 1; x == 0 -> inside: skip }
ltl never { [] !(P@inside && Q@inside) }
"""


def task(text: str, suffix: str, model=PSO) -> Task:
    program = load_text(SourceText(f"test.{suffix}", text))
    return Task(program, model, goal_of(program, program.properties))


@pytest.mark.parametrize(("excluded", "verdict"), [(1, Verdict.HOLDS), (0, Verdict.UNKNOWN)])
def test_one_process_knows_that_what_is_even_stays_so(excluded, verdict):
    asked, engine = task(PARITY % excluded, "rmm"), OneProcessEngine()
    assert engine.obstacle(asked) is None
    answer = engine.answer(asked)
    assert answer.verdict is verdict
    assert isinstance(answer.evidence, Invariant) == (verdict is Verdict.HOLDS)


def test_a_run_of_tso_is_one_of_pso():
    asked, engine = task(STORE_BUFFERING, "pml"), TsoUnderapproximationEngine()
    answer = engine.answer(asked)
    assert isinstance(answer.evidence, CounterexampleRun)
    assert (answer.verdict, answer.evidence.route) == (Verdict.VIOLATED, Route.TSO_UNDERAPPROXIMATION)
    assert answer.evidence.trace.model == "pso"


def test_what_only_pso_does_is_left_to_others():
    text = "bit x, y; active proctype P() { x = 1; y = 1 } active proctype Q() { y == 1; x == 0; bad: skip }"
    asked = task(f"{text} ltl never {{ [] !(Q@bad) }}", "pml")
    assert TsoUnderapproximationEngine().answer(asked).verdict is Verdict.UNKNOWN
    assert TsoUnderapproximationEngine().obstacle(task(text, "pml", TSO)) is Obstacle.STORES_KEEP_ORDER


def test_a_process_that_looks_at_another_one_is_not_searched_alone():
    watching = """
byte x;
process P { state a, there; init a; trans a -> there { effect x = 1; }; }
process Q { state a, bad; init a; trans a -> bad { guard P.there; }; }
system async;
"""
    program = load_text(SourceText("test.dve", watching))
    asked = Task(program, PSO, Safety(bad=At(1, frozenset({1})), failures=False))
    assert OneProcessEngine().obstacle(asked) is Obstacle.OTHER_COMMUNICATION
