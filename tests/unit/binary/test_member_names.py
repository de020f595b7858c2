"""`run` names parts of variables as the program does: members, elements, what is inherited, locals of `main`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from memfence.binary import dwarf
from memfence.binary.build import Sources, build_program
from memfence.binary.members import Members, _after_prologue
from memfence.binary.places import Names
from support.run_programs import run_text

VARIABLES = """
#include <atomic>
#include <mutex>
struct Locked { int before; std::mutex lock; } locked;
struct Slot { int value; std::atomic<long> seq; };
struct Base { std::atomic<int> first; };
struct Queue : Base {
    Slot slots[3]; std::atomic<int> tail_; union { int word; unsigned char bytes[4]; }; static int all;
};
int Queue::all = 3;
Queue q;
static int grid[2][3];
struct { struct { int x, y; } in[2]; } nameless;
typedef const Queue *Pointer;
Pointer pointers[2];
int main() {
    std::lock_guard<std::mutex> guard(locked.lock);
    static Queue kept; kept.tail_ = grid[1][1] + nameless.in[0].x; pointers[0] = &q; return 0; }
"""
PARTS = {
    "q": {0: "q.first", 8: "q.slots[0].value", 16: "q.slots[0].seq", 32: "q.slots[1].seq", 56: "q.tail_", 60: "q.word"},
    "grid": {0: "grid[0][0]", 8: "grid[0][2]", 12: "grid[1][0]"},
    "nameless": {0: "nameless.in[0].x", 12: "nameless.in[1].y"},
    "pointers": {8: "pointers[1]"},
    "locked": {0: "locked.before", 8: "locked.lock"},
    "main::kept": {56: "main::kept.tail_"},
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    (folder / "variables.cpp").write_text(VARIABLES)
    return build_program(Sources(files=(str(folder / "variables.cpp"),)), folder)


def test_parts_of_static_variables_have_names(program: Path) -> None:
    names = Names(program, 0)
    starts = {symbol.name: symbol.address for symbol in names._symbols}
    for variable, parts in PARTS.items():
        for offset, name in parts.items():
            assert names.variable(starts[variable] + offset) == name
    assert names.variable(starts["q"] + 4) == "q+4"  # between members
    assert names.variable(starts["Queue::all"]) == "Queue::all"


def test_without_debug_information_offsets_are_left(program: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run(["strip", "--strip-debug", "-o", str(bare), str(program)], check=True)
    names = Names(bare, 0)
    start = next(symbol.address for symbol in names._symbols if symbol.name == "q")
    assert names.variable(start + 56) == "q+56" and names.variable(start) == "q"
    bare.write_bytes(program.read_bytes()[:3000])
    assert dwarf.entries(bare) == {} and Members(bare).in_main(100) == ""


RING = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct ring { ALIGNED atomic_int head, tail; };
static void *produce(void *given) { struct ring *ring = given; ring->head = 1; assert(!ring->tail); return 0; }
int main(void) {
    int first[5] = {0}, status = 0;
    { struct ring ring = {0, 0}; pthread_t thread;
      pthread_create(&thread, 0, produce, &ring); ring.tail = first[1] + 1 + ring.head; pthread_join(thread, 0); }
    return status;
}
"""


@pytest.mark.parametrize("aligned", ["", "_Alignas(64)"])
def test_locals_of_main_have_names(tmp_path: Path, aligned: str) -> None:
    result = run_text(tmp_path, RING.replace("ALIGNED", aligned))
    seen = {step.variable for finding in result.findings for step in finding.steps}
    assert {"main.ring.head", "main.ring.tail"} <= seen


def test_the_stack_pointer_is_what_the_first_instructions_make_of_it() -> None:
    usual = ["endbr64", "push %rbp", "mov %rsp,%rbp", "sub    $0x40,%rsp", "call 1"]
    assert _after_prologue(usual) == -8 - 8 - 0x40
    aligned = [
        "push %rbp",
        "mov %rsp,%rbp",
        "push %rbx",
        "and    $0xffffffffffffffc0,%rsp",
        "sub    $0x140,%rsp",
        "ret",
    ]
    assert _after_prologue(aligned) == -64 - 0x140
    assert _after_prologue(["push %rbp", "and    $0xfffffffffffffe00,%rsp", "ret"]) is None
    assert _after_prologue(["push %rbp", "xor %eax,%eax", "sub $0x40,%rsp", "ret"]) is None
