"""Strong fairness: who can move again and again does, though not always."""

from __future__ import annotations

import pytest

from memfence.pipeline import load_text
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions

# P takes the lock and gives it back for ever; Q can take it now and then.
LOCK = """
bit locked, done;
active proctype P() { do :: atomic { locked == 0 -> locked = 1 }; locked = 0 od }
active proctype Q() { atomic { locked == 0 -> done = 1 } }
ltl served { <> (done == 1) }
"""
# Q can never move once P has gone past: nothing is promised.
GONE = """
bit passed, done;
active proctype P() { passed = 1; do :: passed == 1 od }
active proctype Q() { passed == 0 -> done = 1 }
ltl served { <> (done == 1) }
"""


@pytest.mark.parametrize(
    ("text", "fair", "strongly_fair", "expected"),
    [
        (LOCK, False, False, Verdict.VIOLATED),
        (LOCK, True, False, Verdict.VIOLATED),
        (LOCK, False, True, Verdict.HOLDS),
        (GONE, True, False, Verdict.VIOLATED),
        (GONE, False, True, Verdict.VIOLATED),
    ],
)
@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_a_process_is_served_where_it_can_move_again_and_again(
    text: str, fair: bool, strongly_fair: bool, expected: Verdict, model: str
) -> None:
    program = load_text(SourceText("lock.pml", text))
    options = CheckOptions(model=model, fair=fair, strongly_fair=strongly_fair)
    assert check(program, options).verdict is expected
