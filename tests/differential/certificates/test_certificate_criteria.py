"""Certificates of criteria: accepted exactly where the definition, run by run, says that the criterion holds."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from differential.criteria.test_attacks_with_answers import READS_TWICE, STORES_AFTER_A_READ, texts
from memfence.api.certify import check_certified
from memfence.certificates.checker.criteria import (
    check_implied,
    check_persistent,
    check_race_free,
    check_state_robust,
    require_single_stores,
)
from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.robust import check_robust
from memfence.certificates.checker.triangular import Marked, check_triangular, first_marked, steps_of
from memfence.certificates.checker.verify import verify
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import SECTION
from memfence.certificates.writer.certify import certify
from memfence.engines.native.races import explore_races
from memfence.models.spec import ModelName
from memfence.models.state import Failure, State
from memfence.pipeline import load, load_text
from memfence.program.ir import Program
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from support.certificates import beginning, chunks_of, container
from support.generators.criteria_programs import PLAIN, RICH, criteria_programs
from support.generators.cyclic_programs import cyclic_program
from support.models import spec
from support.sampling import sampled
from twins import criteria as twin
from twins.reference_search import reachable

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SETTINGS = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
NOT_COVERED = (Condition.KIND,)


def refusal(check: Callable[[], None]) -> Condition | None:
    try:
        check()
    except Refused as refused:
        return refused.condition
    return None


def reached(program: Program, model: ModelName) -> Collection[State]:
    return reachable(program, spec(model).definition)


@SETTINGS
@given(program=criteria_programs(PLAIN, torn_steps=False) | criteria_programs(RICH, torn_steps=False))
def test_persistence_is_accepted_exactly_where_it_holds(program: Program) -> None:
    found = refusal(lambda: check_persistent(program, reached(program, "sc")))
    if found not in NOT_COVERED:
        assert (found is None) == twin.is_persistent(program)


@pytest.mark.slow
@MANY
@given(program=criteria_programs(RICH))
def test_what_is_accepted_as_persistent_is_so_whatever_the_program(program: Program) -> None:
    if refusal(lambda: check_persistent(program, reached(program, "sc"))) is None:
        assert twin.is_persistent(program)


@pytest.mark.parametrize("seed", [24, 50, 58, 66, 70, 128])
@pytest.mark.parametrize(("criterion", "model"), [("trf", "tso"), ("drf", "tso"), ("robust", "pso")])
def test_a_proof_of_a_right_answer_is_never_refused(seed: int, criterion: str, model: str) -> None:
    """Steps that read what they store themselves, or that wait for it, and steps with several stores."""
    proof = check_certified(cyclic_program(seed), None, verified=True, criterion=criterion, model=model)
    assert proof.verified is None or proof.verified.is_valid


def test_an_update_that_may_get_lost_is_not_persistent() -> None:
    """The step that stores has read already: it is its own attack."""
    program = load_text(SourceText("t.pml", "byte x; active [2] proctype P() { x = x + 1 }"))
    assert refusal(lambda: check_persistent(program, reached(program, "sc"))) is Condition.ATTACK
    assert not twin.is_persistent(program)


@SETTINGS
@given(program=criteria_programs(PLAIN) | criteria_programs(RICH))
def test_freedom_of_races_is_accepted_exactly_where_it_holds(program: Program) -> None:
    found = refusal(lambda: check_race_free(program, reached(program, "sc")))
    if found not in NOT_COVERED:
        assert (found is None) == twin.is_data_race_free(program)


@pytest.mark.parametrize("model", ["tso", "pso"])
@SETTINGS
@given(program=criteria_programs(PLAIN) | criteria_programs(RICH))
def test_state_robustness_is_accepted_exactly_where_it_holds(model: ModelName, program: Program) -> None:
    found = refusal(lambda: check_state_robust(program, spec(model).definition, reached(program, model)))
    if found not in (*NOT_COVERED, Condition.FAILURE):
        assert (found is None) == twin.is_state_robust(program, model)


@SETTINGS
@given(program=criteria_programs(PLAIN, torn_steps=False))
def test_what_sc_says_of_persistent_programs_is_true_of_tso(program: Program) -> None:
    """Every place at which all processes have ended, one by one, said to be out of reach."""
    under_sc, under_tso = reached(program, "sc"), reached(program, "tso")
    for state in list(under_tso)[::7]:
        bad = " && ".join(f"P{p}@#{at}" for p, at in enumerate(state.locations))
        question = question_of(Claim(model="tso", forbid=(bad,)), program)
        assert refusal(lambda question=question: check_implied(question, under_sc)) is not None


CERTIFIED = [
    ("criteria/persistent_not_robust.pml", Claim(model="tso", criterion="persistent")),
    ("spsc_ring.pml", Claim(model="tso", criterion="persistent")),
    ("ticket_lock.pml", Claim(model="tso", criterion="state-robust")),
    ("criteria/state_robust_only.pml", Claim(model="pso", criterion="state-robust")),
]


@pytest.mark.parametrize(("name", "claim"), CERTIFIED, ids=lambda value: getattr(value, "criterion", value))
def test_certificates_of_criteria_are_valid_and_no_state_of_them_can_be_left_out(
    name: str, claim: Claim, tmp_path: Path
) -> None:
    from differential.certificates.test_certificate_mutations import with_rows
    from memfence.certificates.format.columns import Columns

    program = load(EXAMPLES / name)
    certify(program, claim, tmp_path / "proof.mfc", Limits())
    content = (tmp_path / "proof.mfc").read_bytes()
    count = verify(io.BytesIO(content), program).states
    chunks = chunks_of(content)
    (details,) = (json.loads(content) for kind, content in chunks if kind == SECTION)
    buffering = spec(claim.model if claim.criterion == "state-robust" else "sc").buffering
    columns = Columns(program, buffering, details["capacity"])
    rows = [row for kind, content in chunks if kind == b"ROWS" for row in columns.rows(content)]
    assert len(rows) == count
    for at in range(0, count, 5):
        with pytest.raises(Refused):
            verify(io.BytesIO(container(with_rows(chunks, rows[:at] + rows[at + 1 :]))), program)


@pytest.mark.parametrize("model", ["tso", "pso"])
@sampled(
    quick=15,
    slow=400,
    program=criteria_programs(PLAIN) | criteria_programs(RICH) | criteria_programs(RICH, torn_steps=False),
)
def test_a_program_without_attacks_is_state_robust(model: ModelName, program: Program) -> None:
    check_states_without_attacks(model, program)


def check_states_without_attacks(model: ModelName, program: Program) -> None:
    """Theorem 20."""
    states = reached(program, "sc")
    is_robust = refusal(lambda: check_robust(program, spec(model).definition, states)) is None
    if is_robust or (model == "tso" and refusal(lambda: check_persistent(program, states)) is None):
        assert twin.is_state_robust(program, model)


@pytest.mark.parametrize("criterion", ["drf", "persistent", "state-robust", "robust", "trf"])
def test_a_proof_of_one_thing_is_none_of_another(criterion: str, tmp_path: Path) -> None:
    program = load(EXAMPLES / "spsc_ring.pml")
    certify(program, Claim(model="tso", criterion="persistent"), tmp_path / "proof.mfc", Limits())
    text = (tmp_path / "proof.mfc").read_bytes()
    chunks = chunks_of(text)
    header = json.loads(chunks[0][1])
    header["claim"]["criterion"] = criterion
    forged = container([(chunks[0][0], json.dumps(header).encode()), *chunks[1:]])
    if criterion in ("persistent", "state-robust"):  # the one implies the other
        assert verify(io.BytesIO(forged), program).states == 84
    else:
        with pytest.raises(Refused):
            verify(io.BytesIO(forged), program)


@pytest.mark.parametrize("model", ["tso", "pso"])
@SETTINGS
@given(program=criteria_programs(PLAIN, torn_steps=False) | criteria_programs(RICH, torn_steps=False))
def test_robustness_is_accepted_exactly_where_it_holds(model: ModelName, program: Program) -> None:
    check_robustness(model, program)


def check_robustness(model: ModelName, program: Program) -> None:
    found = refusal(lambda: check_robust(program, spec(model).definition, reached(program, "sc")))
    if found not in NOT_COVERED:
        assert (found is None) == twin.is_robust(program, model)


@pytest.mark.parametrize("model", ["tso", "pso"])
@sampled(quick=15, slow=400, text=texts())
def test_robustness_is_accepted_exactly_where_it_holds_if_others_answer(model: ModelName, text: str) -> None:
    """The attacker reads twice, and others act in between."""
    check_robustness(model, load_text(SourceText("drawn.pml", text)))


@pytest.mark.parametrize(("text", "model"), [(READS_TWICE, "tso"), (READS_TWICE, "pso"), (STORES_AFTER_A_READ, "pso")])
def test_an_attack_that_needs_an_answer_is_refused(text: str, model: ModelName) -> None:
    program = load_text(SourceText("t.pml", text))
    assert not twin.is_robust(program, model)
    found = refusal(lambda: check_robust(program, spec(model).definition, reached(program, "sc")))
    assert found is Condition.CYCLE


def test_a_step_that_fails_under_pso_only_has_read_what_it_reads() -> None:
    text = "byte x, y;\nactive proctype P() { y = 1; x = 1 }\nactive proctype Q() { x == 1; assert(y == 1) }\n"
    program = load_text(SourceText("t.pml", text))
    check_robust(program, spec("tso").definition, reached(program, "sc"))
    found = refusal(lambda: check_robust(program, spec("pso").definition, reached(program, "sc")))
    assert found is Condition.CYCLE


@pytest.mark.slow
@pytest.mark.parametrize("model", ["tso", "pso"])
@MANY
@given(program=criteria_programs(RICH) | criteria_programs(RICH, torn_steps=False))
def test_what_is_accepted_as_robust_is_so_whatever_the_program(model: ModelName, program: Program) -> None:
    if refusal(lambda: check_robust(program, spec(model).definition, reached(program, "sc"))) is None:
        assert twin.is_robust(program, model)


def marked(program: Program) -> set[Marked]:
    """Every reachable pair of a state and marks, failing steps left out."""
    pairs = list(first_marked(program))
    seen = set(pairs)
    for pair in pairs:  # grows while it is gone through
        new = [after for _, after in steps_of(program, pair) if not isinstance(after, Failure) and after not in seen]
        seen.update(new)
        pairs += new
    return seen


FAILING = "byte x, y;\nactive proctype P() {{ byte a; {} }}\nactive proctype Q() {{ byte b; {} }}\n"


@pytest.mark.parametrize(
    ("criterion", "bodies"),
    [
        ("drf", ("x = 1; assert(false)", "y = 1")),
        ("trf", ("x = 1; assert(x == 2)", "y = 1")),
        ("persistent", ("x = 1; assert(x == 2)", "b = x; assert(b == 2)")),
        ("robust", ("x = 1; assert(x == 2)", "b = x; assert(b == 2)")),
    ],
)
def test_programs_with_failing_steps_have_certificates(criterion: str, bodies: tuple[str, str], tmp_path: Path) -> None:
    program = load_text(SourceText("t.pml", FAILING.format(*bodies)))
    proof = check_certified(program, tmp_path / "proof.mfc", verified=True, criterion=criterion)
    assert proof.written is not None and proof.verified is not None and proof.verified.is_valid
    with (tmp_path / "proof.mfc").open("rb") as file:
        assert verify(file, program).states > 0


@st.composite
def failing_texts(draw: st.DrawFn) -> str:
    """Programs in which some loads are assertions, which fail or not."""

    def asserted(load: re.Match[str]) -> str:
        if draw(st.booleans()):
            return load[0]
        return f"assert({load[2]} {draw(st.sampled_from(['==', '!=']))} {draw(st.integers(0, 1))})"

    return re.sub(r"(r\d+) = ([xyz])\b", asserted, draw(texts()))


def check_failing(program: Program) -> None:
    """Every criterion that covers steps that fail, against its definition."""
    states = reached(program, "sc")
    assert (refusal(lambda: check_persistent(program, states)) is None) == twin.is_persistent(program)
    assert (refusal(lambda: check_race_free(program, states)) is None) == twin.is_data_race_free(program)
    found = refusal(lambda: check_triangular(program, marked(program)))
    assert (found is None) == twin.is_triangular_race_free(program)
    check_robustness("tso", program)
    check_robustness("pso", program)


@sampled(quick=15, slow=400, text=failing_texts())
def test_programs_with_failing_steps_are_judged_as_defined(text: str) -> None:
    check_failing(load_text(SourceText("drawn.pml", text)))


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_a_step_that_fails_has_made_its_reads(model: ModelName) -> None:
    program = load_text(SourceText("t.pml", FAILING.format("x = 1; assert(y == 2)", "y = 1; assert(x == 2)")))
    assert not twin.is_robust(program, model)
    found = refusal(lambda: check_robust(program, spec(model).definition, reached(program, "sc")))
    assert found is Condition.CYCLE
    assert refusal(lambda: check_persistent(program, reached(program, "sc"))) is Condition.ATTACK
    assert refusal(lambda: check_race_free(program, reached(program, "sc"))) is Condition.RACE
    assert refusal(lambda: check_triangular(program, marked(program))) is Condition.RACE


@SETTINGS
@given(program=criteria_programs(PLAIN, torn_steps=False) | criteria_programs(RICH, torn_steps=False))
def test_freedom_of_triangular_races_is_accepted_exactly_where_the_engine_finds_none(program: Program) -> None:
    if refusal(lambda: require_single_stores(program)) is not None:
        return
    found = refusal(lambda: check_triangular(program, marked(program)))
    if found not in NOT_COVERED:
        race = explore_races(program, triangular=True, limits=Limits()).race
        assert (found is None) == (race is None)


@pytest.mark.parametrize(
    "name", ["criteria/robust_not_persistent.pml", "families/intent_flags.pml", "sober/fig1b_fenced.pml"]
)
def test_robustness_under_pso_has_a_certificate_where_there_are_races(name: str, tmp_path: Path) -> None:
    program, path = load(EXAMPLES / name), tmp_path / "proof.mfc"
    assert explore_races(program, triangular=False, limits=Limits()).race is not None
    certify(program, Claim(model="pso", criterion="robust"), path, Limits())
    for fast in (True, False):
        with path.open("rb") as file:
            assert verify(file, program, fast=fast).states > 0


@pytest.mark.parametrize("criterion", ["persistent", "robust", "state-robust"])
def test_nothing_is_to_be_shown_under_sc_and_that_shows_nothing_under_tso(criterion: str) -> None:
    program = load_text(SourceText("t.pml", "byte x;\nactive [2] proctype P() { x = x + 1 }\n"))
    empty = (SECTION, json.dumps({"kind": "sc-itself"}).encode())

    def judged(model: str) -> Condition | None:
        content = container([*beginning(program, Claim(model=model, criterion=criterion)), empty])
        return refusal(lambda: verify(io.BytesIO(content), program) and None)

    assert judged("sc") is None
    assert judged("tso") is judged("pso") is Condition.KIND


@pytest.mark.parametrize(("criterion", "model"), [("trf", "tso"), ("robust", "tso"), ("robust", "pso")])
def test_programs_without_races_carry_certificates_of_what_that_implies(
    criterion: str, model: str, tmp_path: Path
) -> None:
    text = "byte x, y;\nactive proctype P() { x = 1 }\nactive proctype Q() { y = 1; y = 2 }\n"
    program = load_text(SourceText("t.pml", text))
    path = tmp_path / "proof.mfc"
    certify(program, Claim(model=model, criterion=criterion), path, Limits())
    with path.open("rb") as file:
        assert verify(file, program).states > 0
