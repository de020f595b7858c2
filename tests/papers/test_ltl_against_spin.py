"""LTL automata against those of `spin -f`, where Spin is installed: they accept the same words."""

from __future__ import annotations

import re
import shutil
import subprocess
from random import Random

import pytest

from memfence.questions.ltl.automaton import Automaton, Edge
from memfence.questions.ltl.evaluate import accepts
from memfence.questions.ltl.formula import (
    And,
    Atom,
    Formula,
    Next,
    Not,
    Or,
    Release,
    Truth,
    Until,
    children,
    formula_text,
    is_stutter_invariant,
    normal_form,
)
from memfence.questions.ltl.translate import translate
from support.generators.ltl_words import random_formula, random_lasso

SPIN = shutil.which("spin")
pytestmark = pytest.mark.skipif(SPIN is None, reason="spin is not installed")


def spin_text(formula: Formula) -> str:
    """The formula as Spin reads it, with all parentheses."""
    match formula:
        case Truth(value):
            return str(value).lower()
        case Atom(number):
            return f"p{number}"
        case Not(operand):
            return f"!({spin_text(operand)})"
        case And() | Or():
            sign = " && " if isinstance(formula, And) else " || "
            return f"({sign.join(spin_text(part) for part in children(formula))})"
        case Until(Truth(True), right):
            return f"<> ({spin_text(right)})"
        case Release(Truth(False), right):
            return f"[] ({spin_text(right)})"
        case Until(left, right):
            return f"(({spin_text(left)}) U ({spin_text(right)}))"
        case Release(left, right):
            return f"(({spin_text(left)}) V ({spin_text(right)}))"
        case Next():
            raise AssertionError("Spin may be built without X")


def spin_automaton(formula: Formula) -> Automaton:
    """The never claim of `spin -f`: a state accepts if its label says so, and an edge if it leaves such a state."""
    assert SPIN is not None
    run = subprocess.run([SPIN, "-f", spin_text(formula)], capture_output=True, text=True, timeout=20, check=True)
    number: dict[str, int] = {"accept_all": 0}
    accepting = {0}
    leaving: list[list[tuple[str, str]]] = [[("(1)", "accept_all")]]
    before = ""
    for line in run.stdout.splitlines():
        if label := re.match(r"(\w+):", line):
            if not before.endswith(":") and label[1] not in number:
                leaving.append([])
            number.setdefault(label[1], len(leaving) - 1)  # two labels in a row name one state
            accepting |= {number[label[1]]} if label[1].startswith("accept") else set()
        elif edge := re.search(r":: (?:atomic \{ )?(.+?) -> (?:goto (\w+)|assert)", line):
            leaving[-1].append((edge[1], edge[2] or "accept_all"))
        before = line
    edges = tuple(
        tuple(Edge(number[to], *cube, int(n in accepting)) for guard, to in found for cube in cubes(guard))
        for n, found in enumerate(leaving)
    )
    initial = next(n for label, n in number.items() if label.endswith("init"))
    return Automaton(initial, edges, 1)


def cubes(guard: str) -> list[tuple[int, int]]:
    """Every valuation of the two atoms that satisfies a guard of Spin's, as masks of true and of false atoms."""
    for spin, python in {"!": " not ", "&&": " and ", "||": " or ", "true": "1", "false": "0"}.items():
        guard = guard.replace(spin, python)
    values = [{"p0": bool(word & 1), "p1": bool(word & 2)} for word in range(4)]
    return [(word, 3 - word) for word in range(4) if eval(guard.strip(), values[word])]


@pytest.mark.parametrize("seed", range(40))
def test_spin_accepts_the_same_words(seed: int) -> None:
    random = Random(f"spin {seed}")
    formula = random_formula(random, random.randint(3, 7), atoms=2)
    while not is_stutter_invariant(formula):
        formula = random_formula(random, random.randint(3, 7), atoms=2)
    theirs, ours = spin_automaton(normal_form(formula)), translate(formula)
    for _ in range(30):
        lasso = random_lasso(random, atoms=2)
        assert accepts(theirs, lasso) == accepts(ours, lasso), f"{formula_text(formula)} on {lasso}"
