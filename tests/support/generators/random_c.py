"""Random C programs with threads, one per seed: what `check`, `run` and `explore` must agree about.

Two or three threads of two or three statements, over two atomic variables of any integer type and one struct behind a
lock; in a third of the programs some of them begin once more when all were joined. Statements are kinds that have
been misread before: every order of every access, compare-exchanges of both kinds with every pair of orders, alone and
in loops, waits for a value and for a signal, parts of words, bit-fields, structs by value, assumptions, early ends. The
program fails if two of the values that were seen are as drawn.
"""

from __future__ import annotations

from random import Random

TYPES = ("signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long")
LOADS = ("relaxed", "acquire", "seq_cst")
STORES = ("relaxed", "release", "seq_cst")
UPDATES = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")

HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

"""
LOCKED = """struct pair {{ {first} first; {second} second; }};
static struct pair pair;
static union {{ uint32_t word; uint8_t byte[4]; }} word;
static struct {{ unsigned low : {low}; unsigned high : {high}; unsigned char tail; }} fields;
static int ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static struct pair swapped(struct pair p)
{{
    struct pair q = {{p.second, p.first}};
    return q;
}}

"""


class RandomC:
    """Draws one program."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.phases = Random(f"phases {seed}")
        self.assumes = False

    def text(self) -> str:
        pick = self.random.choice
        threads = pick((2, 2, 2, 3))
        bodies = [self.body(n, pick((1, 2)) if threads == 3 else pick((2, 3))) for n in range(threads)]
        low = self.random.randint(1, 20)
        shared = "".join(f"static _Atomic {pick(TYPES)} {name};\n" for name in "xy")
        locked = LOCKED.format(first=pick(TYPES), second=pick(TYPES), low=low, high=self.random.randint(1, 32 - low))
        functions = "".join(
            f"static void *thread{n}(void *unused)\n{{\n{body}    return unused;\n}}\n\n"
            for n, body in enumerate(bodies)
        )
        stated = "void __VERIFIER_assume(int);\n" if self.assumes else ""
        seen = f"static int seen[{threads}];\n"
        return HEAD + stated + shared + seen + locked + functions + self.main(threads)

    def main(self, threads: int) -> str:
        names = ", ".join(f"t{n}" for n in range(threads))
        creates = "".join(f"    pthread_create(&t{n}, 0, thread{n}, 0);\n" for n in range(threads))
        joins = "".join(f"    pthread_join(t{n}, 0);\n" for n in range(threads))
        joins += self.second_phase(threads)
        one, other = self.random.sample(range(threads), 2)
        values = [self.random.choice((0, 0, 1, 2)) for _ in range(2)]
        bad = f"seen[{one}] == {values[0]} && seen[{other}] == {values[1]}"
        end = self.random.choice(
            (f"assert(!({bad}));", f"if ({bad}) abort();", f"if ({bad}) return 1;", f"if ({bad}) exit(3);")
        )
        return f"int main(void)\n{{\n    pthread_t {names};\n{creates}{joins}    {end}\n    return 0;\n}}\n"

    def second_phase(self, threads: int) -> str:
        """One or two of the threads again, which begin when `main` has been alone."""
        if self.phases.random() < 2 / 3:
            return ""
        again = self.phases.sample(range(threads), self.phases.choice((1, 1, 2)))
        creates = "".join(f"    pthread_create(&t{n}, 0, thread{n}, 0);\n" for n in again)
        return creates + "".join(f"    pthread_join(t{n}, 0);\n" for n in again)

    def body(self, thread: int, count: int) -> str:
        kinds = [self.store, self.store, self.store, self.load, self.load, self.load, self.update, self.exchange]
        kinds += [self.fence, self.strong, self.weak, self.locked, self.parts, self.fields, self.by_value]
        rare = [self.retry, self.wait_for_signal, self.signal, self.assume]
        lines = []
        for _ in range(count):
            chosen = self.random.choice(rare if self.random.random() < 0.12 else kinds)
            lines.append(chosen(thread))
        return "".join(f"    {line}\n" for line in lines)

    def variable(self) -> str:
        return self.random.choice("xy")

    def order(self, among: tuple[str, ...]) -> str:
        return "memory_order_" + self.random.choice(among)

    def store(self, thread: int) -> str:
        return f"atomic_store_explicit(&{self.variable()}, {self.random.choice((1, 1, 2))}, {self.order(STORES)});"

    def load(self, thread: int) -> str:
        return f"seen[{thread}] = (int)atomic_load_explicit(&{self.variable()}, {self.order(LOADS)});"

    def update(self, thread: int) -> str:
        kind = self.random.choice(("add", "sub", "or", "and", "xor"))
        call = f"atomic_fetch_{kind}_explicit(&{self.variable()}, 1, {self.order(UPDATES)})"
        return f"seen[{thread}] = (int){call};" if self.random.random() < 0.5 else f"{call};"

    def exchange(self, thread: int) -> str:
        return f"seen[{thread}] = (int)atomic_exchange_explicit(&{self.variable()}, 2, {self.order(UPDATES)});"

    def fence(self, thread: int) -> str:
        return f"atomic_thread_fence({self.order(UPDATES[1:])});"

    def strong(self, thread: int) -> str:
        return self.compare_exchange(thread, "strong")

    def weak(self, thread: int) -> str:
        return self.compare_exchange(thread, "weak")

    def compare_exchange(self, thread: int, kind: str) -> str:
        """One try; what is seen is whether it worked, or what was there."""
        variable, success, failure = self.variable(), self.order(UPDATES), self.order(LOADS)
        call = f"atomic_compare_exchange_{kind}_explicit(&{variable}, &expected, 2, {success}, {failure})"
        kept = self.random.choice((f"seen[{thread}] = {call};", f"{call}; seen[{thread}] = (int)expected;"))
        return f"{{ {self.type_of(variable)} expected = 0; {kept} }}"

    def type_of(self, variable: str) -> str:
        return f"__typeof__((void)0, {variable})"

    def retry(self, thread: int) -> str:
        """A loop around a compare-exchange: it ends, since every try sees the newest value."""
        variable, success, failure = self.variable(), self.order(UPDATES), self.order(LOADS)
        kind = self.random.choice(("weak", "strong"))
        call = f"atomic_compare_exchange_{kind}_explicit(&{variable}, &old, old ^ 1, {success}, {failure})"
        return f"{{ {self.type_of(variable)} old = 0; while (!{call}) ; seen[{thread}] = (int)old; }}"

    def locked(self, thread: int) -> str:
        return f"pthread_mutex_lock(&mutex); seen[{thread}] = ready; ready = 1; pthread_mutex_unlock(&mutex);"

    def parts(self, thread: int) -> str:
        byte, value = self.random.randrange(4), self.random.randint(1, 255)
        seen = self.random.choice(
            (f"word.byte[{byte}] == {value}", "word.word != 0", f"word.word >> 31 == {value >> 7}")
        )
        inside = f"seen[{thread}] = {seen}; word.byte[{byte}] = {value};"
        return f"pthread_mutex_lock(&mutex); {inside} pthread_mutex_unlock(&mutex);"

    def fields(self, thread: int) -> str:
        one, other = self.random.choice((("low", "tail"), ("tail", "high"), ("high", "low"), ("low", "high")))
        inside = f"fields.{one} = 1; seen[{thread}] = (int)fields.{other}; fields.{other} = 0;"
        return f"pthread_mutex_lock(&mutex); {inside} pthread_mutex_unlock(&mutex);"

    def by_value(self, thread: int) -> str:
        inside = f"pair.first = 1; pair = swapped(pair); seen[{thread}] = (int)pair.first;"
        return f"pthread_mutex_lock(&mutex); {inside} pthread_mutex_unlock(&mutex);"

    def wait_for_signal(self, thread: int) -> str:
        """Without a loop: the wait may return without a signal."""
        inside = f"if (!ready) pthread_cond_wait(&changed, &mutex); seen[{thread}] = ready;"
        return f"pthread_mutex_lock(&mutex); {inside} pthread_mutex_unlock(&mutex);"

    def signal(self, thread: int) -> str:
        return "pthread_mutex_lock(&mutex); ready = 1; pthread_cond_broadcast(&changed); pthread_mutex_unlock(&mutex);"

    def assume(self, thread: int) -> str:
        self.assumes = True
        return f"__VERIFIER_assume(atomic_load_explicit(&{self.variable()}, {self.order(LOADS)}) != 2);"


def random_c(seed: int) -> str:
    """The program of the seed."""
    return RandomC(seed).text()
