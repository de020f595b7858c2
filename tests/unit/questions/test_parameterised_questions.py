"""Checks and fixes for any number of threads: what is answered, what is refused, in every language that has words for
it."""

from __future__ import annotations

import pytest

import memfence
from memfence.diagnostics import InputError, render
from memfence.tasks.evidence import CounterexampleRun, FewThreads, Parameterised

LOCK = """
bit lock;
active [*] proctype T() {
    bit taken;
again:
    %s
    if :: taken -> goto again :: else fi;
critical: skip;
    lock = 0; goto again
}
"""
LOCKED = LOCK % "atomic { taken = lock; lock = 1 };"
TORN = LOCK % "taken = lock; lock = 1;"
TWO_INSIDE = "T_0@critical && T_1@critical"

THREE_MEET = """
byte count = 0;
active [*] proctype T() {
    atomic { count < 3 -> count = count + 1 };
    if :: count == 3 -> assert(false) :: else fi
}
"""

FLAGS = """
bit writing, readers;
active [*] proctype Reader() {
again:
    atomic { readers = 1 };
    if :: writing -> goto again :: else fi;
inside: skip;
    goto again
}
active proctype Writer() {
    writing = 1;
    !readers;
alone: skip
}
"""

IN_RMM = """
forbidden CS CS *
data lock = 0 : [0:1]
process(*)
text
  L0: cas(lock, 0, 1);
  CS: nop;
  write: lock := 0;
  goto L0
"""

IN_PST = """
program lock
vars lock : [0:1]
procs
process(*) T
init l0
begin
  l0: arw(lock, 0, 1); goto cs;
  cs: lock = 0; goto l0;
end
forbid T_0@cs && T_1@cs;
"""


@pytest.mark.parametrize("model", ["sc", "tso"])
def test_a_lock_is_proved_for_any_number_of_threads(model):
    result = memfence.check(LOCKED, language="promela", forbid=TWO_INSIDE, model=model)
    assert result.verdict == "holds"
    assert isinstance(result.evidence, Parameterised)
    assert result.evidence.templates == ("T",)


def test_a_torn_lock_fails_with_the_smallest_number_of_threads():
    result = memfence.check(TORN, language="promela", forbid=TWO_INSIDE)
    assert result.verdict == "violated"
    assert isinstance(result.evidence, CounterexampleRun)
    assert result.evidence.threads == (("T", 2),)
    assert len(result.trace.program.processes) == 2


def test_three_threads_are_needed_where_two_are_too_few():
    result = memfence.check(THREE_MEET, language="promela")
    assert (result.verdict, result.evidence.threads) == ("violated", (("T", 3),))
    assert result.trace.failure is not None


def test_the_engine_finds_what_needs_more_threads_than_are_tried_first():
    result = memfence.check(THREE_MEET.replace("3", "5"), language="promela")
    assert (result.verdict, result.evidence.threads, result.engine) == ("violated", (("T", 5),), "any number")


def test_a_fence_is_found_and_proved_for_any_number_of_readers():
    assert memfence.check(FLAGS, language="promela", forbid="Reader_0@inside && Writer@alone").verdict == "violated"
    fixed = memfence.fix(FLAGS, language="promela", forbid="Reader_0@inside && Writer@alone")
    assert (fixed.verdict, fixed.is_minimum, fixed.chosen.count) == ("fixed", True, 1)
    assert isinstance(fixed.evidence, Parameterised)
    again = memfence.check(fixed.patched, language="promela", forbid="Reader_0@inside && Writer@alone")
    assert again.verdict == "holds"


def test_where_the_engine_does_not_answer_it_is_said_how_many_threads_were_checked():
    result = memfence.check(LOCKED, language="promela", forbid=TWO_INSIDE, model="pso")
    assert result.verdict == "holds_up_to"
    assert isinstance(result.evidence, FewThreads)
    assert result.evidence.threads >= 4


def test_final_states_are_about_all_threads_and_are_checked_from_one_on():
    text = "byte count;\nactive [*] proctype T() { atomic { count < 3 -> count = count + 1 } }\n"
    alone = memfence.check(text, language="promela", final="count >= 2")
    assert (alone.verdict, alone.evidence.threads) == ("violated", (("T", 1),))
    some = memfence.check(text, language="promela", final="count >= 1", timeout_seconds=30)
    assert some.verdict == "holds_up_to"
    assert isinstance(some.evidence, FewThreads)


def test_a_program_in_rmm_says_so_with_a_star():
    result = memfence.check(IN_RMM, language="rmm")
    assert result.verdict == "holds"
    torn = IN_RMM.replace("cas(lock, 0, 1)", "read: lock = 0; write: lock := 1")
    assert memfence.check(torn, language="rmm").verdict == "violated"


def test_a_program_in_pst_says_so_with_a_star():
    assert memfence.check(IN_PST, language="persist").verdict == "holds"
    assert memfence.check(IN_PST.replace("forbid T_0@cs && T_1@cs", "forbid T_0@cs"), language="persist").verdict == (
        "violated"
    )


def test_an_option_says_so_for_a_program_with_a_fixed_number():
    fixed = LOCKED.replace("[*]", "[2]")
    result = memfence.check(fixed, language="promela", forbid=TWO_INSIDE, any_number=("T",))
    assert isinstance(result.evidence, Parameterised)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (LOCKED.replace("lock = 0; goto", "lock = _pid % 2; goto"), "MF118"),
        ("bit x[3];\nactive [*] proctype T() { x[_pid] = 1; assert(x[0]) }\n", "MF118"),
    ],
)
def test_threads_that_know_who_they_are_are_refused(text, code):
    with pytest.raises(InputError) as raised:
        memfence.check(text, language="promela", forbid="false")
    assert f"[{code}]" in render(raised.value.diagnostics)


@pytest.mark.parametrize(
    "asked", [{"criterion": "persistent"}, {"ltl": "[] (lock <= 1)"}], ids=["a criterion", "a temporal property"]
)
def test_other_questions_need_a_fixed_number(asked):
    with pytest.raises(InputError) as raised:
        memfence.check(LOCKED, language="promela", **asked)
    assert "[MF119]" in render(raised.value.diagnostics)


def test_other_verbs_need_a_fixed_number():
    with pytest.raises(InputError) as raised:
        memfence.compare(LOCKED, language="promela")
    assert "[MF119]" in render(raised.value.diagnostics)


def test_an_unknown_template_is_refused():
    with pytest.raises(InputError) as raised:
        memfence.check(LOCKED.replace("[*]", "[2]"), language="promela", forbid=TWO_INSIDE, any_number=("U",))
    assert "[MF104]" in render(raised.value.diagnostics)


def test_robustness_is_decided_for_any_number():
    held = memfence.check(LOCKED, criterion="robust")
    assert (held.verdict, type(held.evidence)) == ("holds", Parameterised)
    broken = memfence.check(FLAGS, criterion="robust")
    assert (broken.verdict, broken.evidence.threads) == ("violated", (("Reader", 1),))
    assert broken.trace.model == "tso"


def test_robustness_is_mended_for_any_number():
    mended = memfence.fix(FLAGS, criterion="robust")
    assert (mended.verdict, mended.chosen.count, mended.is_minimum) == ("fixed", 1, True)
    assert isinstance(memfence.check(mended.patched, criterion="robust").evidence, Parameterised)


def test_under_sc_every_program_is_robust():
    assert memfence.check(FLAGS, criterion="robust", model="sc").verdict == "holds"


def test_under_pso_robustness_is_checked_for_few_threads():
    assert isinstance(memfence.check(LOCKED, criterion="robust", model="pso").evidence, FewThreads)
