"""LTL formulas from text: spellings, precedence, predicates, and what is refused."""

from __future__ import annotations

import pytest

from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.frontends import dve
from memfence.program.expressions import At, Binary, Const, RegisterOf, Shared, disjunction, variable_address
from memfence.questions.ltl.formula import (
    TRUE,
    Atom,
    Formula,
    Next,
    Not,
    Release,
    Until,
    all_of,
    always,
    any_of,
    eventually,
    implies,
    weak_until,
)
from memfence.questions.ltl.parser import ParsedFormula, parse_formula
from memfence.source import SourceText

TEXT = """
byte x; byte a[2];
process P { byte r; state idle, CS; init idle; trans idle -> CS { effect r = x; }; }
process Q { state idle, U; init idle; trans idle -> U { effect x = 1; }; }
system async;
"""
PROGRAM = dve.parse(SourceText("two.dve", TEXT))
NAMES = {"p": "x == 1", "q": "x == 2", "r": "x == 3"}
P, Q, R = Atom(0), Atom(1), Atom(2)


def parse(text: str, **names: str) -> ParsedFormula:
    return parse_formula(text, PROGRAM, NAMES | names)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("G p", always(P)),
        ("[] p", always(P)),
        ("always p", always(P)),
        ("F p", eventually(P)),
        ("<>p", eventually(P)),
        ("eventually p", eventually(P)),
        ("X p", Next(P)),
        ("next p", Next(P)),
        ("p U q", Until(P, Q)),
        ("p stronguntil q", Until(P, Q)),
        ("p W q", weak_until(P, Q)),
        ("p weakuntil q", weak_until(P, Q)),
        ("p R q", Release(P, Q)),
        ("p V q", Release(P, Q)),
        ("p -> q", implies(P, Q)),
        ("p implies q", implies(P, Q)),
        ("p <-> q", all_of((implies(P, Q), implies(Q, P)))),
        ("not p and q", all_of((Not(P), Q))),
        ("! p || q", any_of((Not(P), Q))),
        ("GF p", always(eventually(P))),
        ("GF(p)", always(eventually(P))),
        ("[]<>p", always(eventually(P))),
        ("true", TRUE),
    ],
)
def test_every_spelling_is_read(text: str, formula: Formula) -> None:
    assert parse(text).formula == formula


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("G p && q", "(G p) && q"),
        ("G p U q", "(G p) U q"),
        ("p && q U r", "p && (q U r)"),
        ("p || q && r", "p || (q && r)"),
        ("p && q -> r", "(p && q) -> r"),
        ("p -> q <-> r", "(p -> q) <-> r"),
        ("!p U q", "(!p) U q"),
        ("X !p && q", "(X (!p)) && q"),
    ],
)
def test_operators_bind_as_documented(text: str, same: str) -> None:
    assert parse(text).formula == parse(same).formula


def test_predicates_between_operators_are_expressions_of_the_program() -> None:
    parsed = parse("G(P@CS && (x + 1) * 2 < 5 -> F P.r == 1)")
    x = Shared(variable_address(0))
    assert [atom.expr for atom in parsed.atoms] == [
        At(0, frozenset((1,))),
        Binary("<", Binary("*", Binary("+", x, Const(1)), Const(2)), Const(5)),
        Binary("==", RegisterOf(0, 0), Const(1)),
    ]


def test_two_spellings_of_a_predicate_are_one_atom() -> None:
    assert parse("F P@CS && G !P.CS").formula == all_of((eventually(P), always(Not(P))))


def test_a_definition_is_one_atom_however_long_it_is() -> None:
    parsed = parse("G inside", inside="P@CS or Q@U or x == 1")
    assert parsed.formula == always(P)
    here = (At(0, frozenset((1,))), At(1, frozenset((1,))), Binary("==", Shared(variable_address(0)), Const(1)))
    assert set(_operands(parsed.atoms[0].expr)) == set(_operands(disjunction(*here)))


def test_definitions_may_stand_inside_arithmetic() -> None:
    parsed = parse("F (cs + other > 1)", cs="P@CS", other="not Q@U or x == 1")
    assert parsed.atoms[0].expr == parse("F P@CS + (!Q@U || x == 1) > 1").atoms[0].expr


def test_negation_of_a_comparison_follows_c() -> None:
    assert parse("G !x == 1").atoms[0].expr == parse("G (!x) == 1").atoms[0].expr


def test_an_operator_letter_is_a_name_after_a_dot_or_at() -> None:
    assert parse("F Q@U").formula == parse("F Q.U").formula == eventually(P)


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("", Code.BAD_PROPERTY, ""),
        ("G", Code.BAD_PROPERTY, "G"),
        ("p U", Code.BAD_PROPERTY, "U"),
        ("p U q U r", Code.BAD_PROPERTY, "U"),
        ("p -> q -> r", Code.BAD_PROPERTY, "->"),
        ("G (p", Code.BAD_PROPERTY, "("),
        ("p)", Code.BAD_PROPERTY, ")"),
        ("(G p) + 1 > 0", Code.BAD_PROPERTY, "G"),
        ("p q", Code.BAD_PROPERTY, "p q"),
        ("G y == 1", Code.UNKNOWN_VARIABLE, "y"),
        ("F P@out", Code.UNKNOWN_LABEL, "out"),
        ("F Z@CS", Code.UNKNOWN_PROCESS, "Z"),
        ("x == 99999999999999999999", Code.TOO_LARGE, "99999999999999999999"),
        ("!" * 300 + "p", Code.TOO_DEEP, "!"),
        ("(" * 300 + "p" + ")" * 300, Code.TOO_DEEP, "("),
    ],
)
def test_a_mistake_is_placed_in_the_formula(text: str, code: Code, place: str) -> None:
    with pytest.raises(InputError) as error:
        parse(text)
    found = error.value.diagnostics[0]
    assert (found.code, found.at.span.text) == (code, place)


def test_every_unknown_name_is_reported() -> None:
    with pytest.raises(InputError) as error:
        parse("G (y == 1 -> F z == 2)")
    assert [d.at.span.text for d in error.value.diagnostics] == ["y", "z"]


def test_a_definition_must_not_be_temporal() -> None:
    with pytest.raises(InputError, match="predicate on states"):
        parse("G w", w="F x == 1")


def _operands(expr: object) -> list[object]:
    if isinstance(expr, Binary) and expr.op == "||":
        return [*_operands(expr.left), *_operands(expr.right)]
    return [expr]
