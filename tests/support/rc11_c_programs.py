"""Random C for two threads, with loops as front ends see them: peeled, rotated, and with several reads in a round."""

from __future__ import annotations

from random import Random

HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#define LD(x, o) atomic_load_explicit(&x, memory_order_##o)
#define ST(x, v, o) atomic_store_explicit(&x, v, memory_order_##o)
#define XC(x, v, o) atomic_exchange_explicit(&x, v, memory_order_##o)
#define CAS(x, e, v, o, f) atomic_compare_exchange_weak_explicit(&x, &e, v, memory_order_##o, memory_order_##f)
static atomic_int x, y;
static int data;
"""
MAIN = """int main(void) {
  pthread_t p, q;
  pthread_create(&p, 0, a, 0);
  pthread_create(&q, 0, b, 0);
  pthread_join(p, 0);
  pthread_join(q, 0);
}
"""


class CProgram:
    """One text; some have strong orders nearly everywhere, so that there is something to prove."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.strong = rng.choice([0.2, 0.6, 1.0])
        self.text = HEAD + "".join(self.thread(name) for name in "ab") + MAIN

    def thread(self, name: str) -> str:
        body = " ".join(self.statement(self.rng.randrange(2)) for _ in range(self.rng.randint(3, 5)))
        body += f" assert(r0 != {self.value()} || r1 != {self.value()});"
        if self.rng.random() < 0.4:
            body = "for (;;) { " + body + " }"
        return f"static void *{name}(void *unused) {{ int r0 = 7, r1 = 7; {body} return 0; }}\n"

    def order(self, strong: tuple[str, ...], weak: tuple[str, ...]) -> str:
        return self.rng.choice(strong if self.rng.random() < self.strong else weak)

    def load(self) -> str:
        return self.order(("acquire", "seq_cst"), ("relaxed", "acquire", "seq_cst"))

    def store(self) -> str:
        return self.order(("release", "seq_cst"), ("relaxed", "release", "seq_cst"))

    def update(self) -> str:
        return self.order(("acq_rel", "seq_cst"), ("relaxed", "acquire", "release", "acq_rel", "seq_cst"))

    def value(self) -> int:
        return self.rng.choice([0, 1, 1, 2])

    def statement(self, register: int) -> str:
        v, n = self.rng.choice("xy"), self.value()
        match self.rng.choices(("store", "wait", "lock", "read", "fence", "if", "data"), (5, 3, 2, 5, 1, 2, 3))[0]:
            case "store":
                return f"ST({v}, {n}, {self.store()});"
            case "wait":
                return f"while (LD({v}, {self.load()}) {self.rng.choice(('!=', '=='))} {n});"
            case "lock":
                taken = f"while (XC({v}, 1, {self.update()}));"
                swapped = f"{{ int e = 0; while (!CAS({v}, e, 1, {self.update()}, {self.load()})) e = 0; }}"
                return self.rng.choice((taken, swapped))
            case "read":
                return f"r{register} = LD({v}, {self.load()});"
            case "fence":
                return "atomic_thread_fence(memory_order_seq_cst);"
            case "if":
                return f"if (r{register} == {self.rng.choice([0, 1])}) {{ {self.statement(1 - register)} }}"
        return "data = 1; assert(data == 1);"
