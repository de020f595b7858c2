"""Several models within one time limit: what was answered in time stays."""

from __future__ import annotations

import pytest

from memfence import pipeline
from memfence.deadline import TimeUp
from memfence.questions import models
from memfence.source import SourceText
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.options import CheckOptions
from memfence.tasks.task import Task
from support.c_compiler import needs_clang

PROGRAM = """C fails
{ }
P0 (atomic_int *x) { int r = 0; atomic_store_explicit(x, 1, memory_order_relaxed); }
exists (x=1)
"""


def test_models_that_were_answered_before_the_time_was_up_keep_their_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    decide = models.decide

    def too_slow_for_armv8(task: Task, *engine: str) -> Answer:
        if task.model.name == "armv8":
            raise TimeUp(1)
        return decide(task, *engine)

    monkeypatch.setattr(models, "decide", too_slow_for_armv8)
    program = pipeline.load_text(SourceText("fails.litmus", PROGRAM))
    result = models.check_models(program, ("rc11", "armv8", "x86"), CheckOptions())
    assert [answer.verdict for answer in result.answers] == [Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.UNKNOWN]
    assert result.verdict is Verdict.VIOLATED


OWN_LOCK = """
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static void *one(void *u) { pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m); return u; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, one, 0);
    int seen = 0;
    while (!seen) {
        pthread_mutex_lock(&own); pthread_mutex_lock(&m);
        seen = ready;
        pthread_mutex_unlock(&m); pthread_mutex_unlock(&own);
    }
    pthread_join(t, 0);
    assert(seen == 1);
}
"""


@needs_clang
def test_locks_of_one_thread_are_no_fences_in_proofs_for_any_loops() -> None:
    program = pipeline.load_text(SourceText("own.c", OWN_LOCK))
    (answer,) = models.check_models(program, ("rc11",), CheckOptions(timeout_seconds=20)).answers
    assert answer.verdict in (Verdict.HOLDS, Verdict.HOLDS_UP_TO)
