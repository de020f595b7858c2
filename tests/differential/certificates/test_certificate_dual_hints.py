"""Backward searches say which configurations stand for what leads to each: that saves looking, and proves nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from memfence.certificates.checker.dual import DualRules, check_dual, prepared
from memfence.certificates.checker.dual_order import is_above
from memfence.certificates.checker.native_dual import DualSearch, check_dual_fast
from memfence.certificates.checker.question import Question, question_of
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.dual import Configurations, read_configurations, section_objects
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import OBJECT, SECTION
from memfence.certificates.writer import dual as writer
from memfence.pipeline import load_text
from memfence.program.ir import Forbidden, Program
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from support.certificates import beginning, container, judge
from support.generators.cyclic_programs import cyclic_program
from support.generators.parameterised_programs import bad_state, parameterised_program

SHORT = "bit x; active proctype P() { x = 1; x = 1 } active proctype Q() { bit b; b = x; b = x }"
CLAIM = Claim(model="tso", forbid=("P@#2 && Q.b == 1",))


def drawn(seed: int) -> tuple[Program, Claim]:
    if seed % 2:
        program = parameterised_program(seed)
        bad = Forbidden(bad_state(program, Random(seed)), "drawn")
        return replace(program, properties=(bad,)), Claim(model="tso", any_number=program.any_number)
    random, program = Random(seed), cyclic_program(seed, ordered=seed % 3 == 0)
    places = [random.randrange(len(process.locations)) for process in program.processes]
    return program, Claim(model="tso", forbid=(" && ".join(f"P{p}@#{at}" for p, at in enumerate(places)),))


def searched(question: Question) -> Configurations | None:
    """What the search finds, with its hints; None where something bad can be reached."""
    search = DualSearch(question)
    return None if search.run(lambda _: False) else search.found()


def verdict(question: Question, found: Configurations) -> Condition | None:
    """What both checkers say."""
    said = list[Condition | None]()
    for check in (check_dual, check_dual_fast):
        try:
            check(question, found)
            said.append(None)
        except Refused as refused:
            said.append(refused.condition)
    assert said[0] == said[1]
    return said[0]


def test_whoever_looks_at_the_hints_need_not_look_further() -> None:
    looked_at = 0
    for seed in range(40):
        question = prepared(question_of(*reversed(drawn(seed))))
        found = searched(question)
        if found is None:
            continue
        rules = DualRules(question)
        assert len(found.below) == len(found.all)
        for number, c in enumerate(found.all):
            likely = found.likely(number)
            for before in rules.before(c):
                looked_at += 1
                assert any(is_above(before, known) for known in likely)
    assert looked_at > 400


def test_hints_are_read_as_they_were_written() -> None:
    for seed in range(20):
        question = prepared(question_of(*reversed(drawn(seed))))
        found = searched(question)
        if found is not None:
            chunks = [json.dumps(part).encode() for part in section_objects(found, at_once=3)]
            assert read_configurations(question.program, chunks) == found


def test_hints_change_no_verdict() -> None:
    """Whatever they are, with a configuration less or not."""
    conditions = set[Condition | None]()
    for seed in range(120):
        random, question = Random(seed), prepared(question_of(*reversed(drawn(seed))))
        found = searched(question)
        if found is None or not found.all:
            continue
        everyone = range(len(found.all))
        wrong = tuple(tuple(random.choices(everyone, k=random.randrange(4))) for _ in everyone)
        assert verdict(question, replace(found, below=wrong)) is None
        left = tuple(c for c in found.all if random.random() < 0.9)
        places = range(len(left))
        hints = tuple(tuple(random.choices(places, k=random.randrange(4))) for _ in places)
        condition = verdict(question, Configurations(left))
        assert verdict(question, Configurations(left, hints)) is condition
        conditions.add(condition)
    assert conditions == {None, Condition.BAD, Condition.CLOSED}


def test_a_large_set_has_hints_and_a_small_one_none(monkeypatch: pytest.MonkeyPatch) -> None:
    program = load_text(SourceText("t.pml", SHORT))
    for most, hints in ((0, True), (1000, False)):
        monkeypatch.setattr(writer, "FEW", most)
        section, *parts = writer.dual_chunks(question_of(CLAIM, program), Limits())
        (part,) = parts
        assert {len(one) == 5 for one in json.loads(part[1])["configurations"]} == {hints}
        content = container([*beginning(program, CLAIM), section, part])
        assert judge(content, program).condition is judge(content, program, fast=True).condition is None


@pytest.mark.parametrize("hint", [[-1], [10_000], [2**70], [0, 0], [1, 0], ["0"], [None], [[0]], 0, "0", {}, None])
def test_hints_are_numbers_of_configurations_in_order(hint: Any) -> None:
    program = load_text(SourceText("t.pml", SHORT))
    section, (_, content) = writer.dual_chunks(question_of(CLAIM, program), Limits())
    part = json.loads(content)
    part["configurations"][0].append(hint)
    forged = container([*beginning(program, CLAIM), section, (OBJECT, json.dumps(part).encode())])
    for fast in (False, True):
        assert judge(forged, program, fast=fast).condition == "not a certificate"


def test_a_configuration_has_no_sixth_part() -> None:
    program = load_text(SourceText("t.pml", SHORT))
    section, (_, content) = writer.dual_chunks(question_of(CLAIM, program), Limits())
    part = json.loads(content)
    part["configurations"][0] += [[0], [0]]
    forged = container([*beginning(program, CLAIM), section, (OBJECT, json.dumps(part).encode())])
    assert section[0] == SECTION and judge(forged, program).condition == "not a certificate"
