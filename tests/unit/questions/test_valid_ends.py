"""Valid ends: waiting for ever at an `end` label of Promela is no deadlock, if every process has an excuse."""

from __future__ import annotations

import pytest

from memfence.models.spec import ModelName
from memfence.passes.valid_ends import with_valid_ends
from memfence.pipeline import load_text
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.tasks.task import ALL_REDUCTIONS

SERVER = "byte x, y; active proctype S() { end: do :: x == 1 -> x = 0 od }"


@pytest.mark.parametrize("reduce", [(), ALL_REDUCTIONS], ids=["plain", "reduced"])
@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (f"{SERVER} active proctype P() {{ x = 1; x == 0; x = 1 }}", Verdict.HOLDS),
        (f"{SERVER} active proctype P() {{ x = 1; x == 0; y == 1 }}", Verdict.VIOLATED),
        (f"{SERVER} active proctype P() {{ x = 1; x == 0; end_here: y == 1 }}", Verdict.HOLDS),
        (f"{SERVER} active proctype P() {{ x = 1; x == 0; bend: y == 1 }}", Verdict.VIOLATED),
        (f"{SERVER.replace('end:', '')} active proctype P() {{ x = 1 }}", Verdict.VIOLATED),
        (f"{SERVER.replace('x = 0', 'x = 0; y == 1')} active proctype P() {{ x = 1 }}", Verdict.VIOLATED),
        ("byte x; active proctype P() { end: x == 1 }", Verdict.HOLDS),
        ("byte x; active [2] proctype P() { do :: atomic { x == 0 -> x = 1 }; end: x == 0 od }", Verdict.VIOLATED),
    ],
)
def test_deadlocks_are_states_where_some_process_has_no_excuse(
    text: str, verdict: Verdict, model: ModelName, reduce: tuple[str, ...]
) -> None:
    program = load_text(SourceText("model.pml", text))
    assert check(program, CheckOptions(model=model, deadlock=True, reduce=reduce)).verdict is verdict


def test_a_program_without_such_labels_stays_as_it_is() -> None:
    program = load_text(SourceText("model.pml", SERVER.replace("end", "loop") + "active proctype P() { x = 1 }"))
    assert with_valid_ends(program) is program
