"""The lines that name an object: what is read from them, and what is said of mistakes."""

from __future__ import annotations

import pytest

from memfence.clients.notation import shape_of, specifications_in
from memfence.clients.specification import Parameter, Share, Specification
from memfence.diagnostics import InputError
from memfence.source import SourceText

RING = """\
/* A ring.
 *
 * memfence-test ring
 * object    struct ring q;
 * producer  push(v: 1..2) = push(&q, v)
 * consumer  pop() = pop(&q)
 * finally   q.tail - q.head
 * at-most   1 producer, 1 consumer
 * clients   1 producer x 2, 1 consumer x 3
 *
 * More about it.
 */
int x;
"""


def read(text: str, path: str = "ring.c") -> Specification:
    (found,) = specifications_in(SourceText(path, text))
    return found


def test_every_line_is_read() -> None:
    ring = read(RING)
    assert (ring.name, ring.language, ring.includes) == ("ring", "c", ('"ring.c"',))
    assert (ring.declaration, ring.observed) == ("struct ring q;", "q.tail - q.head")
    assert [(one.role, one.name, one.code, one.returns) for one in ring.operations] == [
        ("producer", "push", "push(&q, v)", True),
        ("consumer", "pop", "pop(&q)", True),
    ]
    assert ring.operations[0].parameters == (Parameter("int", "v", (1, 2)),)
    assert ring.at_most == (("producer", 1), ("consumer", 1))
    assert ring.shapes == ((Share("producer", 1, 2), Share("consumer", 1, 3)),)


def test_an_operation_has_the_place_of_its_line() -> None:
    span = read(RING).operations[1].span
    assert (span.line, span.source.text[span.start : span.end]) == (6, "consumer  pop() = pop(&q)")


def test_comments_of_c_plus_plus_and_files_without_code_are_read() -> None:
    lines = "memfence-test\nobject int x;\nop get() = x\nop put(long v: -1|5) : x = v\n"
    commented = "".join(f"// {line}\n" for line in lines.splitlines())
    beside = read(commented + "int y;\n", "x.cpp")
    alone = read("memfence-test\ninclude <atomic>\n\n" + lines.partition("\n")[2], "x.object")
    assert [(one.name, one.parameters) for one in beside.operations] == [
        (one.name, one.parameters) for one in alone.operations
    ]
    assert beside.operations[1].parameters == (Parameter("long", "v", (-1, 5)),)
    assert (beside.language, beside.includes) == ("c++", ('"x.cpp"',))
    assert (alone.language, alone.includes) == ("c++", ("<atomic>",))


def test_several_objects_of_one_file_are_read() -> None:
    text = RING + RING.replace("memfence-test ring", "memfence-test other")
    assert [one.name for one in specifications_in(SourceText("ring.c", text))] == ["ring", "other"]


def test_an_operation_may_fail() -> None:
    ring = read(RING.replace(" * finally", " * may-fail  pop = -1\n * finally"))
    assert [one.fails_as for one in ring.operations] == [None, -1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("producer push(v: 1..2) = push(&q, v)", "`push` is named twice"),
        ("consumer peek(v) = peek(&q)", "does not say which values are tried"),
        ("consumer peek(v: 3..1) = peek(&q)", "does not say which values are tried"),
        ("consumer peek() =", "names no operation"),
        ("obiect int y;", "names no operation"),
        ("at-most 2 readers", "is no number of threads of a role"),
        ("may-fail peek = 0", "names no operation and its value"),
        ("clients 2 reader x 1", "does not say how many threads make how many calls"),
        ("clients 9 x 9", "up to 4 threads with up to 6 calls"),
        ("finally 3", "`finally` is said twice"),
        ("language rust", "neither c nor c++"),
    ],
)
def test_mistakes_are_said_at_their_place(line: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        read(RING.replace(" * finally", f" * {line}\n * finally"))
    first = refused.value.diagnostics[0]
    assert message in first.message
    assert first.code.id == "MF008"
    assert first.at.span.line in (7, 8)


def test_an_operation_that_returns_nothing_has_no_value_for_a_failure() -> None:
    with pytest.raises(InputError, match="`drain` returns nothing"):
        read(RING.replace(" * finally", " * consumer drain() : drain(&q)\n * may-fail drain = 0\n * finally"))


def test_a_file_without_a_description_is_bad_input() -> None:
    with pytest.raises(InputError, match="describes no object"):
        specifications_in(SourceText("x.c", "int x; /* see memfence-test in the guide */\n"))


def test_a_word_that_is_nearly_one_is_proposed() -> None:
    with pytest.raises(InputError) as refused:
        read(RING.replace("finally ", "finaly "))
    assert "did you mean `finally`?" in (refused.value.diagnostics[0].hint or "")


def test_shapes_are_read_as_they_are_typed() -> None:
    ring = read(RING)
    assert shape_of("2x3", ring) == (Share("", 2, 3),)
    assert shape_of("1 producer x 2, 1 consumer x 1", ring) == (Share("producer", 1, 2), Share("consumer", 1, 1))
    for wrong in ("", "x", "2 writer x 1", "0x1"):
        with pytest.raises(InputError):
            shape_of(wrong, ring)
