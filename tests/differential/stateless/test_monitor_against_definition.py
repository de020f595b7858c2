"""The streaming monitor and its clocks against the definitions of the paper, on random interleavings."""

from __future__ import annotations

import io

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memfence import _core
from memfence.engines.native.monitor import monitor_stream
from support.sampling import sampled
from twins.recorded_events import (
    Event,
    as_lines,
    closure,
    first_borderline,
    happens_before,
    interleavings,
    relaxed_happens_before,
)

OPS = {"ld": 0, "st": 1, "il": 2}
STORE_BUFFERING = (Event("st", 0, 0, 1), Event("ld", 0, 1, 0), Event("st", 1, 1, 1), Event("ld", 1, 0, 1))
FORWARDED = (  # a:=x sees the own store; b:=y could miss the other thread's store all the same
    Event("st", 1, 1, 1),
    Event("st", 1, 0, 1),
    Event("st", 0, 0, 2),
    Event("ld", 0, 0, 2),
    Event("ld", 0, 1, 1),
)
FENCED = (*STORE_BUFFERING[:3], Event("il", 1, 2, 1), STORE_BUFFERING[3])


def many(examples: int):
    return settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def borderline_line(text: str) -> int | None:
    event = monitor_stream("trace", io.BufferedReader(io.BytesIO(text.encode()))).event
    return None if event is None else event.load.line - 1


def check_clocks(events: tuple[Event, ...]) -> None:
    """Theorem 5, for both relations: e before e' iff no component of its timestamp is larger."""
    stamps = _core.trace_timestamps([(OPS[e.op], e.thread, e.address) for e in events])
    for which, pairs in enumerate((relaxed_happens_before(events), happens_before(events))):
        reached = closure(len(events), pairs)
        for i in range(len(events)):
            for j in range(i, len(events)):
                by_clock = all(a <= b for a, b in zip(stamps[i][which], stamps[j][which], strict=True))
                assert by_clock == (j in reached[i]), (i, j, which)


def check_verdict(events: tuple[Event, ...]) -> None:
    assert borderline_line(as_lines(events)) == first_borderline(events)


@sampled(
    quick=200,
    slow=2_000,
    given_slowly={"events": interleavings(threads=4, addresses=3, most=18)},
    events=interleavings(),
)
@example(STORE_BUFFERING)
@example(FORWARDED)
@example(FENCED)
def test_the_clocks_are_the_transitive_closure(events):
    check_clocks(events)


@sampled(quick=150, slow=2_000, given_slowly={"events": interleavings(most=10)}, events=interleavings(most=9))
@example(STORE_BUFFERING)
@example(FORWARDED)
@example(FENCED)
def test_the_monitor_reports_the_first_borderline_load(events):
    check_verdict(events)


@given(interleavings(), st.integers(0, 12))
@many(50)
def test_a_fence_never_makes_a_trace_borderline(events, place):
    thread = events[min(place, len(events) - 1)].thread
    lines = as_lines(events).splitlines(keepends=True)
    lines.insert(place, f'{{"op":"fence","thread":{thread}}}\n')
    if borderline_line(as_lines(events)) is None:
        assert borderline_line("".join(lines)) is None


@given(interleavings(), st.integers(1, 40))
@many(50)
def test_the_size_of_the_pieces_does_not_matter(events, size):
    text = as_lines(events).encode()
    reader = _core.TraceReader()
    for start in range(0, len(text), size):
        if not reader.feed(text[start : start + size]):
            break
    reader.finish()
    assert reader.error is None
    found = None if reader.finding is None else reader.finding.load.line - 1
    assert found == borderline_line(text.decode())


def test_forgetting_old_writes_changes_no_answer():
    """Far more writes than are kept: the write that is missed lies beyond the last clean-up."""
    lines = ['{"op":"st","thread":0,"addr":"flag0","value":1}', '{"op":"ld","thread":0,"addr":"flag1","value":0}']
    for n in range(300_000):
        lines.append(f'{{"op":"st","thread":{2 + n % 3},"addr":"a{n % 7}","value":{n}}}')
    lines += ['{"op":"st","thread":1,"addr":"flag1","value":1}', '{"op":"ld","thread":1,"addr":"flag0","value":1}']
    assert borderline_line("\n".join(lines)) == len(lines) - 1
