"""How long C takes to read, and how long the shipped examples take to check.

`python benchmarks/c_speed.py`: a generated file of about 1,000 lines is compiled and read, clang's part and ours apart
(processor seconds); then every program of examples/c is checked under TSO.
"""

from __future__ import annotations

import time
from pathlib import Path

from memfence import pipeline
from memfence.frontends.c.clang import compile_text
from memfence.frontends.c.load import load_texts
from memfence.program.load_options import COptions, LoadOptions
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.options import CheckOptions

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "c"
LINES = 1000
MODULE_LINES = 50


def generated(lines: int = LINES) -> SourceText:
    """A program of this many lines: modules with a lock, a table, a queue and work for each of two threads."""
    modules = lines // MODULE_LINES
    parts = [HEAD, *(_module(number) for number in range(modules)), _main(modules)]
    text = "\n".join(parts)
    return SourceText("generated.c", text + "\n" * max(0, lines - text.count("\n")))


HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
"""


def _module(n: int) -> str:
    return f"""
struct item{n} {{
    int key;
    int value;
    struct item{n} *next;
}};
static struct item{n} table{n}[8];
static struct item{n} *first{n};
static atomic_int ready{n};
static int result{n};
static pthread_mutex_t lock{n} = PTHREAD_MUTEX_INITIALIZER;

static int mix{n}(int value)
{{
    unsigned u = (unsigned)value * 31u + {n}u;
    u ^= u >> 3;
    return (int)(u & 63u);
}}

static void fill{n}(void)
{{
    for (int i = 0; i < 8; i++) {{
        table{n}[i].key = mix{n}(i);
        table{n}[i].value = i;
        table{n}[i].next = i ? &table{n}[i - 1] : 0;
    }}
    first{n} = &table{n}[7];
}}

static int find{n}(int key)
{{
    for (struct item{n} *p = first{n}; p; p = p->next)
        if (p->key == key)
            return p->value;
    return -1;
}}

static void produce{n}(int value)
{{
    pthread_mutex_lock(&lock{n});
    result{n} = value;
    pthread_mutex_unlock(&lock{n});
    atomic_store_explicit(&ready{n}, 1, memory_order_release);
}}

static void consume{n}(void)
{{
    if (atomic_load_explicit(&ready{n}, memory_order_acquire) == 1)
        assert(result{n} == {n});
}}
"""


def _main(modules: int) -> str:
    fills = "\n".join(f"    fill{n}();\n    assert(find{n}(mix{n}(3)) == 3);" for n in range(modules))
    produces = "\n".join(f"    produce{n}({n});" for n in range(modules))
    consumes = "\n".join(f"    consume{n}();" for n in range(modules))
    return f"""
static void *producer(void *unused)
{{
{produces}
    return 0;
}}

static void *consumer(void *unused)
{{
{consumes}
    return 0;
}}

int main(void)
{{
    pthread_t one, two;
{fills}
    pthread_create(&one, 0, producer, 0);
    pthread_create(&two, 0, consumer, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}}
"""


def reading_seconds(source: SourceText) -> tuple[float, float]:
    """Wall seconds of clang alone, and our own processor seconds of reading the text."""
    begin = time.monotonic()
    compile_text(source, COptions())
    compiling = time.monotonic() - begin
    begin = time.process_time()  # of this process: clang is another one
    load_texts([source])
    return compiling, time.process_time() - begin


def main() -> None:
    source = generated()
    reading_seconds(SourceText("empty.c", "int main(void) { return 0; }\n"))  # imports, and clang's own caches
    compiling, reading = reading_seconds(source)
    lines = source.text.count("\n")
    print(f"{lines} lines: clang {compiling:.2f} s, reading {reading:.2f} CPU s")
    for path in sorted(EXAMPLES.glob("*.c")):
        begin = time.monotonic()
        program = pipeline.load(path, LoadOptions(language="c"))
        loaded = time.monotonic() - begin
        result = check(program, CheckOptions(model="tso", criterion="safety"))
        print(f"{path.name:28} {result.verdict.value:9} read {loaded:5.2f} s, all {time.monotonic() - begin:5.2f} s")


if __name__ == "__main__":
    main()
