"""A lasso near the start is shown, however deep the search went before it found one."""

from __future__ import annotations

from memfence.execution.trace import Trace
from memfence.frontends import dve
from memfence.program.ir import Ltl
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.options import CheckOptions

COUNTS_THEN_IDLES = """
byte x;
process P { state counts, ends; init counts; trans
  counts -> counts { guard x < 200; effect x = x + 1; }, counts -> ends { guard x == 200; }, ends -> ends {}; }
process Q { state idle; init idle; trans %s }
system async;
"""
LONG_WAY_ROUND = """
byte x;
process P { state a, b, c; init a; trans
  a -> b { guard x == 0; effect x = 1; }, b -> c { effect x = 2; }, c -> a { effect x = 0; },
  b -> b { guard x == 1; }; }
system async;
"""


def lasso(text: str, formula: str) -> tuple[Trace, int]:
    result = check(dve.parse(SourceText("model.dve", text)), CheckOptions(model="sc", ltl=Ltl("ltl", formula)))
    assert result.trace is not None and result.loop_start is not None
    return result.trace, result.loop_start


def test_one_step_that_repeats_is_found_beside_two_hundred_others() -> None:
    trace, start = lasso(COUNTS_THEN_IDLES % "idle -> idle {};", "F x == 201")
    assert (len(trace.steps), start) == (1, 0)


def test_a_lasso_that_must_be_long_is_found_all_the_same() -> None:
    trace, start = lasso(COUNTS_THEN_IDLES % "idle -> idle { guard x == 255; };", "F x == 201")
    assert (len(trace.steps), start) == (202, 201)


def test_the_loop_is_tied_where_it_is_shortest() -> None:
    trace, start = lasso(LONG_WAY_ROUND, "!GF x == 1")
    assert (len(trace.steps), start) == (2, 1)
