"""The RMM programs of the corpus: are their forbidden combinations of labels reachable under SC, TSO and PSO?

`memorax` are Memorax's own examples; the others model the programs of the persistence paper. Where SC itself is not
safe, docs/results/formats.md says why.
"""

from __future__ import annotations

import pytest

from memfence import CheckOptions, Verdict, check, load
from memfence.models.spec import ModelName
from support.corpus import CORPUS, needs_corpus

pytestmark = needs_corpus

SAFE, BROKEN, BOUNDED = Verdict.HOLDS, Verdict.VIOLATED, Verdict.HOLDS_UP_TO
MODELS: tuple[ModelName, ...] = ("sc", "tso", "pso")

VERDICTS = {
    "memorax/bakery.bound2.rmm": (SAFE, BROKEN, BROKEN),
    "memorax/burns.rmm": (SAFE, BROKEN, BROKEN),
    "memorax/clh.rmm": (SAFE, SAFE, SAFE),
    "memorax/dekker.2.rmm": (SAFE, BROKEN, BROKEN),
    "memorax/dekker.rmm": (SAFE, BROKEN, BROKEN),
    "memorax/dijkstra.rmm": (SAFE, BROKEN, BROKEN),
    "memorax/lamport_fast.rmm": (SAFE, BROKEN, BROKEN),
    "memorax/peterson.rmm": (SAFE, BROKEN, BROKEN),
    "memorax/sense_rev_bar.rmm": (SAFE, SAFE, SAFE),
    "memorax/ticket_spin_lock.rmm": (SAFE, SAFE, SAFE),
    "memorax/ticket_spin_lock.2.rmm": (SAFE, SAFE, SAFE),
    "persist/single/litmus/r+detour/r+detour.rmm": (BROKEN, BROKEN, BROKEN),
    "persist/single/litmus/r+detours/r+detours.rmm": (BROKEN, BROKEN, BROKEN),
    "persist/single/litmus/sb+detours/sb+detours.rmm": (BROKEN, BROKEN, BROKEN),
    "persist/single/litmus/write+r/write+r.rmm": (BROKEN, BROKEN, BROKEN),
    "persist/single/mutex/burns/burns.rmm": (BROKEN, BROKEN, BROKEN),
    "persist/single/mutex/dclocking/dc_locking.rmm": (SAFE, SAFE, BROKEN),
    "persist/single/mutex/dekker/dekker.rmm": (SAFE, BROKEN, BROKEN),
    "persist/single/mutex/dijkstra/dijkstra.rmm": (SAFE, BROKEN, BROKEN),
    "persist/single/mutex/lamport2/lamport2.rmm": (SAFE, BROKEN, BROKEN),
    "persist/single/mutex/lamport3/lamport3.rmm": (SAFE, BROKEN, BROKEN),
    "persist/single/mutex/simple_dekker/simple_dekker.rmm": (SAFE, BROKEN, BROKEN),
    "persist/single/mutex/spinlock/spinlock.rmm": (SAFE, SAFE, SAFE),
    "persist/single/mutex/szymanski2/szymanski2.rmm": (SAFE, BROKEN, BROKEN),
    "persist/single/mutex/ticket_spin_lock/ticket_spin_lock.rmm": (SAFE, SAFE, SAFE),
    "persist/single/schedule/parker/parker.rmm": (BROKEN, BROKEN, BROKEN),
    "persist/single/schedule/pgsql/pgsql.rmm": (SAFE, BROKEN, BROKEN),
    "persist/single/schedule/task_scheduling/task_scheduling.rmm": (BROKEN, BROKEN, BROKEN),
}


@pytest.mark.parametrize(("model", "number"), [(model, number) for number, model in enumerate(MODELS)])
@pytest.mark.parametrize("path", VERDICTS)
def test_the_verdict_is_known(path: str, model: ModelName, number: int) -> None:
    result = check(load(CORPUS / path), CheckOptions(model=model, timeout_seconds=60))
    assert result.verdict is VERDICTS[path][number]


@pytest.mark.parametrize("path", [
    "persist/single/schedule/alternating_bit_protocol/alternating_bit.rmm",
    "persist/single/schedule/increase_sequence/increase_sequence.rmm",
])  # fmt: skip
def test_programs_whose_buffers_grow_without_bound_have_no_violation_with_short_buffers(path: str) -> None:
    program = load(CORPUS / path)
    assert check(program, CheckOptions(model="sc")).verdict is SAFE
    assert check(program, CheckOptions(model="tso", buffer_bound=3)).verdict in (SAFE, BOUNDED)


def test_tickets_without_bound_are_safe_under_sc_until_they_wrap() -> None:
    program = load(CORPUS / "memorax" / "bakery.rmm")
    assert any("int-bits" in note for note in program.notes)
    assert check(program, CheckOptions(model="tso")).verdict is BROKEN
