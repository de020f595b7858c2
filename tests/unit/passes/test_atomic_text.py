"""`atomic.txt`: pairs of a variable and a transition, written and read back."""

from __future__ import annotations

import pytest

from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.frontends import dve
from memfence.passes.atomic_list import parse_atomic_writes, print_atomic_writes
from memfence.passes.atomic_writes import AtomicWrite, writes_of
from memfence.source import SourceText

TEXT = """
byte x, a[2];
process P { byte r; state s, t; init s; trans
  s -> t { effect x = 1, a[r] = 2; }, s -> t { effect a[0] = 1; }, t -> s { guard x == 1; effect r = 1; }; }
process Q { state s, t; init s; trans s -> t { effect x = 2; }; }
system async;
"""
PROGRAM = dve.parse(SourceText("two.dve", TEXT))


def parse(text: str) -> tuple[AtomicWrite, ...]:
    return parse_atomic_writes(SourceText("atomic.txt", text), PROGRAM)


def test_every_write_is_a_variable_and_a_transition() -> None:
    assert writes_of(PROGRAM) == (
        AtomicWrite(0, 0, "a"),
        AtomicWrite(0, 0, "x"),
        AtomicWrite(0, 1, "a"),
        AtomicWrite(1, 0, "x"),
    )


def test_what_is_written_is_read_back() -> None:
    writes = (*writes_of(PROGRAM), AtomicWrite(0, 0, "*"))
    assert set(parse(print_atomic_writes(PROGRAM, writes))) == set(writes)


def test_a_transition_may_be_named_by_its_states() -> None:
    text = "# both\n(x, Q.s->t)\r\n\n  ( * , P.1 )  // all of them\n(x, Q.s -> t)\n"
    assert parse(text) == (AtomicWrite(1, 0, "x"), AtomicWrite(0, 1, "*"))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x, P.0", Code.SYNTAX),
        ("(x)", Code.SYNTAX),
        ("(x, R.0)", Code.UNKNOWN_PROCESS),
        ("(x, P.9)", Code.UNKNOWN_LABEL),
        ("(x, P.99999999999999)", Code.UNKNOWN_LABEL),
        ("(x, P.s->t)", Code.UNKNOWN_LABEL),
        ("(x, P.t->t)", Code.UNKNOWN_LABEL),
        ("(x, P.1)", Code.UNKNOWN_VARIABLE),
        ("(*, P.2)", Code.UNKNOWN_VARIABLE),
    ],
)
def test_a_line_that_names_nothing_is_refused(line: str, code: Code) -> None:
    with pytest.raises(InputError) as error:
        parse(f"(x, P.0)\n{line}  // comment\n")
    (found,) = error.value.diagnostics
    assert (found.code, found.at.span.text) == (code, line)
