"""Cat texts: what is read, and how operators bind."""

from __future__ import annotations

import pytest

from memfence.diagnostics import InputError
from memfence.models.cat.reader import library_names, library_text, parse
from memfence.models.cat.syntax import Base, Binary, CatExpr, Named, Unary
from memfence.source import SourceText

MODELS = ("sc.cat", "tso.cat", "pso.cat", "rc11.cat", "armv8.cat")


def body(text: str) -> CatExpr:
    return parse(SourceText("test.cat", f"empty {text} as test")).axioms[0].body


def shown(expr: CatExpr) -> str:
    """With all brackets."""
    match expr:
        case Base(name):
            return name
        case Named(number):
            return f"#{number}"
        case Unary("[]", operand):
            return f"[{shown(operand)}]"
        case Unary(op, operand):
            return f"{op}({shown(operand)})"
        case Binary(op, left, right):
            return f"({shown(left)} {op} {shown(right)})"


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("po | rf; co", "(po | (rf ; co))"),
        ("po; rf \\ co & loc", "(po ; (rf \\ (co & loc)))"),
        ("po \\ rf \\ co", "((po \\ rf) \\ co)"),
        ("R * W & po", "((R * W) & po)"),
        ("po*; rf", "(*(po) ; rf)"),
        ("rf*", "*(rf)"),
        ("(R | W) * (F)", "((R | W) * F)"),
        ("~R * W", "(~(R) * W)"),
        ("~po+", "~(+(po))"),
        ("po+?^-1", "^-1(?(+(po)))"),
        ("[R]; po; [W & REL]", "(([R] ; po) ; [(W & REL)])"),
        ("[DMB.SY]", "[DMB.SY]"),
        ("domain(rf) | range(co)", "(domain(rf) | range(co))"),
        ("0 | R", "(emptyset | R)"),
        ("fencerel(MFENCE)", "((po ; [MFENCE]) ; po)"),
        ("(* a (* comment *) within *) po // and one more", "po"),
    ],
)
def test_operators_bind_as_in_herd(text: str, meaning: str) -> None:
    assert shown(body(text)) == meaning


def test_functions_are_put_in_place_with_the_names_of_where_they_were_defined() -> None:
    cat = parse(SourceText("test.cat", "let a = po let f(x, y) = x; a; y let a = rf let g x = f(x, a) empty g co"))
    assert shown(cat.axioms[0].body) == "((co ; #0) ; #1)"
    assert [shown(d.body) for d in cat.definitions] == ["po", "rf"]


def test_definitions_that_no_check_uses_are_left_out() -> None:
    cat = parse(SourceText("test.cat", "let a = po let b = a let c = b; b empty c"))
    assert [(d.name, shown(d.body)) for d in cat.definitions] == [("a", "po"), ("b", "#0"), ("c", "(#1 ; #1)")]
    assert [d.name for d in parse(SourceText("test.cat", "let a = po let b = a let c = po empty c")).definitions] == [
        "c"
    ]


def test_a_recursive_group_may_define_sets_and_relations() -> None:
    cat = parse(SourceText("test.cat", "let rec s = R | domain(r) and r = po; [s] empty r"))
    assert [(d.name, d.body.kind, d.group) for d in cat.definitions] == [("s", "set", 0), ("r", "relation", 0)]


def test_title_checks_and_flags_are_read() -> None:
    checks = "~acyclic po as some-cycle flag ~empty rf as bad irreflexive po"
    cat = parse(SourceText("test.cat", f'AArch64 "my model" show po, rf as reads unshow co {checks}'))
    assert cat.name == "my model"
    assert [(a.kind, a.negated, a.is_flag, a.name) for a in cat.axioms] == [
        ("acyclic", True, False, "some-cycle"),
        ("empty", True, True, "bad"),
        ("irreflexive", False, False, "po"),
    ]


def test_a_text_may_include_a_model_of_the_library() -> None:
    cat = parse(SourceText("test.cat", 'include "cos.cat" include "sc.cat" empty amo as no-atomics'))
    assert [axiom.name for axiom in cat.axioms] == ["coherence", "sequential", "atomic", "no-atomics"]


@pytest.mark.parametrize("name", MODELS)
def test_the_library_is_read(name: str) -> None:
    assert name in library_names()
    assert parse(library_text(name)).axioms


def test_no_text_makes_the_reader_fall_over() -> None:
    pieces = [
        "let",
        "rec",
        "x",
        "=",
        "po",
        "(",
        ")",
        "[",
        "]",
        "|",
        "*",
        "~",
        "empty",
        "as",
        "and",
        '"t"',
        "\\",
        "0",
        ",",
    ]
    for first in pieces:
        for second in pieces:
            for third in pieces:
                try:
                    parse(SourceText("test.cat", f"{first} {second} {third} empty po"))
                except InputError as error:
                    assert str(error)
