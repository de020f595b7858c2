"""Libraries count references without locked operations as long as there is one thread, and not from then on."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.tasks.answer import Verdict
from support.run_programs import run_text

HEAD = """
#include <atomic>
#include <cassert>
#include <future>
#include <memory>
#include <thread>
#include <utility>
struct Counted { std::atomic<int> &died; int value; ~Counted() { died++; } };
"""
BODIES = {
    "copy": """
    std::atomic<int> died{0};
    auto p = std::make_shared<Counted>(died, 1);
    std::thread t([q = p] { assert(q->value == 1); });
    p.reset();
    t.join();
    assert(died == 1);""",
    "weak pointer": """
    std::weak_ptr<int> w;
    {
        auto p = std::make_shared<int>(1);
        w = p;
        std::thread t([q = p] { assert(*q == 1); });
        p.reset();
        t.join();
    }
    assert(w.expired());""",
    "lock of a weak pointer": """
    auto p = std::make_shared<int>(1);
    std::weak_ptr<int> w = p;
    std::thread t([&w] { if (auto s = w.lock()) assert(*s == 1); });
    p.reset();
    t.join();
    assert(w.expired());""",
    "copies on both sides": """
    auto p = std::make_shared<int>(1);
    std::thread t([q = p] { auto r = q; assert(r.use_count() >= 2); });
    { auto r = p; assert(*r == 1); }
    t.join();
    assert(p.use_count() == 1);""",
    "promise": """
    std::promise<int> p;
    std::future<int> f = p.get_future();
    std::thread t([q = std::move(p)]() mutable { q.set_value(5); });
    assert(f.get() == 5);
    t.join();""",
}


@pytest.mark.parametrize("name", BODIES)
def test_counts_that_threads_share_stay_right(tmp_path: Path, name: str) -> None:
    result = run_text(tmp_path, f"{HEAD}int main()\n{{{BODIES[name]}\n}}\n", name="program.cpp", flags=("-std=c++20",))
    assert result.verdict is Verdict.HOLDS and result.counts.executions > 1
    assert result.races == () and result.leaks == ()


def test_the_last_of_two_owners_destroys_in_either_order(tmp_path: Path) -> None:
    """Whose turn it is depends on the schedule, and both are tried."""
    body = """
    std::atomic<int> died{0};
    std::atomic<bool> gone{false};
    auto p = std::make_shared<Counted>(died, 1);
    std::thread t([&gone, q = std::move(p)]() mutable { q.reset(); gone = true; });
    assert(FIRST gone);
    t.join();"""
    for first in ("", "!"):
        text = f"{HEAD}int main()\n{{{body.replace('FIRST', first)}\n}}\n"
        assert run_text(tmp_path, text, name="program.cpp", flags=("-std=c++20",)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("code", ["assert(__libc_single_threaded);", "create(); assert(!__libc_single_threaded);"])
def test_a_program_is_told_whether_it_has_created_a_thread(tmp_path: Path, code: str) -> None:
    text = f"""
#include <assert.h>
#include <pthread.h>
#include <sys/single_threaded.h>
static pthread_t t;
static void *one(void *unused) {{ assert(!__libc_single_threaded); return unused; }}
static void create(void) {{ pthread_create(&t, 0, one, 0); }}
static void *two(void *unused) {{ return unused; }}
int main(void)
{{
    {code}
    pthread_t u;
    pthread_create(&u, 0, two, 0);
    pthread_join(u, 0);
    if (t) pthread_join(t, 0);
}}
"""
    assert run_text(tmp_path, text).verdict is Verdict.HOLDS
