"""What a line of a trace may look like, and what is said about one that does not."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfence.diagnostics import Diagnostic, InputError, render
from memfence.engines.native.monitor import Monitored, monitor_events, monitor_stream
from memfence.execution.event import Event
from memfence.execution.recording import TraceEvent

GOOD = '{"op":"st","thread":0,"addr":"x","value":1}'


def read(data: str | bytes) -> Monitored:
    raw = data.encode() if isinstance(data, str) else data
    return monitor_stream("trace", io.BufferedReader(io.BytesIO(raw)))


def refusal(data: str | bytes) -> Diagnostic:
    with pytest.raises(InputError) as caught:
        read(data)
    (diagnostic,) = caught.value.diagnostics
    render([diagnostic])
    return diagnostic


@pytest.mark.parametrize(
    "line",
    [
        GOOD,
        '  { "value" : -5 , "addr" : "x" , "thread" : "main" , "op" : "st" , "loc" : "f.c:1" }  \r',
        '{"op":"ld","thread":0,"addr":17}',
        '{"op":"il","thread":0,"addr":"x","value":null,"loc":null}',
        '{"op":"fence","thread":0}',
        r'{"op":"st","thread":0,"addr":"\u00e9\ud83d\ude00\"\\\/\n","value":9223372036854775807}',
        '{"op":"st","thread":0,"addr":"größe","value":-9223372036854775808}',
        '{"op":"st","thread":0,"addr":"x","value":1,"step":4}',
        '{"op":"ld","thread":0,"addr":"x","accepts":[1, 2,-3]}',
        '{"op":"wait","thread":0,"addr":"x","accepts":[]}',
        "",
        "\ufeff" + GOOD,
    ],
)
def test_these_lines_are_read(line: str) -> None:
    assert read(line + "\n").event is None
    assert read(line).event is None


@pytest.mark.parametrize(
    "line, message",
    [
        ("[]", "expected a JSON object"),
        ("nonsense", "expected a JSON object"),
        ("{", "expected a key"),
        ("{}", "has no `op`"),
        (GOOD[:-1], "expected `,` or `}`"),
        (GOOD + GOOD, "more text after the object"),
        (GOOD.replace('"st"', '"store"'), "unknown operation `store`"),
        (GOOD.replace('"st"', "7"), "`op` is a text"),
        (GOOD.replace('"addr"', '"address"'), "unknown key `address`"),
        (GOOD.replace('"thread":0,', ""), "has no `thread`"),
        (GOOD.replace('"addr":"x",', ""), "has no `addr`"),
        (GOOD.replace('"addr":"x"', '"addr":"x","addr":"x"'), "`addr` is there twice"),
        (GOOD.replace(":1}", ":1.5}"), "expected a whole number"),
        (GOOD.replace(":1}", ":1e3}"), "expected a whole number"),
        (GOOD.replace(":1}", ":01}"), "does not start with 0"),
        (GOOD.replace(":1}", ":true}"), "expected a whole number"),
        (GOOD.replace(":1}", ":9223372036854775808}"), "more than 64 bits"),
        (GOOD.replace(":0,", ":[0],"), "`thread` is a text or a whole number"),
        (GOOD.replace('"x"', '"x'), "expected `,`"),
        ('{"op":"st', "no closing quote"),
        (GOOD.replace('"x"', r'"\x"'), "no such escape"),
        (GOOD.replace('"x"', r'"\ud800"'), "half of a surrogate pair"),
        (GOOD.replace('"x"', r'"\u12g4"'), "four hexadecimal digits"),
        (GOOD.replace('"x"', '"a\tb"'), "control character"),
        ('{"op":"fence","thread":0,"addr":"x"}', "has no `addr`"),
        ('{"op":"st","thread":0,"addr":"x","accepts":[1]}', "only loads have `accepts`"),
        ('{"op":"init","thread":0,"addr":"x","value":1}', "`init` has only"),
        ('{"op":"init","addr":"x"}', "`init` needs"),
        ('{"op":"wait","thread":0,"addr":"x","value":1}', "`wait` has no `value`"),
        ("\x00", "expected a JSON object"),
    ],
)
def test_these_lines_are_refused(line: str, message: str) -> None:
    diagnostic = refusal(f"{GOOD}\n\n{line}\n{GOOD}\n")
    assert message in diagnostic.message
    assert diagnostic.code.id == "MF301"
    assert diagnostic.at.span.line == 3


def test_text_that_is_not_utf8_is_refused() -> None:
    diagnostic = refusal(b'{"op":"st","thread":0,"addr":"\xff","value":1}')
    assert "not UTF-8" in diagnostic.message


def test_carets_count_characters_not_bytes() -> None:
    diagnostic = refusal('{"op":"st","thread":0,"addr":"größe","value":1.5}')
    assert diagnostic.at.span.column == len('{"op":"st","thread":0,"addr":"größe","value":') + 1


def test_an_endless_line_is_refused() -> None:
    diagnostic = refusal("{" + " " * 3_000_000)
    assert diagnostic.code.id == "MF114"


def test_an_initial_value_comes_before_all_accesses() -> None:
    diagnostic = refusal(GOOD + '\n{"op":"init","addr":"x","value":0}')
    assert "after the first access" in diagnostic.message


def test_loads_must_see_the_initial_value_until_there_is_a_write() -> None:
    load = '{"op":"ld","thread":0,"addr":"y","value":%d}\n'
    assert read(load % 3 + load % 3).events == 2
    assert refusal(load % 3 + load % 4).code.id == "MF302"
    assert refusal('{"op":"init","addr":"y","value":1}\n' + load % 0).code.id == "MF302"


def test_a_write_without_a_value_says_nothing_about_later_loads() -> None:
    assert read('{"op":"st","thread":0,"addr":"x"}\n{"op":"ld","thread":1,"addr":"x","value":5}\n').events == 2


def test_hundreds_of_threads_and_addresses_are_fine() -> None:
    ops = ("st", "il", "ld")
    lines = [json.dumps({"op": op, "thread": f"t{n}", "addr": f"a{n % 251}"}) for n in range(600) for op in ops]
    result = read("\n".join(lines))
    assert (result.events, result.threads, result.addresses) == (1800, 600, 251)


def test_steps_of_several_events_happen_at_once() -> None:
    """Each thread loads and stores in one step: apart they are safe, at once they are not."""
    events = [("ld", 0, "x", 0), ("st", 0, "y", 1), ("ld", 1, "y", 1), ("st", 1, "x", 1)]
    apart = [json.dumps({"op": o, "thread": t, "addr": a, "value": v}) for o, t, a, v in events]
    joined = [json.dumps({"op": o, "thread": t, "addr": a, "value": v, "step": t}) for o, t, a, v in events]
    assert read("\n".join(apart)).event is None
    found = read("\n".join(joined)).event
    assert found is not None and found.load.line == 3


QUESTION = [
    '{"op":"init","addr":"x","value":0}',
    '{"op":"st","thread":0,"addr":"x","value":1}',
    '{"op":"st","thread":0,"addr":"y","value":1}',
    '{"op":"wait","thread":1,"addr":"x","accepts":[0],"step":1}',
    '{"op":"st","thread":1,"addr":"y","value":2,"step":1}',
]
"""Thread 1 could have read x = 0 and stored y = 2 in one step, which comes behind y = 1 here."""


def test_a_question_is_asked_about_all_of_its_step() -> None:
    assert read("\n".join(QUESTION[:4])).event is None
    found = read("\n".join(QUESTION)).event
    assert found is not None and found.load.line == 4 and found.missed.line == 2 and found.stale == 0
    assert [event.line for event in found.path] == [2, 3, 5, 4]


def test_what_is_only_asked_about_does_not_happen() -> None:
    lines = [*QUESTION[:3], '{"op":"wait","thread":1,"addr":"x","accepts":[7],"step":1}', QUESTION[4]]
    assert read("\n".join([*lines, '{"op":"ld","thread":1,"addr":"y","value":1}'])).event is None
    assert refusal("\n".join([*lines, '{"op":"ld","thread":1,"addr":"y","value":2}'])).code.id == "MF302"


def test_a_question_begins_its_step() -> None:
    diagnostic = refusal('{"op":"st","thread":0,"addr":"x","value":1,"step":1}\n' + QUESTION[3])
    assert diagnostic.message == "`wait` comes first in its step"


def test_events_at_hand_are_refused_like_lines() -> None:
    def refused(*events: Event) -> Diagnostic:
        with pytest.raises(InputError) as caught:
            monitor_events("record", [TraceEvent(event) for event in events])
        (diagnostic,) = caught.value.diagnostics
        return diagnostic

    store, load = Event(0, "store", "x", 1), Event(1, "load", "x", 2)
    assert (refused(store, load).code.id, refused(store, load).at.span.line) == ("MF302", 2)
    assert refused(Event(None, "store", "x", 1)).message == "the event `st` has no `thread`"
    assert refused(store, Event(0, "store", "x", 2**63)).message == "a number needs more than 64 bits"
    render([refused(store, load)])


def test_a_load_that_waits_for_another_value_is_not_borderline() -> None:
    lines = [
        '{"op":"init","addr":"x","value":0}',
        '{"op":"st","thread":0,"addr":"x","value":1}',
        '{"op":"ld","thread":0,"addr":"y","value":0}',
        '{"op":"st","thread":1,"addr":"y","value":1}',
    ]
    load = '{"op":"ld","thread":1,"addr":"x","value":1,"accepts":%s}'
    assert read("\n".join([*lines, load % "[1]"])).event is None
    assert read("\n".join([*lines, load % "[0,1]"])).event is not None
    assert read("\n".join([*lines, '{"op":"wait","thread":1,"addr":"x","accepts":[0]}'])).event is not None


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_with_a_code(data: bytes) -> None:
    if data[:2] != b"\x1f\x8b":
        try:
            read(data)
        except InputError as error:
            assert render(error.diagnostics)
