"""Certificates of the backward search: made exactly where the engines say that a claim holds, and then accepted."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memfence.api.certify import check_certified
from memfence.api.check import check
from memfence.api.verify import verify
from memfence.certificates.checker.dual_order import is_above
from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.refusal import Condition
from memfence.certificates.format.container import read_chunks
from memfence.certificates.format.dual import FAILED, Configuration, Control
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import HEAD, OBJECT, SECTION
from memfence.certificates.writer.certify import certify
from memfence.certificates.writer.chunks import NoCertificate
from memfence.certificates.writer.dual import dual_chunks
from memfence.pipeline import load, load_text
from memfence.program.expressions import At, BufferEmpty, RegisterOf
from memfence.program.facts.effects import has_torn_steps
from memfence.program.ir import Assume, Domain, Forbidden, Lock, Program, Sync, Unlock
from memfence.program.load_options import COptions, LoadOptions
from memfence.report.describe.verify import verify_text
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import Closure, Fixpoint
from memfence.tasks.limits import Limits
from support.certificates import beginning, container, judge
from support.generators.cyclic_programs import cyclic_program
from support.generators.parameterised_programs import bad_state, parameterised_program

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FENCED = """#include "memfence.h"
byte x, y; active proctype P() { bit a; x = 1; mfence(); a = y; assert(a + x < 9) }
active proctype Q() { bit b; do :: y = 1; mfence(); b = x od }
"""


SHORT = "bit x; active proctype P() { x = 1; x = 1 } active proctype Q() { bit b; b = x; b = x }"


def certificate(program: Program, claim: Claim) -> bytes | None:
    """None: something bad can be reached."""
    try:
        chunks = list(dual_chunks(question_of(claim, program), Limits()))
    except NoCertificate as reason:
        assert "can be reached" in str(reason)
        return None
    return container([*beginning(program, claim), *chunks])


def check_seed(seed: int) -> None:
    random, program = Random(seed), cyclic_program(seed, ordered=seed % 3 == 0)
    places = [random.randrange(len(process.locations)) for process in program.processes]
    bad = " && ".join(f"P{p}@#{at}" for p, at in enumerate(places))
    verdict = check(program, forbid=bad, model="tso").answer.verdict
    content = certificate(program, Claim(model="tso", forbid=(bad,)))
    assert (content is not None) == (verdict is Verdict.HOLDS)
    if content is not None:
        assert judge(content, program).condition is None
        assert judge(content, program, fast=True).condition is None
        compare_judges(random, program, content)


def compare_judges(random: Random, program: Program, content: bytes, count: int = 6) -> None:
    """Both checkers find the same condition violated, or none, whatever was changed in the certificate."""
    chunks = [(chunk.kind, chunk.content) for chunk in read_chunks(io.BytesIO(content))]
    places = [n for n, (kind, _) in enumerate(chunks) if kind == OBJECT]
    for _ in range(count if places else 0):
        at = random.choice(places)
        part = json.loads(chunks[at][1])
        change(random, part)
        changed = container([*chunks[:at], (OBJECT, json.dumps(part).encode()), *chunks[at + 1 :]])
        assert judge(changed, program) == judge(changed, program, fast=True)


def change(random: Random, part: dict[str, Any]) -> None:
    """A configuration or a control less, a message less or twice, or memory of which more or less is said."""
    sets, configurations = part["sets"], part["configurations"]
    if not configurations:
        return
    one = random.choice(configurations)
    fifos = [fifo for fifo in one[2] if fifo]
    match random.randrange(6):
        case 0:
            configurations.remove(one)
        case 1 if fifos:
            fifo = random.choice(fifos)
            fifo.pop(random.randrange(len(fifo)))
        case 2 if fifos:
            fifo = random.choice(fifos)
            fifo.insert(random.randrange(len(fifo) + 1), random.choice(fifo))
        case 3 if one[1]:
            one[1][random.randrange(len(one[1]))] = random.choice([None, 0, 1, 7])
        case 4 if sets:
            some = random.choice(sets)
            some.pop(random.randrange(len(some))) if some else some.append([0, []])
        case _ if one[0]:
            one[0][random.randrange(len(one[0]))] = random.randrange(len(sets) + 1)
        case _:  # nothing is said about any process
            configurations.remove(one)


@pytest.mark.parametrize("seed", range(24))
def test_a_certificate_is_made_and_accepted_exactly_where_the_claim_holds(seed: int) -> None:
    check_seed(seed)


@pytest.mark.slow
def test_certificates_are_made_and_accepted_exactly_where_claims_hold() -> None:
    for seed in range(24, 600):
        check_seed(seed)


def check_parameterised(seed: int, model: str) -> None:
    program = parameterised_program(seed)
    bad = Forbidden(bad_state(program, Random(seed)), "drawn")
    program = replace(program, properties=(bad,))
    verdict = check(program, model=model).answer.verdict
    content = certificate(program, Claim(model=model, any_number=program.any_number))
    assert (content is not None) == (verdict is Verdict.HOLDS)
    if content is not None:
        assert judge(content, program).condition is None
        assert judge(content, program, fast=True).condition is None
        assert judge(content, replace(program, any_number=())).condition is Condition.PROGRAM
        compare_judges(Random(seed), program, content)


@pytest.mark.parametrize("model", ["sc", "tso"])
@pytest.mark.parametrize("seed", [*range(8), 29, 37, 61])
def test_certificates_for_any_number_of_threads_agree_with_the_engine(seed: int, model: str) -> None:
    check_parameterised(seed, model)


@pytest.mark.slow
def test_certificates_for_any_number_of_threads_agree_with_the_engine_on_many_programs() -> None:
    for seed in range(300):
        check_parameterised(seed, "sc" if seed % 2 else "tso")


def test_threads_stand_for_threads_one_by_one() -> None:
    """Compared with every way to choose: those of which one stands for several others may have to make room."""
    random, found = Random(1), [0, 0]
    for _ in range(3_000):
        sizes = random.randrange(5), random.randrange(6)
        one, other = ([frozenset(random.sample(range(4), random.randint(0, 3))) for _ in range(n)] for n in sizes)
        expected = any(all(map(frozenset.issuperset, one, chosen)) for chosen in permutations(other, len(one)))
        sets = [[frozenset(Control(at, ()) for at in places) for places in parts] for parts in (one, other)]
        known, above = (Configuration(tuple(all_), (), ((),) * len(all_), (0,) * len(all_)) for all_ in sets)
        assert is_above(above, known) == expected
        found[expected] += 1
    assert min(found) > 500


@pytest.mark.parametrize(("count", "condition"), [(25, Condition.CLOSED), (2_000, "not a certificate")])
def test_a_configuration_may_name_many_threads(count: int, condition: Condition | str) -> None:
    """Which of them stand for which is not a matter of trying all ways."""
    text = "bit x; active [*] proctype T() { do :: x = 1; x == 0 -> assert(false) od }"
    program, failed = load_text(SourceText("t.pml", text)), [[FAILED, []]]
    many = [[0] * count, [None], [[]] * count, [0] * count]
    part = {"sets": [failed], "configurations": [[[0], [None], [[]], [0]], many]}
    chunks = [(SECTION, b'{"kind": "dual"}'), (OBJECT, json.dumps(part).encode())]
    content = container([*beginning(program, Claim(model="tso", any_number=("T",))), *chunks])
    for fast in (False, True):
        assert judge(content, program, fast=fast).condition == condition


LARGE = {("ticket_lock", "tso"), ("seqlock", "tso")}
"""These have 15,041 and 74,666 configurations."""
NAMES = ("test_and_set", "test_and_test_and_set", "reader_writer_lock", "event_count", "ticket_lock", "seqlock")


def check_example(name: str, model: str, tmp_path: Path) -> None:
    source, path = EXAMPLES / "any_number" / f"{name}.pml", tmp_path / "proof.mfc"
    proof = check_certified(source, path, verified=True, model=model)
    assert proof.written is not None and proof.verified is not None and proof.verified.is_valid
    assert proof.verified.checked is not None and proof.verified.checked.checker == "native"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "model"), sorted(LARGE))
def test_large_examples_for_any_number_of_threads_carry_certificates(name: str, model: str, tmp_path: Path) -> None:
    check_example(name, model, tmp_path)


@pytest.mark.parametrize("model", ["sc", "tso"])
@pytest.mark.parametrize("name", NAMES)
def test_examples_for_any_number_of_threads_carry_certificates(name: str, model: str, tmp_path: Path) -> None:
    if (name, model) in LARGE:
        pytest.skip("slow: asked by the test of large ones")
    check_example(name, model, tmp_path)


@pytest.mark.parametrize(
    ("closure", "kind"), [(Closure.DUAL, "dual"), (Closure.AUTOMATA, "automata"), (None, "invariant")]
)
def test_a_proof_resembles_what_the_answer_rests_on(closure: Closure | None, kind: str, tmp_path: Path) -> None:
    program, claim = load_text(SourceText("t.pml", SHORT)), Claim(model="tso", forbid=("P@#2 && Q.b == 1",))
    evidence = None if closure is None else Fixpoint(closure)
    certify(program, claim, tmp_path / "p.mfc", Limits(), evidence=evidence)
    chunks = read_chunks(io.BytesIO((tmp_path / "p.mfc").read_bytes()))
    assert [json.loads(chunk.content)["kind"] for chunk in chunks if chunk.kind == SECTION] == [kind]


def test_few_configurations_are_no_more_than_said() -> None:
    """Where a small set is wanted, another kind of proof may be smaller than a large one."""
    program = load(EXAMPLES / "any_number" / "ticket_lock.pml")
    question = question_of(Claim(model="sc", any_number=program.any_number), program)
    with pytest.raises(NoCertificate, match="too many configurations"):
        list(dual_chunks(question, Limits(), few=True))
    assert len(list(dual_chunks(question, Limits()))) == 4, "the section, and 2,071 configurations"


def test_a_certificate_for_any_number_says_so(tmp_path: Path) -> None:
    source, path = EXAMPLES / "any_number" / "test_and_set.pml", tmp_path / "proof.mfc"
    check_certified(source, path, verified=False)
    assert "for any number of" in verify_text(verify(path, source)).splitlines()[0]


def test_an_invariant_of_a_few_threads_says_nothing_about_any_number(tmp_path: Path) -> None:
    """The lock fails with five threads; the program as it is read has three."""
    options = LoadOptions(c=COptions(macros=("UNLIMITED",)))
    program = load(EXAMPLES / "any_number" / "ticket_lock.pml", options)
    few = replace(program, any_number=())
    certify(few, Claim(model="tso", bound=1), tmp_path / "few.mfc", Limits())
    content = (tmp_path / "few.mfc").read_bytes()
    assert judge(content, few, fast=True).condition is None
    assert judge(content, program, fast=True).condition is Condition.PROGRAM
    chunks = [(chunk.kind, chunk.content) for chunk in read_chunks(io.BytesIO(content))]
    header = json.loads(chunks[0][1])
    header["claim"]["any_number"] = ["Thread"]
    forged = container([(HEAD, json.dumps(header).encode()), *chunks[1:]])
    assert judge(forged, program, fast=True).condition is Condition.KIND


def test_the_backward_search_is_not_about_pso() -> None:
    program = load_text(SourceText("t.pml", FENCED))
    content = certificate(program, Claim(model="tso", forbid=("P.a == 2",)))
    assert content is not None
    with pytest.raises(NoCertificate, match="does not know"):
        list(dual_chunks(question_of(Claim(model="pso", forbid=("P.a == 2",)), program), Limits()))


def test_a_proof_for_sc_is_none_for_tso() -> None:
    """Store buffering: under SC nobody sees two zeros."""
    program = load(EXAMPLES / "any_number" / "litmus" / "sb.pml")
    content = certificate(program, Claim(model="sc", any_number=program.any_number))
    assert content is not None
    chunks = [(chunk.kind, chunk.content) for chunk in read_chunks(io.BytesIO(content))]
    forged = container([*beginning(program, Claim(model="tso", any_number=program.any_number)), *chunks[3:]])
    assert judge(forged, program) == judge(forged, program, fast=True)
    assert judge(forged, program).condition is Condition.CLOSED


def test_under_sc_a_question_may_look_at_memory() -> None:
    program = load_text(SourceText("t.pml", FENCED))
    for bad, holds in [("x == 2", True), ("x == 1 && y == 1", False), ("x == 1 && y == 2", True)]:
        content = certificate(program, Claim(model="sc", forbid=(bad,)))
        assert (content is not None) == holds
        if content is not None:
            assert judge(content, program).condition is judge(content, program, fast=True).condition is None


RANGED = """byte n;
active [*] proctype Thread() { do :: atomic { n < 3 -> n = n + 1 }; assert(n < 9); atomic { n > 0 -> n = n - 1 } od }
"""


def ranged(program: Program, most: int) -> bytes:
    """The certificate, its counter said to stay below `most`."""
    claim = Claim(model="sc", any_number=program.any_number)
    section, *rest = dual_chunks(question_of(claim, program), Limits())
    details = json.loads(section[1])
    details["ranges"]["variables"] = [[0, most]]
    return container([*beginning(program, claim), (section[0], json.dumps(details).encode()), *rest])


def test_counters_may_have_narrower_ranges_if_they_stay_there() -> None:
    program = load_text(SourceText("t.pml", RANGED))
    for most, condition in [(5, None), (2, Condition.BAD), (300, "not a certificate"), (-1, "not a certificate")]:
        found = judge(ranged(program, most), program).condition
        assert found == judge(ranged(program, most), program, fast=True).condition == condition, most


@pytest.mark.parametrize(
    ("path", "value", "is_read"),
    [
        (("variables", 0), [0, 255], True),
        (("variables", 0), [1, 255], False),  # it starts with 0
        (("variables", 0), [0, 256], False),
        (("variables", 0), [9, 0], False),
        (("variables", 0), 7, False),
        (("variables",), 7, False),
        (("variables",), [], False),
        (("registers", 1, 0), [0, 4], False),  # instances are alike
        (("registers", 1), [], False),
        (("registers", 1), 7, False),
        (("registers",), [], False),
        (("registers",), 7, False),
    ],
)
def test_ranges_are_within_those_of_the_program(path: tuple[Any, ...], value: object, is_read: bool) -> None:
    program = load_text(
        SourceText("t.pml", "byte n; active [*] proctype Thread() { byte r; do :: r = n; n = r + 1 od }")
    )
    ranges: Any = {
        "variables": [[v.domain.lo, v.domain.hi] for v in program.variables],
        "registers": [[[r.domain.lo, r.domain.hi] for r in process.registers] for process in program.processes],
    }
    place = ranges
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    section = (SECTION, json.dumps({"kind": "dual", "ranges": ranges}).encode())
    content = container([*beginning(program, Claim(model="tso", any_number=program.any_number)), section])
    for fast in (False, True):
        assert judge(content, program, fast=fast).condition == (None if is_read else "not a certificate")


def test_what_the_question_sees_of_one_thread_all_threads_have() -> None:
    """A register without a first value may hold anything; the question looks at that of the second thread only."""
    text = "byte x; active [*] proctype Thread() { byte r; do :: x = 1 - x :: r = x od }"
    program = load_text(SourceText("t.pml", text))
    first = program.processes[0].registers[0]
    loose = replace(first, unset=Domain(0, 3), init=(0,))
    processes = tuple(replace(p, registers=(loose, *p.registers[1:])) for p in program.processes)
    program = replace(program, processes=processes)
    claim = Claim(model="tso", forbid=("Thread_1.r == 3",), any_number=program.any_number)
    assert certificate(program, claim) is None


@pytest.mark.parametrize("claim", [
    Claim(model="tso", forbid=("x == 2",)), Claim(model="tso", deadlock=True, forbid=("P.a == 2",)),
])  # fmt: skip
def test_what_looks_at_memory_or_at_deadlocks_is_refused(claim: Claim) -> None:
    program = load_text(SourceText("t.pml", FENCED))
    with pytest.raises(NoCertificate):
        list(dual_chunks(question_of(claim, program), Limits()))


def test_processes_that_do_not_share_memory_only_are_refused() -> None:
    """Steps that look at others or at buffers, or hold the bus; languages whose runs go on; questions about buffers."""
    program = load_text(SourceText("t.pml", SHORT))
    first, *others = program.processes

    def with_step(**changes: Any) -> Program:
        step = replace(first.transitions[0], **changes)
        return replace(program, processes=(replace(first, transitions=(step, *first.transitions[1:])), *others))

    ops, asks = first.transitions[0].ops, Forbidden(BufferEmpty(0), "drawn")
    wrong = [
        *(with_step(ops=(Assume(look), *ops)) for look in (At(1, frozenset({0})), RegisterOf(1, 0), BufferEmpty(0))),
        with_step(ops=(Lock(), *ops, Unlock())),
        with_step(sync=Sync("c", True)),
        replace(program, error_locations=(0, 0)),
        replace(program, properties=(asks,)),
    ]
    for changed in wrong:
        for model in ("sc", "tso"):
            content = container([*beginning(changed, Claim(model=model)), (SECTION, b'{"kind": "dual"}')])
            for fast in (False, True):
                assert judge(content, changed, fast=fast).condition is Condition.KIND


def test_a_step_with_several_stores_is_refused() -> None:
    program = load_text(SourceText("t.pml", SHORT))
    first, *others = program.processes
    twice = replace(first.transitions[0], ops=first.transitions[0].ops * 2)
    program = replace(program, processes=(replace(first, transitions=(twice, *first.transitions[1:])), *others))
    assert has_torn_steps(program)
    with pytest.raises(NoCertificate, match="does not know"):
        list(dual_chunks(question_of(Claim(model="tso", forbid=("P@#1",)), program), Limits()))


def test_without_a_configuration_something_leads_out() -> None:
    program = load_text(SourceText("t.pml", SHORT))
    claim = Claim(model="tso", forbid=("P@#2 && Q.b == 1",))
    chunks = list(dual_chunks(question_of(claim, program), Limits()))
    part = json.loads(chunks[1][1])
    listed = part["configurations"]
    assert len(chunks) == 2 and len(listed) > 1
    for n, _ in enumerate(listed):
        fewer = json.dumps(part | {"configurations": [*listed[:n], *listed[n + 1 :]]}).encode()
        content = container([*beginning(program, claim), chunks[0], (OBJECT, fewer)])
        assert judge(content, program).condition in (Condition.BAD, Condition.CLOSED)
        assert judge(content, program) == judge(content, program, fast=True)
