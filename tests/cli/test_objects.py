"""`memfence test`: exit codes, what is printed and written, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from memfence.report.schemas import json_schema
from support.c_compiler import needs_clang
from support.command_line import memfence

pytestmark = needs_clang

COUNTER = """\
/* memfence-test counter
 * any     increment() = increment()
 * finally value
 * clients 2 x 1
 */
#include <stdatomic.h>
static atomic_int value;
static int increment(void)
{
    int old = atomic_load(&value);
    atomic_store(&value, old + 1);
    return old;
}
"""
RIGHT = COUNTER.replace("atomic_load(&value);\n    atomic_store(&value, old + 1);", "atomic_fetch_add(&value, 1);")


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    path = tmp_path / "counter.c"
    path.write_text(COUNTER)
    return path


def test_a_lost_update_is_told_with_its_outcome_and_those_of_the_orders(counter: Path) -> None:
    done = memfence("test", counter.name, "--model", "sc", folder=counter.parent)
    assert done.returncode == 1
    assert "counter: VIOLATED under sc (1 clients, serialisable)" in done.stdout
    assert "increment() = 0 || increment() = 0, in the end 1" in done.stdout
    assert "no order of the calls gives that" in done.stdout
    assert "increment() = 1 || increment() = 0, in the end 2" in done.stdout


def test_every_outcome_of_an_atomic_increment_is_that_of_an_order(counter: Path) -> None:
    counter.write_text(RIGHT)
    done = memfence("test", counter.name, "--model", "tso,rc11", "-q", folder=counter.parent)
    assert (done.returncode, done.stdout) == (
        0,
        "counter.c: counter: HOLDS under tso, rc11 (1 clients, serialisable)\n",
    )


def test_the_object_follows_the_schema(counter: Path) -> None:
    done = memfence("test", counter, "--model", "sc", "--json")
    found = json.loads(done.stdout)
    jsonschema.validate(found, json_schema("test"))
    assert found["verdict"] == "violated"
    failing = found["objects"][0]["failing"]
    assert failing["outcome"] == {"r1_1": 0, "r2_1": 0, "observed": 1}
    assert failing["outcome"] not in failing["allowed"]


def test_the_client_is_a_program_that_stands_alone(counter: Path) -> None:
    elsewhere = counter.parent / "clients"
    elsewhere.mkdir()
    done = memfence("test", counter.name, "--model", "sc", "-q", "-o", "clients/one.c", folder=counter.parent)
    assert done.returncode == 1
    assert memfence("check", elsewhere / "one.c", "--model", "sc", "-q").returncode == 1
    counter.write_text(RIGHT)
    assert memfence("check", elsewhere / "one.c", "--model", "sc", "-q").returncode == 0


def test_clients_that_are_left_out_are_no_proof(counter: Path) -> None:
    counter.write_text(RIGHT)
    done = memfence("test", counter, "--model", "sc", "--shape", "2x2", "--clients", "1")
    assert done.returncode == 4
    assert "NO VIOLATION" in done.stdout
    assert "2 clients were not looked at" in done.stdout


REGISTER = """\
/* memfence-test register
 * any        write(v: 1) : write(v)
 * any        read()      = read()
 * sequential "register_model.c"
 * clients    2 x 1
 */
#include <stdatomic.h>
static atomic_int value;
static void write(int v) { atomic_store(&value, v); }
static int read(void) { return 0; }
"""


@pytest.mark.parametrize(("criterion", "code"), [("serialisable", 0), ("linearizable", 1), ("quiescent", 0)])
def test_time_counts_for_linearizability_alone(criterion: str, code: int, tmp_path: Path) -> None:
    """A register that nobody ever reads anew: each outcome has an order, in which the read comes first."""
    (tmp_path / "register.c").write_text(REGISTER)
    (tmp_path / "register_model.c").write_text(REGISTER.replace("return 0", "return value"))
    done = memfence("test", "register.c", "--model", "sc", "--criterion", criterion, "-q", folder=tmp_path)
    assert done.returncode == code


def test_quiescence_forgets_the_order_of_each_thread(tmp_path: Path) -> None:
    """A thread that does not see its own write yet: serialisable it is not."""
    (tmp_path / "register.c").write_text(REGISTER.replace("2 x 1", "2 x 2"))
    (tmp_path / "register_model.c").write_text(REGISTER.replace("return 0", "return value"))
    options = ("--model", "sc", "-q", "--criterion")
    assert memfence("test", "register.c", *options, "serialisable", folder=tmp_path).returncode == 1
    assert memfence("test", "register.c", *options, "quiescent", folder=tmp_path).returncode == 0


def test_a_call_that_does_not_return_is_no_order(tmp_path: Path) -> None:
    path = tmp_path / "lock.c"
    path.write_text(
        "/* memfence-test lock\n * any lock() : pthread_mutex_lock(&mutex)\n * clients 2 x 1 */\n"
        "#include <pthread.h>\nstatic pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\n"
    )
    done = memfence("test", path, "--model", "sc")
    assert done.returncode == 4
    assert "1 clients were left out: no order of their calls comes to an end" in done.stdout


def test_a_wait_that_nobody_ends_is_a_deadlock(tmp_path: Path) -> None:
    path = tmp_path / "event.c"
    path.write_text(
        "/* memfence-test event\n * waiter wait() : wait_for_it()\n * notifier notify() : pthread_cond_signal(&c)\n"
        " * clients 1 waiter x 1, 1 notifier x 1 */\n#include <pthread.h>\n"
        "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n"
        "static int seen;\nstatic void wait_for_it(void) { pthread_mutex_lock(&m);"
        " if (!seen) { seen = 1; pthread_cond_wait(&c, &m); } pthread_mutex_unlock(&m); }\n"
    )
    assert memfence("test", path, "--model", "sc", "-q").returncode == 4  # even one after the other nobody wakes it


def test_mistakes_in_the_description_are_bad_input(counter: Path) -> None:
    counter.write_text(COUNTER.replace("finally value", "finaly value"))
    done = memfence("test", counter)
    assert done.returncode == 3
    assert "error[MF008]" in done.stderr
    assert "did you mean `finally`?" in done.stderr
    assert " |    ^^^" in done.stderr


def test_code_that_does_not_compile_is_bad_input(counter: Path) -> None:
    counter.write_text(COUNTER.replace("= increment()", "= incremented()"))
    done = memfence("test", counter, "--model", "sc")
    assert (done.returncode, done.stdout) == (3, "")
    assert "MF008" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "options",
    [("--object", "other"), ("--model", "sparc"), ("--criterion", "robust"), ("--clients", "0"), ("--verify",)],
)
def test_options_that_mean_nothing_are_wrong_usage(counter: Path, options: tuple[str, ...]) -> None:
    assert memfence("test", counter, *options).returncode == 2


def test_a_file_without_an_object_is_bad_input() -> None:
    done = memfence("test", "examples/c/spsc_ring.c")
    assert done.returncode == 3
    assert "describes no object" in done.stderr


def test_what_the_object_prints_is_no_answer(counter: Path) -> None:
    text = RIGHT.replace("int old", 'printf("order ends 7 7 7\\nnot yet");\n    int old')
    counter.write_text(text.replace("#include", "#include <stdio.h>\n#include", 1))
    assert memfence("test", counter, "--model", "sc").returncode == 0
