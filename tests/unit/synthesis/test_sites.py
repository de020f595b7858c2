"""Sites: one edit a place of the text, with its effect, its cost, and nothing that cannot make a difference."""

from __future__ import annotations

from memfence.pipeline import load_text
from memfence.source import SourceText
from memfence.synthesis.options import DEFAULT_COSTS
from memfence.synthesis.sites import FenceEdit, find_edits

PETERSON = """\
bool wants[2]; bit turn;
active [2] proctype P() {
    bit other = 1 - _pid;
    do
    :: wants[_pid] = true;
       turn = other;
       do
       :: wants[other] == false -> break
       :: turn == _pid -> break
       od;
cs:    skip;
       wants[_pid] = false
    od
}
"""


def edits_of(text: str, *kinds: str) -> dict[str, FenceEdit]:
    program = load_text(SourceText("x.pml", text))
    return {f"{e.kind} {e.point.after}": e for e in find_edits(program, kinds, DEFAULT_COSTS)}  # type: ignore[arg-type]


def test_one_edit_changes_every_instance() -> None:
    edit = edits_of(PETERSON, "mfence")["mfence turn = other"]
    assert edit.processes == (0, 1)
    assert {process for process, _ in edit.effect} == {0, 1}


def test_an_edit_in_a_loop_costs_ten_times_as_much_a_level() -> None:
    edits = edits_of(
        "byte x, y; active proctype P() { y = 1; do :: x = 1; do :: x = 2 :: break od od }", "mfence", "sfence"
    )
    assert edits["mfence y = 1"].cost == 10
    assert edits["sfence y = 1"].cost == 2
    assert edits["mfence x = 1"].cost == 100
    assert edits["mfence x = 2"].cost == 1000


def test_a_place_where_nothing_can_be_pending_is_no_site() -> None:
    edits = edits_of("byte x, y; active proctype P() { byte r; r = y; x = 1; mfence(); r = y; x = 2 }", "mfence")
    assert {name for name in edits if "r = y" in name} == set()
    assert {"mfence x = 1", "mfence x = 2"} <= set(edits)


def test_two_places_with_the_same_effect_are_one_site() -> None:
    edits = edits_of("byte x, y; active proctype P() { x = 1; if :: y == 0 -> skip :: else -> skip fi }", "mfence")
    places = [edit.effect for edit in edits.values()]
    assert len(places) == len(set(places))


def test_an_mfence_knows_the_sfence_it_replaces() -> None:
    edits = edits_of(PETERSON, "mfence", "sfence")
    assert edits["mfence turn = other"].weaker == edits["sfence turn = other"].number


def test_only_plain_stores_can_be_locked() -> None:
    edits = edits_of("byte x, y; active proctype P() { byte r; x = 1; r = y; atomic { x = 2 } }", "locked")
    assert set(edits) == {"locked x = 1"}
