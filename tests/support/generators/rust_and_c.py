"""Small concurrent programs at random, the same in Rust and in C: threads that load, store and update two variables.

Many are in one text each, as compiling takes longer than running; the first argument says which.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

ORDERS = {
    "load": ("Relaxed", "Acquire", "SeqCst"),
    "store": ("Relaxed", "Release", "SeqCst"),
    "add": ("Relaxed", "AcqRel", "SeqCst"),
    "swap": ("Relaxed", "AcqRel", "SeqCst"),
    "cas": ("Relaxed", "AcqRel", "SeqCst"),
    "fence": ("Acquire", "AcqRel", "SeqCst"),
}
IN_C = {
    "Relaxed": "relaxed", "Acquire": "acquire", "Release": "release", "AcqRel": "acq_rel", "SeqCst": "seq_cst",
}  # fmt: skip
FAILURE = {"Relaxed": "Relaxed", "AcqRel": "Acquire", "SeqCst": "SeqCst"}
KINDS = ("store", "store", "store", "load", "load", "load", "load", "add", "swap", "cas", "fence")
BASE = 5


@dataclass(frozen=True)
class Statement:
    """`variable` and `value` where the kind has them. What it reads becomes a digit of the thread's result."""

    kind: str
    order: str
    variable: str
    value: int

    def in_rust(self) -> str:
        x, order, value = self.variable.upper(), self.order, self.value
        match self.kind:
            case "load":
                return f"r = r * {BASE} + {x}.load({order});"
            case "store":
                return f"{x}.store({value}, {order});"
            case "add":
                return f"r = r * {BASE} + {x}.fetch_add({value}, {order});"
            case "swap":
                return f"r = r * {BASE} + {x}.swap({value}, {order});"
            case "cas":
                tried = f"{x}.compare_exchange(0, {value}, {order}, {FAILURE[order]})"
                return f"r = r * {BASE} + match {tried} {{ Ok(v) | Err(v) => v }};"
            case _:
                return f"fence({order});"

    def in_c(self) -> str:
        x, order, value = self.variable, f"memory_order_{IN_C[self.order]}", self.value
        match self.kind:
            case "load":
                return f"r = r * {BASE} + atomic_load_explicit(&{x}, {order});"
            case "store":
                return f"atomic_store_explicit(&{x}, {value}, {order});"
            case "add":
                return f"r = r * {BASE} + atomic_fetch_add_explicit(&{x}, {value}, {order});"
            case "swap":
                return f"r = r * {BASE} + atomic_exchange_explicit(&{x}, {value}, {order});"
            case "cas":
                failure = f"memory_order_{IN_C[FAILURE[self.order]]}"
                tried = f"atomic_compare_exchange_strong_explicit(&{x}, &e, {value}, {order}, {failure})"
                return f"{{ int e = 0; (void){tried}; r = r * {BASE} + e; }}"
            case _:
                return f"atomic_thread_fence({order});"


@dataclass(frozen=True)
class Case:
    """A program: its threads, and the results of theirs that are said to be impossible."""

    threads: tuple[tuple[Statement, ...], ...]
    forbidden: tuple[int, ...]


def random_case(chance: random.Random) -> Case:
    """Two threads, sometimes three. The forbidden results are those of one SC execution, or that all read 0."""
    threads = tuple(
        tuple(_statement(chance) for _ in range(chance.randint(2, 3))) for _ in range(chance.choice((2, 2, 2, 3)))
    )
    forbidden = (0,) * len(threads) if chance.random() < 0.5 else _one_execution(threads, chance)
    return Case(threads, forbidden)


def _one_execution(threads: tuple[tuple[Statement, ...], ...], chance: random.Random) -> tuple[int, ...]:
    """The results of the threads where they take turns at random."""
    memory, results = {"x": 0, "y": 0}, [0] * len(threads)
    turns = [number for number, body in enumerate(threads) for _ in body]
    chance.shuffle(turns)
    bodies = [iter(body) for body in threads]
    for turn in turns:
        one = next(bodies[turn])
        old = memory[one.variable]
        if one.kind not in ("store", "fence"):
            results[turn] = results[turn] * BASE + old
        if one.kind in ("store", "swap") or (one.kind == "cas" and old == 0):
            memory[one.variable] = one.value
        elif one.kind == "add":
            memory[one.variable] = old + one.value
    return tuple(results)


def _statement(chance: random.Random) -> Statement:
    kind = chance.choice(KINDS)
    return Statement(kind, chance.choice(ORDERS[kind]), chance.choice("xy"), chance.randint(1, 2))


def in_rust(cases: list[Case]) -> str:
    head = "use std::sync::atomic::{fence, AtomicI32, Ordering::*};\nuse std::thread;\n"
    head += "static X: AtomicI32 = AtomicI32::new(0);\nstatic Y: AtomicI32 = AtomicI32::new(0);\n"
    bodies = "\n".join(_case_in_rust(number, case) for number, case in enumerate(cases))
    arms = "".join(f"        {number} => case_{number}(),\n" for number in range(len(cases)))
    which = "std::env::args().nth(1).unwrap().parse::<u32>().unwrap()"
    return f"{head}{bodies}\nfn main() {{\n    match {which} {{\n{arms}        _ => panic!(),\n    }}\n}}\n"


def _case_in_rust(number: int, case: Case) -> str:
    spawns = "".join(
        f"    let t{i} = thread::spawn(|| {{ let mut r = 0; {' '.join(s.in_rust() for s in body)} r }});\n"
        for i, body in enumerate(case.threads)
    )
    joins = "".join(f"    let r{i}: i32 = t{i}.join().unwrap();\n" for i in range(len(case.threads)))
    bad = " && ".join(f"r{i} == {value}" for i, value in enumerate(case.forbidden))
    return f"#[allow(unused_mut)]\nfn case_{number}() {{\n{spawns}{joins}    assert!(!({bad}));\n}}"


def in_c(cases: list[Case]) -> str:
    headers = ("assert", "pthread", "stdatomic", "stdlib")
    head = "".join(f"#include <{name}.h>\n" for name in headers) + "static atomic_int x, y;\n"
    bodies = "\n".join(_case_in_c(number, case) for number, case in enumerate(cases))
    arms = "".join(f"    case {number}: case_{number}(); return 0;\n" for number in range(len(cases)))
    begin = "int main(int argc, char **argv)\n{\n    switch (atoi(argv[argc - 1])) {\n"
    return f"{head}{bodies}\n{begin}{arms}    }}\n    return 1;\n}}\n"


def _case_in_c(number: int, case: Case) -> str:
    texts = [" ".join(one.in_c() for one in body) for body in case.threads]
    threads = "".join(
        f"static void *thread_{number}_{i}(void *unused) {{ long r = 0; {text} return (void *)r; }}\n"
        for i, text in enumerate(texts)
    )
    count = range(len(case.threads))
    declared = "".join(f"    pthread_t t{i}; void *r{i};\n" for i in count)
    spawns = "".join(f"    pthread_create(&t{i}, 0, thread_{number}_{i}, 0);\n" for i in count)
    joins = "".join(f"    pthread_join(t{i}, &r{i});\n" for i in count)
    bad = " && ".join(f"(long)r{i} == {value}" for i, value in enumerate(case.forbidden))
    return f"{threads}static void case_{number}(void)\n{{\n{declared}{spawns}{joins}    assert(!({bad}));\n}}"
