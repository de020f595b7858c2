"""Small C programs in classical shapes, with random orders and fences; each assertion holds under SC."""

from __future__ import annotations

from random import Random

LOADS = ("relaxed", "acquire", "seq_cst")
STORES = ("relaxed", "release", "seq_cst")
UPDATES = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
FENCES = ("acquire", "release", "acq_rel", "seq_cst")
SHAPES = {
    "SB": ((("W", "x"), ("R", "y", "a")), (("W", "y"), ("R", "x", "b")), "a || b"),
    "MP": ((("W", "x"), ("W", "y")), (("R", "y", "a"), ("R", "x", "b")), "!a || b"),
    "LB": ((("R", "x", "a"), ("W", "y")), (("R", "y", "b"), ("W", "x")), "!a || !b"),
    "S": ((("W2", "x"), ("W", "y")), (("R", "y", "a"), ("W", "x")), "!a || x != 2"),
    "R": ((("W", "x"), ("W", "y")), (("W2", "y"), ("R", "x", "a")), "y != 2 || a"),
}
"""The accesses of two threads, and what must hold at the end."""


def program_in_c(seed: int) -> str:
    """The same for the same seed: from two to six places with an order."""
    random = Random(seed)
    first, second, condition = SHAPES[random.choice(sorted(SHAPES))]
    bodies = [_body(random, accesses) for accesses in (first, second)]
    threads = "".join(f"void *t{n}(void *u) {{\n{body}  return 0;\n}}\n" for n, body in enumerate(bodies))
    return f"""\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
int a, b;
{threads}int main(void) {{
  pthread_t p, q;
  pthread_create(&p, 0, t0, 0);
  pthread_create(&q, 0, t1, 0);
  pthread_join(p, 0);
  pthread_join(q, 0);
  assert({condition});
}}
"""


def _body(random: Random, accesses: tuple[tuple[str, ...], ...]) -> str:
    lines = [_access(random, *access) for access in accesses]
    if random.random() < 0.4:
        lines.insert(1, f"atomic_thread_fence(memory_order_{random.choice(FENCES)});")
    return "".join(f"  {line}\n" for line in lines)


def _access(random: Random, kind: str, variable: str, register: str = "") -> str:
    is_update, is_plain = random.random() < 0.15, random.random() < 0.25
    if kind == "R":
        if is_update:
            return f"{register} = atomic_fetch_add_explicit(&{variable}, 0, memory_order_{random.choice(UPDATES)});"
        if is_plain:
            return f"{register} = atomic_load(&{variable});"
        return f"{register} = atomic_load_explicit(&{variable}, memory_order_{random.choice(LOADS)});"
    value = 2 if kind == "W2" else 1
    if is_update:
        return f"atomic_exchange_explicit(&{variable}, {value}, memory_order_{random.choice(UPDATES)});"
    if is_plain:
        return f"atomic_store(&{variable}, {value});"
    return f"atomic_store_explicit(&{variable}, {value}, memory_order_{random.choice(STORES)});"
