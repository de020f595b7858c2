"""Sets of configurations, made as by a search that lacks one rule of `before`: the claims are wrong, and refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memfence.api.check import check
from memfence.certificates.checker.dual import DualRules, check_dual, prepared
from memfence.certificates.checker.dual_order import is_above
from memfence.certificates.checker.native_dual import check_dual_fast
from memfence.certificates.checker.question import Question, question_of
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.dual import Configuration, Configurations, Message
from memfence.certificates.format.header import Claim
from memfence.models.tso import Tso
from memfence.pipeline import load_text
from memfence.program.expressions import Const
from memfence.program.ir import Assert, Fence, Program, Store
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from twins.reference_search import explore


def question_about(text: str, forbidden: str) -> Question:
    """Whether that is never so; the answer is no."""
    program = load_text(SourceText("t.pml", f'#include "memfence.h"\n{text}'))
    assert check(program, forbid=forbidden, model="tso").answer.verdict is Verdict.VIOLATED
    return prepared(question_of(Claim(model="tso", forbid=(forbidden,)), program))


def check_open(question: Question, configurations: set[Configuration]) -> None:
    """Nothing is wrong with the set but that something leads into it."""
    rules = DualRules(question)
    assert not any(map(rules.is_initial, configurations))
    for judge in (check_dual, check_dual_fast):
        with pytest.raises(Refused) as refused:
            judge(question, Configurations(tuple(configurations)))
        assert refused.value.condition is Condition.CLOSED


def test_a_set_that_knows_of_no_deleted_own_message_is_refused() -> None:
    """Its process stands behind its store, with nothing to read: the message of this store was deleted."""
    question = question_about("bit x; active proctype P() { x = 1; end: skip }", "P@end")
    check_open(question, set(DualRules(question).bad()))


def test_a_set_that_knows_of_no_older_own_store_is_refused() -> None:
    """P loads y before Q stores it, and x = 1 comes later still: so its message is there when x = 2 is stored."""
    text = """byte x; bit y;
active proctype P() { byte a; bit b; x = 1; a = x; x = 2; b = y; end: skip }
active proctype Q() { byte c; y = 1; mfence(); c = x; end: skip }
"""
    question = question_about(text, "P@end && Q@end && P.a == 1 && P.b == 0 && Q.c == 0")
    rules, older, newer = DualRules(question), Message(((0, 1),), True), Message(((0, 2),), True)

    def is_known(c: Configuration, d: Configuration) -> bool:
        """Not so where x = 2 was taken back and x = 1 was found."""
        return not (newer in c.fifos[0] and newer not in d.fifos[0] and older in d.fifos[0])

    found = set(rules.bad())
    waiting = list(found)
    while waiting:
        c = waiting.pop()
        fresh = {d for d in rules.before(c) if is_known(c, d)} - found
        found |= fresh
        waiting += fresh
    check_open(question, found)


@pytest.mark.parametrize("model", ["sc", "tso"])
@pytest.mark.parametrize("instances", ["", "[*]"])
def test_a_set_that_holds_an_initial_configuration_is_refused(instances: str, model: str) -> None:
    """It is closed, and holds whatever is bad: the whole backward search for something that is reached."""
    text = f"bit x; active {instances} proctype P() {{ x = 1; x = 0; end: skip }}"
    program = load_text(SourceText("t.pml", text))
    claim = Claim(model=model, forbid=("P_0@end" if instances else "P@end",), any_number=program.any_number)
    question = prepared(question_of(claim, program))
    rules = DualRules(question)
    waiting = list(rules.bad())
    found = set(waiting)
    while waiting:
        c = waiting.pop()
        for d in rules.before(c):
            if not any(is_above(d, known) for known in found):
                found.add(d)
                waiting.append(d)
    for judge in (check_dual, check_dual_fast):
        with pytest.raises(Refused) as refused:
            judge(question, Configurations(tuple(found)))
        assert refused.value.condition is Condition.INITIAL


def in_one_step(condition: int, when: int) -> Program:
    """A process that stores x = 1 if `when`, asserts the condition and then has a fence, all in one plain step."""
    program = load_text(SourceText("t.pml", '#include "memfence.h"\nbit x; active proctype P() { x = 1; mfence() }'))
    (process,) = program.processes
    (store,) = [t for t in process.transitions if isinstance(t.ops[0], Store)]
    ((fence,),) = [t.ops for t in process.transitions if isinstance(t.ops[0], Fence)]
    assert isinstance(store.ops[0], Store)
    ops = (replace(store.ops[0], when=Const(when)), Assert(Const(condition), ""), fence)
    changed = tuple(replace(t, ops=ops) if t is store else t for t in process.transitions)
    return replace(program, processes=(replace(process, transitions=changed),))


@pytest.mark.parametrize(
    ("condition", "when", "forbidden"),
    [(0, 1, "false"), (0, 0, "false"), (1, 0, "P@#{target}"), (1, 1, None)],
    ids=["fails before its fence", "fails without a store", "has not stored", "waits for itself"],
)
def test_a_step_with_a_fence_behind_its_store_does_what_tso_says(
    condition: int, when: int, forbidden: str | None
) -> None:
    """It waits for its own store for ever; but it may fail before, and the store may be left out."""
    program = in_one_step(condition, when)
    (step,) = [t for t in program.processes[0].transitions if len(t.ops) == 3]
    reached = explore(program, Tso())
    passed = any(state.locations[0] == step.target for state in reached.states)
    assert (bool(reached.failures), passed) == (condition == 0, condition == 1 and forbidden is not None)
    claim = Claim(model="tso", forbid=((forbidden or "P@#{target}").format(target=step.target),))
    question = prepared(question_of(claim, program))
    for judge in (check_dual, check_dual_fast):
        if forbidden is None:
            assert judge(question, Configurations()) == 0
        else:
            with pytest.raises(Refused) as refused:
                judge(question, Configurations())
            assert refused.value.condition is Condition.BAD
