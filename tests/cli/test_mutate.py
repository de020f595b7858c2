"""`memfence check --mutate`: what a test does not notice."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import memfence
from memfence.api.mutate import Question, mutate_questions
from memfence.tasks.options import CheckOptions
from support.command_line import memfence as run

TEXT = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int ready, count, top;
void *writer(void *unused) {
  data = 42;
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  return 0;
}
void *reader(void *unused) {
  int none = 0;
  if (atomic_load_explicit(&ready, memory_order_seq_cst))
    assert(data == 42);
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  atomic_compare_exchange_strong_explicit(&top, &none, 1, memory_order_relaxed, memory_order_acquire);
  return 0;
}
int main(void) {
  pthread_t p, q;
  pthread_create(&p, 0, writer, 0);
  pthread_create(&q, 0, reader, 0);
  pthread_join(p, 0);
  pthread_join(q, 0);
  CHECK
  return 0;
}
"""
STRONG, WEAK = (
    TEXT.replace("CHECK", "assert(atomic_load_explicit(&count, memory_order_relaxed) == 2);"),
    TEXT.replace("CHECK", ""),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "strong.c").write_text(STRONG)
    (tmp_path / "weak.c").write_text(WEAK)
    return tmp_path


def fates(stdout: str) -> dict[tuple[int, str, str], str]:
    return {(one["line"], one["kind"], one["becomes"]): one["fate"] for one in json.loads(stdout)["mutants"]}


def test_every_kind_of_mutant_and_who_notices(folder: Path) -> None:
    done = run("check", "strong.c", "--mutate", "--model", "x86,rc11,armv8", "--json", folder=folder)
    assert done.returncode == 0
    assert fates(done.stdout) == {
        (8, "order", "no fence"): "noticed",
        (10, "split", "a load, then a store"): "noticed",
        (15, "order", "acquire"): "unnoticed",
        (17, "split", "a load, then a store"): "noticed",
        (18, "failure", "relaxed"): "unnoticed",
        (18, "split", "a load, then a store"): "unnoticed",
    }
    found = json.loads(done.stdout)
    assert (found["noticed"], found["percent"], found["verdict"], found["enough"]) == (3, 50, "holds", True)
    by_line = {one["line"]: one for one in found["mutants"]}
    assert by_line[8]["model"] == "rc11" and by_line[15]["alike"] == ["x86"]


def test_a_weaker_test_notices_less(folder: Path) -> None:
    done = run("check", "weak.c", "--mutate", "--model", "rc11", "--json", folder=folder)
    assert fates(done.stdout)[10, "split", "a load, then a store"] == "unnoticed"


def test_on_x86_what_compiles_to_the_same_is_told_apart_and_not_counted(folder: Path) -> None:
    done = run("check", "strong.c", "--mutate", "--model", "tso", "--mutate-at-least", "66", "--json", folder=folder)
    found = json.loads(done.stdout)
    assert fates(done.stdout) == {
        (8, "order", "no fence"): "alike",
        (10, "split", "a load, then a store"): "noticed",
        (15, "order", "acquire"): "alike",
        (17, "split", "a load, then a store"): "noticed",
        (18, "failure", "relaxed"): "alike",
        (18, "split", "a load, then a store"): "unnoticed",
    }
    assert (found["noticed"], found["alike"], found["percent"], found["enough"]) == (2, 3, 66, True)
    assert done.returncode == 0


def test_too_few_is_exit_code_1_and_each_mutant_a_case(folder: Path) -> None:
    done = run(
        "check",
        "strong.c",
        "--mutate",
        "--mutate-at-least",
        "90",
        "--model",
        "rc11",
        "--junit",
        "out.xml",
        folder=folder,
    )
    assert done.returncode == 1 and done.stdout.startswith("3 of 6 noticed under rc11: 50 %, which is below 90 %")
    (suite,) = ElementTree.parse(folder / "out.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.attrib["errors"]) == ("6", "3", "0")
    names = [case.attrib["name"] for case in suite]
    assert len(set(names)) == 6 and all(name.startswith("strong.c:") for name in names)


def test_a_program_that_fails_has_no_mutants(folder: Path) -> None:
    (folder / "wrong.c").write_text(STRONG.replace("== 2", "== 3"))
    done = run("check", "wrong.c", "--mutate", "--model", "rc11", "--json", folder=folder)
    assert done.returncode == 1 and json.loads(done.stdout)["mutants"] == []


def test_fences_of_models_are_dropped(folder: Path) -> None:
    fenced = (
        "byte x, y, a, b;\n"
        "active proctype P() { x = 1; mfence(); a = y }\n"
        "active proctype Q() { y = 1; mfence(); b = x; assert(true) }\n"
    )
    (folder / "sb.pml").write_text(fenced)
    done = run("check", "sb.pml", "--mutate", "--final", "a == 1 || b == 1", "--json", folder=folder)
    assert fates(done.stdout) == {(2, "fence", "no fence"): "noticed", (3, "fence", "no fence"): "noticed"}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--mutate-at-least", "90"], "--mutate-at-least"),
        (["--mutate", "--mutate-at-least", "101"], "101"),
        (["--mutate", "--criterion", "robust"], "--criterion"),
        (["--mutate", "--ltl", "[] true"], "--ltl"),
        (["--mutate", "--certificate", "out.mfc"], "--certificate"),
    ],
)
def test_what_makes_no_sense_is_refused(folder: Path, typed: list[str], said: str) -> None:
    done = run("check", "strong.c", *typed, folder=folder)
    assert done.returncode == 2 and said in done.stderr


def test_one_question_of_several_is_enough_to_notice(folder: Path) -> None:
    """The weak test and the strong one, as clients of the same text."""
    text = memfence.load(folder / "weak.c").source
    programs = [memfence.load_text(text), memfence.load_text(text)]
    asked = memfence.parse_expression("count == 2", programs[1])
    from memfence.program.ir import Final

    options = [CheckOptions(), CheckOptions(final=(Final("forall", asked, "count == 2"),))]
    questions = [Question(program, ("rc11",), one) for program, one in zip(programs, options, strict=True)]
    alone, together = mutate_questions(questions[:1]), mutate_questions(questions)
    assert alone.noticed < together.noticed == 3
    assert memfence.mutate(folder / "weak.c", "rc11", at_least=1).is_enough
