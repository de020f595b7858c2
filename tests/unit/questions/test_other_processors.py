"""Assembly of a processor without store buffers is refused by every verb that would run it on such a machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memfence
from memfence.api.explore import explore
from memfence.api.silicon import conform, reproduce
from memfence.api.simulate import simulate
from memfence.api.translate import translate
from memfence.diagnostics import InputError, render
from memfence.pipeline import load_text
from memfence.questions.conflicts import refuse_other_processors
from memfence.source import SourceText

TEXT = """AArch64 MP
{
0:X1=x; 0:X3=y;
1:X1=y; 1:X3=x;
}
 P0          | P1          ;
 MOV W0,#1   | LDR W0,[X1] ;
 STR W0,[X1] | DMB LD      ;
 DMB ST      | LDR W2,[X3] ;
 STR W0,[X3] |             ;
exists (1:X0=1 /\\ 1:X2=0)
"""
VERBS: dict[str, Callable[[str], Any]] = {
    "check": memfence.check,
    "fix": memfence.fix,
    "why": memfence.why,
    "compare": memfence.compare,
    "explore": explore,
    "simulate": simulate,
    "reproduce": reproduce,
    "translate": lambda text: translate(text, "promela"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_for_store_buffers_says_which_model_fits(verb: str) -> None:
    with pytest.raises(InputError) as raised:
        VERBS[verb](TEXT)
    shown = render(raised.value.diagnostics)
    assert "[MF121]" in shown
    assert "--model armv8" in shown


def test_conform_passes_such_a_test_over(tmp_path: Path) -> None:
    (tmp_path / "MP.litmus").write_text(TEXT)
    (one,) = conform([tmp_path])
    assert "store buffers" in one.refused


def test_the_model_of_its_processor_takes_it() -> None:
    program = load_text(SourceText("MP.litmus", TEXT))
    refuse_other_processors(program, "armv8")
    refuse_other_processors(program, "mine.cat")
    for other in ("rc11", "x86", "sc"):
        with pytest.raises(InputError):
            refuse_other_processors(program, other)


def test_assembly_for_x86_is_not_asked_about_under_other_processors() -> None:
    program = load_text(SourceText("SB.litmus", "X86 SB\n{ }\n P0 ;\n MOV [x],$1 ;\nexists (x=1)\n"))
    refuse_other_processors(program)
    refuse_other_processors(program, "x86")
    with pytest.raises(InputError):
        refuse_other_processors(program, "armv8")
