"""Data structures of other people with small clients of our own: proofs under TSO, for any number of spins."""

from __future__ import annotations

from pathlib import Path

import pytest

import memfence
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from support.c_compiler import needs_clang
from support.corpus import CORPUS, needs_corpus

pytestmark = [needs_clang, needs_corpus]

CLIENTS = Path(__file__).with_name("c_clients")
LIBRARIES = CORPUS / "c"


@pytest.mark.parametrize("places", [1, 2])
def test_the_spsc_queue_hands_over_whole_elements_in_order(places: int) -> None:
    include = (str(LIBRARIES / "queues/SPSCQueue/include"),)
    result = memfence.check(CLIENTS / "spsc_queue.cc", include=include, macros=(f"PLACES={places}",), model="tso")
    assert result.verdict is Verdict.HOLDS


def test_the_mpmc_queue_hands_over_every_element_once() -> None:
    """Its tickets only ever grow, but no run of the client needs more than 32 bits of them."""
    include = (str(LIBRARIES / "queues/MPMCQueue/include"),)
    result = memfence.check(CLIENTS / "mpmc_queue.cc", include=include, model="tso")
    assert result.verdict is Verdict.HOLDS


RING = LIBRARIES / "ringbuf"
MARK = "atomic_store_explicit(&w->seen_off, next | WRAP_LOCK_BIT,\n\t\t    memory_order_relaxed);"
UNMARK = "w->seen_off & ~WRAP_LOCK_BIT"


@pytest.mark.slow
def test_the_ring_buffer_hands_over_what_was_written() -> None:
    """It counts its wraps in high bits, without end, but the client never comes to the last count that is followed."""
    reading = {"include": (str(RING),), "also": (str(RING / "ringbuf.c"),)}
    assert memfence.check(CLIENTS / "ringbuf.c", model="tso", **reading).verdict is Verdict.HOLDS
    wrong = (CLIENTS / "ringbuf.c").read_text().replace("== i + 1", "== i + 2")
    assert memfence.check(SourceText("wrong.c", wrong), model="tso", **reading).verdict is Verdict.VIOLATED


@pytest.mark.slow
def test_the_ring_buffer_needs_its_mark_before_the_space_is_taken(tmp_path: Path) -> None:
    """The producer says where it writes before it takes the space; the other way round, nothing written is consumed."""
    text = (RING / "ringbuf.c").read_text()
    assert text.count(MARK) == 1 and text.count(UNMARK) == 1
    late = tmp_path / "late.c"
    late.write_text(text.replace(MARK, "").replace(UNMARK, "next"))
    reading = {"include": (str(RING),), "also": (str(late),)}
    assert memfence.check(CLIENTS / "ringbuf.c", model="tso", **reading).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("kind", ["fas", "cas"])
def test_locks_of_concurrency_kit_exclude(kind: str) -> None:
    include = (str(LIBRARIES / "ck/include"),)
    result = memfence.check(CLIENTS / "ck_spinlock.c", include=include, macros=(f"KIND={kind}",), model="tso")
    assert result.verdict is Verdict.HOLDS
