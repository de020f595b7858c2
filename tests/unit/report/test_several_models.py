"""Reports of a check under several models: text, JSON, exit codes."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from memfence import pipeline
from memfence.questions.models import check_models
from memfence.report.describe.models_page import models_page
from memfence.report.describe.models_text import bound_text, models_object, reason_text, render_models
from memfence.report.schemas import json_schema, schema_names
from memfence.source import SourceText
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import Complete, Cut
from memfence.tasks.limits import Cost
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import ModelAnswer, ModelsResult
from support.c_compiler import needs_clang
from support.command_line import memfence

C = Path(__file__).resolve().parents[3] / "examples" / "c"
SPIN = """
active proctype P() { byte n = 0; do :: n < 200 -> n++ :: x == 1 -> break od }
active proctype Q() { x = 1 }
"""


@needs_clang
def test_a_bound_that_is_not_of_loops_is_told_by_its_own_name(tmp_path: Path) -> None:
    text = """
        #include <pthread.h>
        #include <stdlib.h>
        static _Atomic int x;
        static void *f(void *u) { if (rand() > 5) x = 1; return u; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }
    """
    (tmp_path / "draws.c").write_text(text)
    done = memfence("check", tmp_path / "draws.c", "--model", "rc11", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 4
    assert (found["models"][0]["verdict"], found["models"][0]["unrolled"]) == ("holds_up_to", 1)
    assert "loops" not in found["models"][0]["reason"] and "nondeterministic integers" in found["notes"][0]


@needs_clang
def test_no_bound_is_told_where_no_loop_is_cut() -> None:
    """An execution that goes wrong needs none, and a program without loops has none."""
    text = """
        #include <pthread.h>
        #include <assert.h>
        static _Atomic int x; static _Atomic(_Atomic int *) p;
        static void *f(void *u) { x = 1; p = &x; return u; }
        int main(void) {
            pthread_t t; pthread_create(&t, 0, f, 0);
            _Atomic int *q = __c11_atomic_load(&p, 0);
            if (q) assert(__c11_atomic_load(q, 0) == 1);
            pthread_join(t, 0); return 0;
        }
    """
    program = pipeline.load_text(SourceText("depends.c", text))
    rc11, armv8 = check_models(program, ("rc11", "armv8"), CheckOptions()).answers
    assert (rc11.verdict, bound_text(rc11)) == (Verdict.VIOLATED, "")
    assert (armv8.verdict, bound_text(armv8)) == (Verdict.UNKNOWN, "all")


def schema_errors(value: Any) -> list[str]:
    jsonschema = pytest.importorskip("jsonschema")
    store = {json_schema(other)["$id"]: json_schema(other) for other in schema_names()}
    schema = json_schema("check_models")
    with warnings.catch_warnings(action="ignore"):
        resolver = jsonschema.RefResolver.from_schema(schema, store=store)
    validator = jsonschema.Draft202012Validator(schema, resolver=resolver)
    return [error.message for error in validator.iter_errors(json.loads(json.dumps(value)))]


def asked(file: str, *models: str) -> ModelsResult:
    return check_models(pipeline.load(C / file), models, CheckOptions())


@needs_clang
@pytest.mark.parametrize("file", ["onetbb_mutex_unlock.c", "message_passing.c", "sober_lost_wakeup.c"])
def test_the_object_follows_its_schema(file: str) -> None:
    assert schema_errors(models_object(asked(file, "x86", "rc11", "armv8"))) == []


@needs_clang
def test_the_text_names_places_sources_and_the_cycle() -> None:
    text = render_models(asked("onetbb_mutex_unlock.c", "armv8"), width=100)
    assert "assert(!sleeps || woken) fails (line 38)" in text
    assert "│ line 18 │ waiters = 0 (relaxed)" in text
    assert "x86 forbids this (global): 4 -po-> 5 -fr-> 7 -po-> 8 -fr-> 4" in text


def test_a_bound_is_always_said() -> None:
    program = pipeline.load_text(SourceText("spin.pml", "byte x;" + SPIN))
    bounded = ModelAnswer(program, "rc11", Answer(Verdict.HOLDS_UP_TO, Cut(4), "axiomatic", Cost()))
    assert "unrolled 4 times" in reason_text(bounded)
    text = render_models(ModelsResult(program, (bounded,), (), (), 0.0), width=100)
    assert "NO VIOLATION" in text and "HOLDS" not in text


def test_the_worst_verdict_counts() -> None:
    program = pipeline.load_text(SourceText("spin.pml", "byte x;" + SPIN))
    found = ((Verdict.HOLDS, Complete(1)), (Verdict.HOLDS_UP_TO, Cut(1)))
    good, cut = (ModelAnswer(program, "m", Answer(v, e, "axiomatic", Cost())) for v, e in found)
    assert ModelsResult(program, (good, cut), (), (), 0.0).verdict is Verdict.HOLDS_UP_TO


@needs_clang
def test_the_command_prints_one_table_and_the_exit_code_is_the_worst() -> None:
    done = memfence("check", str(C / "onetbb_mutex_unlock.c"), "--model", "x86,rc11", "--quiet")
    assert done.returncode == 1
    assert "x86   │ HOLDS" in done.stdout and "rc11  │ VIOLATED" in done.stdout


@needs_clang
def test_the_page_draws_the_execution(tmp_path: Path) -> None:
    page = models_page(asked("onetbb_mutex_unlock.c", "armv8"))
    drawing = ElementTree.fromstring(page.plots[0])
    labels = [text.text for text in drawing.iter("text") if "cycle-label" in text.get("class", "")]
    assert {"po", "rf", "fr", "ctrl"} <= set(labels)
    assert len(list(drawing.iter("rect"))) == 9
    assert page.tone == "bad"
    assert (
        memfence("check", str(C / "seqlock.c"), "--model", "rc11", "--html", str(tmp_path / "a.html")).returncode == 0
    )
    assert "1 of 1 hold" in (tmp_path / "a.html").read_text()


@pytest.mark.parametrize("model", ["rc11", "armv8"])
def test_a_language_without_orders_means_nothing_under_models_of_orders(model: str) -> None:
    program = pipeline.load_text(SourceText("spin.pml", "byte x;" + SPIN))
    answer = check_models(program, (model,), CheckOptions()).answers[0]
    assert answer.verdict is Verdict.UNKNOWN
    assert reason_text(answer) == "programs in this language mean nothing under this model"
