"""Threads, functions and heap blocks are called as the source calls them, in everything that a user reads."""

from __future__ import annotations

import json

import pytest

from memfence import pipeline
from memfence.program.ir import Program
from memfence.program.load_options import LoadOptions
from memfence.questions import check
from memfence.questions.models import check_models
from memfence.report.describe.check_data import check_object
from memfence.report.describe.check_text import render_text
from memfence.report.describe.models_text import answer_object, reason_text
from memfence.report.words.findings import finding_text
from memfence.source import SourceText
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

pytestmark = needs_clang


def loaded(text: str, path: str = "t.c") -> Program:
    return pipeline.load_text(SourceText(path, text), LoadOptions())


FREED = """\
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
typedef struct { int a; } record;
static _Atomic(struct node *) shared; static _Atomic(record *) renamed; static _Atomic(int *) number;
static struct { int first; void *_Atomic second; } unnamed;
static void *give(void *u) {
    struct node *n = malloc(sizeof *n); n->value = 1; shared = n;
    record *r = malloc(sizeof *r); r->a = 1; renamed = r;
    int *count = malloc(sizeof *count); *count = 1; number = count;
    unnamed.second = malloc(8);
    WAIT
    free(WHICH);
    return 0;
}
static void *take(void *u) {
    struct node *n = shared; record *r = renamed; int *i = number; char *c = unnamed.second;
    if (n && r && i && c) {
        USE;
    }
    return 0;
}
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, give, 0); pthread_create(&t, 0, take, 0);
    pthread_join(s, 0); pthread_join(t, 0);
    return 0;
}
"""
BLOCKS = {
    "by its struct": ("n", "n->value = 2", "`node#1` (allocated in line 9, freed in line 14)"),
    "by its new name": ("r", "r->a = 2", "`record#1` (allocated in line 10, freed in line 14)"),
    "by the variable that points to it": ("count", "*i = 2", "`count#1` (allocated in line 11, freed in line 14)"),
    "by where it is allocated": ("unnamed.second", "*c = 2", "`heap#1` (allocated in line 12, freed in line 14)"),
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_heap_block_is_named_with_the_places_of_its_life(kind: str) -> None:
    which, use, named = BLOCKS[kind]
    text = FREED.replace("WHICH", which).replace("USE", use).replace("    WAIT\n", "    \n")
    program = loaded(text)
    result = check(program, CheckOptions(model="tso", criterion="safety"))  # type: ignore[arg-type]
    assert finding_text(result) == f"use of freed memory: {named} in `{use}` (line 20)"
    answer = check_models(program, ["rc11"], CheckOptions()).answers[0]
    assert reason_text(answer).startswith(f"use of freed memory: {named} in `{use}` (line 20)")


ALONE = """\
#include <pthread.h>
#include <stdlib.h>
static void *one(void *u) {
    int *mine = malloc(sizeof *mine);
    *mine = 1;
    free(mine);
    USE;
    return 0;
}
int main(void) { pthread_t s; pthread_create(&s, 0, one, 0); pthread_join(s, 0); return 0; }
"""


@pytest.mark.parametrize("use, kind", [("*mine = 2", "use of freed memory"), ("free(mine)", "double free")])
def test_a_block_of_one_thread_has_places_too(use: str, kind: str) -> None:
    found = finding_text(check(loaded(ALONE.replace("USE", use)), CheckOptions(model="sc", criterion="safety")))  # type: ignore[arg-type]
    freed = "" if kind == "double free" else ", freed in line 6"  # it is freed in two lines
    assert found == f"{kind}: `mine#1` (allocated in line 4{freed}) in `{use}` (line 7)"


CPP = """\
#include <atomic>
#include <cassert>
#include <pthread.h>
#include <thread>
#include <vector>
namespace app {
struct Node { int value; Node *next; explicit Node(int v) : value(v), next(nullptr) {} };
static std::atomic<Node *> head{nullptr};
static void publish(int v) { head.store(new Node(v), std::memory_order_release); }
static int sum(int limit) { int total = 0; for (int i = 0; i < limit; i++) total += head.load() ? 1 : 0; return total; }
static void *runs(void *) { assert(sum(1) == 0); return nullptr; }
}
static std::atomic<bool> seen{false};
int main() {
    std::thread producer([] { app::publish(1); });
    std::thread consumer([] { auto *n = app::head.load(std::memory_order_acquire); seen = n && n->value == 1; });
    pthread_t t;
    pthread_create(&t, nullptr, app::runs, nullptr);
    producer.join(); consumer.join(); pthread_join(t, nullptr);
}
"""


def test_threads_of_cpp_are_named_by_their_variable_or_function() -> None:
    program = loaded(CPP, "t.cpp")
    assert [process.name for process in program.processes] == ["main", "producer", "consumer", "runs"]


def test_a_block_of_new_is_named_by_its_class() -> None:
    names = [variable.name for variable in loaded(CPP, "t.cpp").variables if not variable.is_internal]
    assert "Node#1.value" in names


def test_nothing_that_a_user_reads_has_a_mangled_name() -> None:
    program = loaded(CPP, "t.cpp")
    result = check(program, CheckOptions(model="tso", criterion="safety"))  # type: ignore[arg-type]
    answers = check_models(program, ["rc11", "armv8"], CheckOptions()).answers
    shown = [render_text(result), json.dumps(check_object(result))]
    shown += [json.dumps(answer_object(answer)) for answer in answers]
    assert result.trace is not None
    assert not any("_Z" in text for text in shown)
    assert all("_Z" not in place.name for process in program.processes for place in process.locations)


def test_the_inside_of_a_thread_object_is_not_shown() -> None:
    program = loaded(CPP, "t.cpp")
    text = render_text(check(program, CheckOptions(model="tso", criterion="safety")))  # type: ignore[arg-type]
    assert "__thread_struct" not in text and "unique_ptr" not in text
    assert any(variable.is_internal for variable in program.variables)
