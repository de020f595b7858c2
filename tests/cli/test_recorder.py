"""The recorder for C and C++ writes executions that `memfence monitor` reads, whatever the program does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memfence.questions.monitor import MonitorResult, monitor
from memfence.tasks.answer import Verdict
from support.command_line import memfence

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "record"
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pthread", f"-I{FOLDER}")
C = [name for name in ("gcc", "clang") if shutil.which(name)]
CXX = [name for name in ("g++", "clang++") if shutil.which(name)]
RECORDED = ("-DMEMFENCE_RECORD",)

EVERYTHING = r"""
#include "memfence_recorder.h"
static atomic_int word, ready;
static int plain;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void* other(void* argument) {
  MEMFENCE_LOCK(&mutex);
  MEMFENCE_WRITE(plain, MEMFENCE_READ(plain) + *(int*)argument);
  MEMFENCE_STORE(&ready, MEMFENCE_LOAD(&ready, memory_order_relaxed) + 1, memory_order_release);
  MEMFENCE_SIGNAL(&condition);
  MEMFENCE_UNLOCK(&mutex);
  pthread_exit(NULL);
}
int main(void) {
  int one = 1, expected = 7;
  pthread_t thread;
  MEMFENCE_NAME(&word);
  MEMFENCE_STORE(&word, 1, memory_order_seq_cst);
  int seen = MEMFENCE_EXCHANGE(&word, 2);
  seen += MEMFENCE_FETCH_ADD(&word, 3);
  if (MEMFENCE_COMPARE_EXCHANGE(&word, &expected, 9) || expected != 5) return 2;
  if (!MEMFENCE_COMPARE_EXCHANGE(&word, &expected, 9)) return 3;
  MEMFENCE_FENCE(memory_order_seq_cst);
  MEMFENCE_FENCE(memory_order_acquire);
  if (MEMFENCE_CREATE(&thread, other, &one) != 0) return 4;
  MEMFENCE_LOCK(&mutex);
  while (MEMFENCE_LOAD(&ready, memory_order_acquire) == 0) MEMFENCE_WAIT(&condition, &mutex);
  seen += MEMFENCE_READ(plain);
  MEMFENCE_UNLOCK(&mutex);
  if (MEMFENCE_JOIN(thread, NULL) != 0) return 5;
  return seen == 4 ? 0 : 1;
}
"""
ON_WORD = [("il", 1), ("il", 2), ("il", 5), ("il", 5), ("il", 9)]
FIRST = r"""
#include "memfence_recorder.h"
atomic_int x;
void* other(void*);
int main(void) {
  pthread_t thread;
  MEMFENCE_CREATE(&thread, other, NULL);
  MEMFENCE_STORE(&x, 1, memory_order_relaxed);
  MEMFENCE_JOIN(thread, NULL);
}
"""
SECOND = r"""
#include "memfence_recorder.h"
extern atomic_int x;
void* other(void* unused) {
  MEMFENCE_LOAD(&x, memory_order_relaxed);
  return unused;
}
"""


def ran(folder: Path, compiler: str, *arguments: str | Path) -> int:
    """The exit code of the program, which is compiled first; what it records is `run.jsonl` in the folder."""
    program = folder / "program"
    subprocess.run([compiler, *WARNINGS, *map(str, arguments), "-o", str(program)], check=True, timeout=120)
    environment = {**os.environ, "MEMFENCE_TRACE": str(folder / "run.jsonl")}
    return subprocess.run([str(program)], env=environment, timeout=60, check=False).returncode


def recorded(folder: Path, compiler: str, *arguments: str | Path) -> MonitorResult:
    assert ran(folder, compiler, *RECORDED, *arguments) == 0
    return monitor(folder / "run.jsonl")


def events(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("compiler", C)
def test_store_buffering_is_seen_whatever_happened(compiler: str, tmp_path: Path) -> None:
    for _ in range(3):
        assert recorded(tmp_path, compiler, FOLDER / "store_buffering.c").verdict is Verdict.VIOLATED
        assert recorded(tmp_path, compiler, "-DFENCED", FOLDER / "store_buffering.c").verdict is Verdict.HOLDS


@pytest.mark.parametrize("compiler", CXX)
@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_a_ring_in_cpp_is_recorded(compiler: str, standard: str, tmp_path: Path) -> None:
    assert recorded(tmp_path, compiler, f"-std={standard}", FOLDER / "ring.cpp").verdict is Verdict.HOLDS
    assert {event["op"] for event in events(tmp_path)} == {"ld", "st", "il"}
    (tmp_path / "run.jsonl").unlink()
    assert ran(tmp_path, compiler, f"-std={standard}", FOLDER / "ring.cpp") == 0
    assert not (tmp_path / "run.jsonl").exists()


@pytest.mark.parametrize("compiler", C)
@pytest.mark.parametrize("standard", ["c11", "gnu17"])
def test_every_macro_records_what_it_does(compiler: str, standard: str, tmp_path: Path) -> None:
    source = tmp_path / "everything.c"
    source.write_text(EVERYTHING)
    assert ran(tmp_path, compiler, f"-std={standard}", source) == 0
    result = recorded(tmp_path, compiler, f"-std={standard}", source)
    assert result.verdict is Verdict.HOLDS
    found = events(tmp_path)
    assert [(event["op"], event["value"]) for event in found if event.get("addr") == "word"] == ON_WORD
    assert sum(event["op"] == "fence" for event in found) == 1
    assert sum(str(event.get("addr")).startswith("thread ") for event in found) == 4
    assert len({event["thread"] for event in found}) == 2


@pytest.mark.parametrize("compiler", C)
def test_the_files_of_a_program_share_one_recorder(compiler: str, tmp_path: Path) -> None:
    for name, text in (("first.c", FIRST), ("second.c", SECOND)):
        (tmp_path / name).write_text(text)
    assert recorded(tmp_path, compiler, tmp_path / "first.c", tmp_path / "second.c").verdict is Verdict.HOLDS
    assert len([event for event in events(tmp_path) if not str(event["addr"]).startswith("thread ")]) == 2


@pytest.mark.parametrize("compiler", C[:1])
def test_a_store_that_was_left_out_is_noticed(compiler: str, tmp_path: Path) -> None:
    recorded(tmp_path, compiler, FOLDER / "store_buffering.c")
    path = tmp_path / "run.jsonl"
    loads = [event for event in events(tmp_path) if event["op"] == "ld" and event["value"] == 1]
    assert loads, "one of two that announce themselves sees the other one"
    lines = path.read_text().splitlines(keepends=True)
    first = ['{"op":"init","addr":"here[0]","value":0}\n', '{"op":"init","addr":"here[1]","value":0}\n']
    path.write_text("".join(first + [line for line in lines if '"op":"st"' not in line]))
    done = memfence("monitor", path)
    assert done.returncode == 3 and "MF302" in done.stderr
