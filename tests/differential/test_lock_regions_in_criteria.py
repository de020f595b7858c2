"""Lock regions that loading cannot make one step: the criteria make them one, or refuse them."""

from __future__ import annotations

import pytest

from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.passes.lock_regions import has_lock_regions
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.program.load_options import LoadOptions
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions
from twins import criteria as twin

# `a` delays y past its read of x. The region of `b` reads z first: were its steps apart, the read would not come after
# a's, and the write would not be possible where a's store is. On one path `b` never releases the lock.
ENDLESS = """
memory_size 4
thread a
initial q0
transition q0 q1 write 1 1
{fence}
transition q2 q3 read r 0
end
thread b
initial q0
transition q0 q1 lock
transition q1 q2 read s 2
transition q2 q3 write 1 0
transition q3 q4 write 1 3
transition q3 q4 unlock
transition q4 q5 read t 1
end
"""
LOOP = ENDLESS.replace("transition q3 q4 write 1 3", "transition q3 q1 noop")
PLAIN, FENCED = "transition q1 q2 noop", "transition q1 q2 mfence"


def program(text: str, fence: str) -> Program:
    loaded = load_text(SourceText("regions.txt", text.format(fence=fence)), LoadOptions(language="trencher"))
    assert has_lock_regions(loaded)
    return loaded


@pytest.mark.parametrize("fence, expected", [(PLAIN, Verdict.VIOLATED), (FENCED, Verdict.HOLDS)])
def test_a_region_is_one_step_although_a_path_of_it_keeps_the_lock(fence: str, expected: Verdict) -> None:
    loaded = program(ENDLESS, fence)
    assert twin.is_persistent(loaded) is (expected is Verdict.HOLDS)
    assert twin.is_robust(loaded, "tso") is (expected is Verdict.HOLDS)
    for criterion in ("persistent", "robust"):
        assert check(loaded, CheckOptions(criterion=criterion)).verdict is expected  # type: ignore[arg-type]


@pytest.mark.parametrize("criterion", ["persistent", "robust", "trf", "drf"])
def test_a_region_with_a_loop_is_refused_with_its_place(criterion: Criterion) -> None:
    with pytest.raises(InputError) as refused:
        check(program(LOOP, PLAIN), CheckOptions(criterion=criterion))
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code is Code.UNSUPPORTED
    assert "a lock region with a loop" in diagnostic.message
    assert "lock" in diagnostic.at.span.text


def test_a_region_with_a_loop_is_still_decided_by_its_states() -> None:
    result = check(program(LOOP, PLAIN), CheckOptions(criterion="state-robust"))
    assert result.verdict is Verdict.VIOLATED
