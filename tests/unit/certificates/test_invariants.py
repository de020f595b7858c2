"""Each condition on an invariant: a set that violates it is refused by name, with the state and step that show it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from memfence.certificates.checker.proved import VARIABLE
from memfence.certificates.checker.refusal import Checked, Condition, Refused
from memfence.certificates.checker.verify import verify
from memfence.certificates.format.columns import Columns
from memfence.certificates.format.container import NotACertificate, read_chunks
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import OBJECT, SECTION
from memfence.certificates.writer.certify import certify
from memfence.models.state import Commit, ProcessStep, State
from memfence.models.steps import starts
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from support.certificates import beginning, container, invariant_certificate, row_of
from support.models import spec
from support.proved import executable, needs_the_proved_checker
from twins.reference_search import reachable

FLAGS = "byte x, y; active proctype P() { x = 1; y = 1 } active proctype Q() { byte r; r = y; r = x }"
LITMUS = """X86 SB
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
"""
CHECKERS = pytest.mark.parametrize(
    "checker", ["python", "native", pytest.param("proved", marks=needs_the_proved_checker)]
)


def program_of(text: str, path: str = "t.pml") -> Program:
    return load_text(SourceText(path, text))


@pytest.fixture(autouse=True)
def find_the_proved_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, executable() or "")


def verified_by(content: bytes, program: Program, checker: str) -> Checked:
    return verify(io.BytesIO(content), program, fast=checker == "native", proved=checker == "proved")


def judge(program: Program, claim: Claim, states: Iterable[State], *, checker: str, capacity: int = 2) -> int:
    """The number of states, if they are an invariant."""
    columns = Columns(program, spec(claim.model).buffering, capacity if spec(claim.model).has_buffers else 0)
    rows = sorted(row_of(columns, state) for state in states)
    content = invariant_certificate(program, claim, columns, capacity if spec(claim.model).has_buffers else 0, rows)
    return verified_by(content, program, checker).states


def refusal(program: Program, claim: Claim, states: Iterable[State], *, checker: str, capacity: int = 2) -> Refused:
    with pytest.raises(Refused) as caught:
        judge(program, claim, states, checker=checker, capacity=capacity)
    return caught.value


@CHECKERS
@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_what_is_reachable_is_an_invariant(model: str, checker: str) -> None:
    program = program_of(FLAGS)
    states = reachable(program, spec(model).definition)
    assert judge(program, Claim(model=model, invariant=("true",)), states, checker=checker) == len(states)


@CHECKERS
@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_no_reachable_state_can_be_left_out(model: str, checker: str) -> None:
    program = program_of(FLAGS)
    states = reachable(program, spec(model).definition)
    for state in states:
        refused = refusal(program, Claim(model=model, invariant=("true",)), states - {state}, checker=checker)
        is_first = state in starts(program, spec(model).definition)
        assert refused.condition in ((Condition.INITIAL,) if is_first else (Condition.CLOSED,))
        assert state == (refused.state if is_first else refused.after)


@CHECKERS
def test_a_bad_state_is_shown(checker: str) -> None:
    program = program_of(FLAGS)
    states = reachable(program, spec("tso").definition)
    refused = refusal(program, Claim(model="tso", forbid=("Q.r == 1",)), states, checker=checker)
    assert refused.condition is Condition.BAD
    assert refused.state is not None and refused.state.registers[1][0] == 1


@CHECKERS
def test_a_failing_step_is_shown(checker: str) -> None:
    program = program_of("byte x; active proctype P() { x = 1; assert(x == 0) }")
    states = reachable(program, spec("tso").definition)
    refused = refusal(program, Claim(model="tso"), states, checker=checker)
    assert refused.condition is Condition.FAILURE
    assert refused.detail == "assertion violated"
    assert isinstance(refused.step, ProcessStep)


@CHECKERS
def test_a_deadlock_is_shown_and_a_place_to_end_is_none(checker: str) -> None:
    for label, is_refused in (("", True), ("end: ", False)):
        program = program_of(f"byte x; active proctype P() {{ {label}x == 1 }}")
        states = reachable(program, spec("tso").definition)
        claim = Claim(model="tso", deadlock=True)
        if is_refused:
            assert refusal(program, claim, states, checker=checker).condition is Condition.DEADLOCK
        else:
            assert judge(program, claim, states, checker=checker) == 1


@CHECKERS
def test_a_store_that_does_not_fit_leads_out(checker: str) -> None:
    program = program_of("byte x; active proctype P() { do :: x = 1 od }")
    bounded = reachable(program, spec("tso", 1).definition)
    assert judge(program, Claim(model="tso", bound=1, invariant=("true",)), bounded, checker=checker, capacity=1) > 1
    refused = refusal(program, Claim(model="tso", invariant=("true",)), bounded, checker=checker, capacity=1)
    assert refused.condition is Condition.CLOSED
    assert refused.after is not None and len(refused.after.buffers[0][0]) == 2


@CHECKERS
def test_an_invariant_of_sc_is_none_of_tso(checker: str) -> None:
    program = program_of(FLAGS)
    states = {state for state in reachable(program, spec("tso").definition) if state.is_plain}
    refused = refusal(program, Claim(model="tso", invariant=("true",)), states, checker=checker)
    assert refused.condition is Condition.CLOSED
    assert refused.step is not None and not isinstance(refused.step, Commit)


@CHECKERS
def test_outcomes_are_exactly_those_that_runs_show(tmp_path: Path, checker: str) -> None:
    program = program_of(LITMUS.replace("(0:EAX=0", "(0:EAX=7"), "t.litmus")  # an outcome that is impossible
    certify(program, Claim(model="tso"), tmp_path / "t.mfc", Limits())
    content = (tmp_path / "t.mfc").read_bytes()
    assert verified_by(content, program, checker).states > 10
    chunks = [(chunk.kind, chunk.content) for chunk in read_chunks(io.BytesIO(content))]
    runs = json.loads(next(content for kind, content in chunks if kind == OBJECT))["runs"]
    assert len(runs) == 4

    def verified(changed: object) -> None:
        new = json.dumps({"runs": changed}).encode()
        again = container([(kind, new if kind == OBJECT else content) for kind, content in chunks])
        verified_by(again, program, checker)

    for missing in range(4):
        with pytest.raises(Refused) as caught:
            verified(runs[:missing] + runs[missing + 1 :])
        assert caught.value.condition in (Condition.FINAL, Condition.WITNESS)
    with pytest.raises(Refused) as caught:
        verified([{"start": 0, "steps": runs[0]["steps"][:-1]}, *runs[1:]])
    assert caught.value.condition is Condition.WITNESS
    with pytest.raises(Refused):
        verified([{"start": 10**9, "steps": runs[0]["steps"]}, *runs[1:]])
    for wrong in (None, 3, [3], [{"start": 0}], [{"start": -1, "steps": []}], [{"start": 0, "steps": [["run", 0]]}]):
        with pytest.raises(NotACertificate):
            verified(wrong)


@CHECKERS
def test_a_final_state_that_refutes_the_condition_is_shown(tmp_path: Path, checker: str) -> None:
    """The same states and runs, but the outcome that is not wanted is among them."""
    other = program_of(LITMUS.replace("(0:EAX=0", "(0:EAX=7"), "t.litmus")
    certify(other, Claim(model="tso"), tmp_path / "t.mfc", Limits())
    chunks = [(chunk.kind, chunk.content) for chunk in read_chunks(io.BytesIO((tmp_path / "t.mfc").read_bytes()))]
    program = program_of(LITMUS, "t.litmus")
    with pytest.raises(Refused) as caught:
        verified_by(container([*beginning(program, Claim(model="tso")), *chunks[3:]]), program, checker)
    assert caught.value.condition is Condition.FINAL


@pytest.mark.parametrize("checker", ["python", "native"])
def test_a_local_step_that_fails_at_the_start_is_shown(checker: str) -> None:
    """The set is empty: the process only passes the place where it starts."""
    program = program_of("byte x; active proctype P() { byte r; assert(r == 1); x = 1 }")
    (process,) = program.processes
    details = {
        "kind": "invariant",
        "capacity": 0,
        "passing": [[process.initial]],
        "dead": [[[] for _ in process.locations]],
    }
    content = container([*beginning(program, Claim(model="sc")), (SECTION, json.dumps(details).encode())])
    with pytest.raises(Refused) as caught:
        verified_by(content, program, checker)
    assert caught.value.condition is Condition.FAILURE
