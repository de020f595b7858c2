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
from memfence.report.words.vacuity import models_warnings
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from support.c_compiler import needs_clang
from support.command_line import memfence as command

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


LOCKED = """
#include <pthread.h>
static int lock, count;
static int exchange(int *at, int value)
{
    __asm__ __volatile__("xchgl %0, %1" : "+r"(value), "+m"(*at) : : "memory");
    return value;
}
static void *work(void *unused)
{
    while (exchange(&lock, 1)) __asm__ __volatile__("pause");
    count++;
    exchange(&lock, 0);
    return unused;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
    return count != 2;
}
"""


@needs_clang
@pytest.mark.parametrize(
    ("models", "warned"),
    [("x86", ""), ("sc,tso,pso", ""), ("x86,rc11", "rc11"), ("rc11,armv8,riscv", "rc11, armv8, riscv")],
)
def test_x86_assembly_in_a_question_about_another_processor_is_a_warning(
    tmp_path: Path, models: str, warned: str
) -> None:
    """It names the places that order or access memory; `pause` is none."""
    path = tmp_path / "lock.c"
    path.write_text(LOCKED)
    result = memfence.check_models(path, models, timeout_seconds=60)
    found = [warning for warning in models_warnings(result) if warning.code.id == "MF211"]
    assert [f"under {warned} other code" in one.message for one in found] == [True] * bool(warned)
    assert [one.at.span.source.line_of(one.at.span.start) for one in found] == [6] * bool(warned)
    assert [len(one.related) for one in found] == [0] * bool(warned)
    assert not [one for one in result.answers if one.verdict is Verdict.VIOLATED]


@needs_clang
def test_nothing_is_said_of_c11_where_there_is_assembly(tmp_path: Path) -> None:
    path = tmp_path / "lock.c"
    path.write_text(LOCKED)
    assert "C11 (rc11) says" not in command("check", path).stdout
    path.write_text(
        LOCKED.replace(
            '__asm__ __volatile__("xchgl %0, %1" : "+r"(value), "+m"(*at) : : "memory");',
            "value = __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);",
        )
    )
    assert "C11 (rc11) says" in command("check", path).stdout
