"""Lock regions that loading cannot make one step: for the criteria they are one event all the same."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memfence
from memfence.models.spec import ModelName
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


@pytest.mark.parametrize("fence, expected", [(PLAIN, Verdict.VIOLATED), (FENCED, Verdict.HOLDS)])
@pytest.mark.parametrize("criterion, model", [("persistent", "tso"), ("robust", "tso"), ("robust", "pso")])
def test_a_region_with_a_loop_is_one_event(
    criterion: Criterion, model: ModelName, fence: str, expected: Verdict
) -> None:
    loaded = program(LOOP, fence)
    result = check(loaded, CheckOptions(criterion=criterion, model=model))
    assert result.verdict is expected
    if result.trace is not None:
        assert result.trace.end.lock_owner is None


@pytest.mark.parametrize("criterion", ["trf", "drf"])
def test_the_accesses_of_a_region_with_a_loop_race_with_those_of_others(criterion: Criterion) -> None:
    assert check(program(LOOP, PLAIN), CheckOptions(criterion=criterion)).verdict is Verdict.VIOLATED
    apart = LOOP.replace("write 1 1", "write 1 3").replace("read r 0", "read r 3")
    assert check(program(apart, PLAIN), CheckOptions(criterion=criterion)).verdict is Verdict.HOLDS


# Both ways through the loop of `b` end in the same state; the one that reads address 2 closes a cycle.
TWO_WAYS = """
memory_size 4
thread a
initial q0
transition q0 q1 write 1 2
{fence}
transition q2 q3 read r 0
end
thread b
initial q0
transition q0 q1 lock
transition q1 q2 write 1 0
transition q2 q3 noop
transition q2 q3 read s 2
transition q3 q2 noop
transition q3 q4 unlock
end
"""


@pytest.mark.parametrize("fence, expected", [(PLAIN, Verdict.VIOLATED), (FENCED, Verdict.HOLDS)])
def test_of_two_ways_to_one_state_that_with_more_accesses_counts(fence: str, expected: Verdict) -> None:
    assert check(program(TWO_WAYS, fence), CheckOptions(criterion="robust")).verdict is expected


def test_fences_are_found_beside_a_region_with_a_loop() -> None:
    fixed = memfence.fix(LOOP.format(fence=PLAIN), language="trencher", criterion="robust")
    assert fixed.verdict == "fixed" and fixed.is_minimum
    assert fixed.chosen.count == 1


def test_a_region_that_loops_for_ever_counts_no_states_that_nobody_sees() -> None:
    """Its counter has 256 values: the search inside ends, and no event comes of it."""
    text = LOOP.replace("transition q3 q1 noop", "transition q3 q1 local c + c 1").replace(
        "transition q3 q4 unlock", "transition q3 q4 check == c 300\ntransition q4 q9 unlock"
    )
    loaded = load_text(
        SourceText("endless.txt", text.format(fence=PLAIN)), LoadOptions(language="trencher", int_bits=8)
    )
    assert check(loaded, CheckOptions(criterion="robust")).verdict is Verdict.HOLDS


# A region whose loop is run through at most twice, and the same region with the loop unrolled. No loop is left there:
# every way through it is one locked step, and the definitions can be asked.

VARIABLES = st.integers(0, 2)
accesses = st.builds("read r {}".format, VARIABLES) | st.builds("write {} {}".format, st.integers(1, 2), VARIABLES)
others = st.sampled_from(["mfence", "check == r 0", "check != r 1"])
bodies = st.lists(st.integers(0, 9).flatmap(lambda die: others if die == 0 else accesses), min_size=1, max_size=2)
back = st.sampled_from(["check < c 2", "check && < c 2 == r 0", "check && < c 2 != r 0"])


@dataclass(frozen=True)
class Region:
    """What it does before its loop and in it; when it goes round again, and when it leaves."""

    first: list[str]
    body: list[str]
    back: str
    leave: str

    def lines(self, start: str, end: str, *, unrolled: bool) -> list[str]:
        found = [f"transition {start} {start}_held lock", *chain(f"{start}_held", f"{start}_in_0", self.first)]
        following = {0: 1} if unrolled else {0: 0}
        for number in range(2 if unrolled else 1):
            inside, out = f"{start}_in_{number}", f"{start}_out_{number}"
            found += chain(inside, out, [*self.body, "local c + c 1"])
            found.append(f"transition {out} {start}_left {self.leave}")
            if number in following:
                found.append(f"transition {out} {start}_in_{following[number]} {self.back}")
        return [*found, f"transition {start}_left {end} unlock"]


def chain(start: str, end: str, instructions: list[str]) -> list[str]:
    """One transition after the other."""
    places = [start, *(f"{start}_{n}" for n in range(1, len(instructions))), end]
    if not instructions:
        return [f"transition {start} {end} noop"]
    return [f"transition {a} {b} {what}" for a, b, what in zip(places, places[1:], instructions, strict=False)]


regions = st.builds(
    Region, st.lists(accesses, max_size=1), bodies, back, st.sampled_from(["noop", "check >= c 2", "check == r 0"])
)


@st.composite
def programs(draw: st.DrawFn) -> tuple[Program, Program]:
    """Two processes, at least one of them with a region; with its loop, and unrolled."""
    region = draw(regions)
    around = [draw(st.lists(accesses, max_size=1)) for _ in range(2)]
    other = draw(st.lists(accesses, min_size=2, max_size=3) | regions)
    texts = []
    for unrolled in (False, True):
        second = other.lines("b", "z", unrolled=unrolled) if isinstance(other, Region) else chain("b", "z", other)
        first = [*chain("a", "l", around[0]), *region.lines("l", "k", unrolled=unrolled), *chain("k", "z", around[1])]
        threads = [["thread p", "initial a", *first, "end"], ["thread q", "initial b", *second, "end"]]
        texts.append("\n".join(["memory_size 3", *(line for thread in threads for line in thread)]))
    options = LoadOptions(language="trencher")
    looping, flat = (load_text(SourceText("region.txt", text), options) for text in texts)
    return looping, flat


@given(programs())
@settings(max_examples=40, deadline=None)
def test_a_region_with_a_loop_is_what_its_unrolled_form_is(pair: tuple[Program, Program]) -> None:
    looping, flat = pair
    assert has_lock_regions(looping) and not has_lock_regions(flat)
    expected = {
        ("persistent", "tso"): twin.is_persistent(flat),
        ("robust", "tso"): twin.is_robust(flat, "tso"),
        ("robust", "pso"): twin.is_robust(flat, "pso"),
        ("trf", "tso"): twin.is_triangular_race_free(flat),
        ("drf", "tso"): twin.is_data_race_free(flat),
    }
    for (criterion, model), holds in expected.items():
        found = check(looping, CheckOptions(criterion=criterion, model=model))  # type: ignore[arg-type]
        assert found.verdict is (Verdict.HOLDS if holds else Verdict.VIOLATED), (criterion, model)


def test_a_region_with_a_loop_is_still_decided_by_its_states() -> None:
    result = check(program(LOOP, PLAIN), CheckOptions(criterion="state-robust"))
    assert result.verdict is Verdict.VIOLATED
