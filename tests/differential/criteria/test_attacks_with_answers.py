"""Robustness where the attacker sees what others do in answer to its walk: it reads twice, and branches on both values.

The others' steps in between happen after the attacker's first read, so that they cannot come before its delayed store.
"""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import strategies as st

from memfence.engines.native.attacks import AttackKind, explore_attacks
from memfence.engines.native.races import explore_races
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.questions import check
from memfence.source import SourceText
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FixVerdict
from memfence.synthesis.synthesise import fix_fences as fix
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.sampling import sampled
from twins import criteria as twin

Model = Literal["tso", "pso"]
MODELS: tuple[Model, ...] = ("tso", "pso")
KINDS = {"tso": AttackKind.ROBUSTNESS_TSO, "pso": AttackKind.ROBUSTNESS_PSO}

READS_TWICE = """\
byte x, y, w;
active proctype A() {
  byte a, b, c;
  y = 1;
  a = x;
  b = x;
  if
  :: a == 0 && b == 1 -> c = w
  :: else -> c = 2
  fi
}
active proctype H() { x = 1 }
active proctype Q() { byte d; w = 1; mfence(); d = y }
"""
STORES_AFTER_A_READ = """\
byte x, y, z;
active proctype A() {
  byte r;
  y = 1;
  r = x;
  if
  :: r == 0 -> z = 1
  :: else -> skip
  fi
}
active proctype Q() { byte s, t; x = 1; s = z; s == 1; t = y }
"""
WAITS_IN_VAIN = """\
byte x, y;
active proctype A() { byte r; x = 1; mfence(); r = y; r != 0; mfence() }
active proctype Q() { byte s; y = 1; s = x }
"""


def read(text: str) -> Program:
    return load_text(SourceText("drawn.pml", text))


@pytest.mark.parametrize(("text", "model"), [(READS_TWICE, "tso"), (READS_TWICE, "pso"), (STORES_AFTER_A_READ, "pso")])
def test_an_attack_that_needs_an_answer_is_found_and_fixed(text: str, model: Model) -> None:
    program = read(text)
    options = CheckOptions(model=model, criterion="robust")
    result = check(program, options)
    assert result.verdict is Verdict.VIOLATED
    assert result.trace is not None and not twin.is_acyclic(twin.history_of(result.trace))
    fixed = fix(program, FixOptions(model=model, criterion="robust"))
    assert fixed.verdict is FixVerdict.FIXED and fixed.chosen.count == 1 and fixed.patched is not None
    assert twin.is_robust(read(fixed.patched), model)


@pytest.mark.parametrize("model", MODELS)
def test_a_load_that_is_waited_for_in_vain_has_happened(model: Model) -> None:
    program = read(WAITS_IN_VAIN)
    assert not twin.is_robust(program, model)
    for reductions in (frozenset[str](), frozenset({"fuse"}), frozenset({"dead", "fuse"})):
        assert explore_attacks(program, KINDS[model], reductions=reductions).attacks
    assert explore_races(program, triangular=True).race is not None


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A process that stores, reads, and goes one way or another; one that answers; one that may close the chain.

    Mostly of the shape that needs an answer, with something else in every place now and then.
    """
    number = iter(range(100))
    watched, other = draw(st.sampled_from([("x", "z"), ("z", "x")]))

    def mostly(usual: str, *rare: str) -> str:
        return draw(st.sampled_from([usual] * 3 + list(rare))) if rare else usual

    def variable(usual: str) -> str:
        return mostly(usual, draw(st.sampled_from(["x", "y", "z"])))

    def load(usual: str) -> str:
        return f"r{next(number)} = {variable(usual)}"

    def store(usual: str) -> str:
        return f"{variable(usual)} = {mostly('1', '2')}"

    def access(usual: str) -> str:
        return draw(st.sampled_from([store, load]))(usual)

    def process(name: str, statements: list[str]) -> str:
        registers = "".join(f"byte r{n}; " for n in range(12))
        return f"active proctype {name}() {{ {registers} {'; '.join(statements)} }}\n"

    reads = [load(watched) for _ in range(draw(st.sampled_from([2, 2, 2, 1])))]
    values = [mostly("0", "1"), mostly("1", "0")]
    tests = " && ".join(f"{r.split(' = ')[0]} == {value}" for r, value in zip(reads, values, strict=False))
    attacker = [store("y"), *reads, f"if :: {tests} -> {access(other)} :: else -> skip fi"]
    answer = [store(watched)] if draw(st.booleans()) else [access(watched), access(other)]
    closer = [store(other), mostly("mfence()", "skip", "sfence()"), mostly("skip", f"({other} == 1)"), access("y")]
    return "byte x, y, z;\n" + process("A", attacker) + process("H", answer) + process("Q", closer)


def check_robustness(text: str) -> None:
    program = read(text)
    for model in MODELS:
        expected = twin.is_robust(program, model)
        for collect in (False, True):
            found = explore_attacks(program, KINDS[model], collect=collect)
            assert (not found.attacks) == expected, (model, collect)
            for attack in found.attacks:
                assert not twin.is_acyclic(twin.history_of(found.trace(attack)))


@sampled(quick=60, slow=1_500, text=texts())
def test_robustness_is_what_the_definition_says_where_others_answer(text: str) -> None:
    check_robustness(text)
