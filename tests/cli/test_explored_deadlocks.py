"""`memfence explore` looks for deadlocks where the program states that there is none, as C does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.c_compiler import needs_clang
from support.command_line import memfence

HEAD = "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, k = PTHREAD_MUTEX_INITIALIZER;\n"
LOCK, UNLOCK = "pthread_mutex_lock(&{});", "pthread_mutex_unlock(&{});"


def both(first: str, second: str) -> str:
    return "".join([*map(LOCK.format, (first, second)), *map(UNLOCK.format, (second, first))])


def program(one: str, other: str) -> str:
    threads = f"static void *a(void *u) {{ {one} return u; }}\nstatic void *b(void *u) {{ {other} return u; }}\n"
    calls = "pthread_create(&t, 0, a, 0); pthread_create(&u, 0, b, 0); pthread_join(t, 0); pthread_join(u, 0);"
    return f"{HEAD}{threads}int main(void) {{ pthread_t t, u; {calls} return 0; }}\n"


@needs_clang
@pytest.mark.parametrize(
    ("one", "other", "code"),
    [(both("m", "k"), both("k", "m"), 1), (both("m", "k"), both("m", "k"), 0), (LOCK.format("m") * 2, "", 1)],
)
def test_a_deadlock_is_a_finding(one: str, other: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(program(one, other))
    done = memfence("explore", "p.c", "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == code
    assert [one["kind"] for one in found["findings"]] == ["deadlock"] * code
    assert memfence("check", "p.c", "--model", "sc", "-q", folder=tmp_path).returncode == code


@needs_clang
def test_a_deadlock_is_replayed_and_no_other_run_is_one(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(program(both("m", "k"), both("k", "m")))
    memfence("explore", "p.c", "--save-schedule", "s.json", "-q", folder=tmp_path)
    assert memfence("explore", "p.c", "--replay", "s.json", "-q", folder=tmp_path).returncode == 1
    schedule = json.loads((tmp_path / "s.json").read_text())
    inner = schedule.get("findings", [schedule])[0]
    inner = inner.get("schedule", inner)
    inner["steps"].pop()
    (tmp_path / "shorter.json").write_text(json.dumps(schedule))
    done = memfence("explore", "p.c", "--replay", "shorter.json", folder=tmp_path)
    assert done.returncode == 3 and "some process can go on" in done.stderr


@needs_clang
def test_where_only_assertions_count_it_is_none(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(program(LOCK.format("m") * 2, ""))
    done = memfence("explore", "p.c", "--assertions-only", folder=tmp_path)
    assert done.returncode == 0 and "executions end with a process blocked" in done.stdout
