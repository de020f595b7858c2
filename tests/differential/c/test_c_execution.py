"""C as gcc executes it against C as we read it: random single-threaded functions with loops, arrays and pointers.

Each function is read twice. Once everything is known before the program runs. Once its inputs come from memory that
another thread could write, so that every value is computed by the explored program.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from memfence.frontends.c.clang import compile_text
from memfence.frontends.c.llvm.link import Linked
from memfence.frontends.c.llvm.reader import read_module
from memfence.frontends.c.lowering.assemble import assemble
from memfence.frontends.c.lowering.sources import Sources
from memfence.frontends.c.machine.specialise import specialise
from memfence.passes.intervals import bound_values
from memfence.program.load_options import COptions
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

FUNCTIONS_A_BATCH = 30
BATCHES = 10
SAMPLE = 10
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

PROLOGUE = """
#include <pthread.h>
#include <assert.h>
struct pair { short low; unsigned char tag; int high; struct pair *other; };
static void *nothing(void *u) { return u; }
"""


class Body:
    """A random function body over `u`, `v` (unsigned), `s` (int), `b` (unsigned char), `a[4]`, `p`, `q` and structs."""

    def __init__(self, shuffle: random.Random) -> None:
        self.shuffle = shuffle
        self.lines: list[str] = []
        for _ in range(shuffle.randint(4, 8)):
            self.lines.append(self.statement(2))

    def term(self) -> str:
        leaves = ("u", "v", "(unsigned)s", "b", "a[u & 3]", "*p", "(unsigned)x.high", "x.tag", "(unsigned)y.low",
                  "(unsigned)r->high", str(self.shuffle.randint(0, 300)))  # fmt: skip
        return self.shuffle.choice(leaves)

    def expression(self, depth: int = 2) -> str:
        if depth == 0:
            return self.term()
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        shape = self.shuffle.randrange(9)
        if shape == 0:
            return f"({left} << ({right} & 7))"
        if shape == 1:
            return f"({left} >> ({right} & 7))"
        if shape == 2:
            return f"({left} / ({right} | 1))"
        if shape == 3:
            return f"({left} % ({right} | 1))"
        if shape == 4:
            return f"({left} {self.shuffle.choice(('<', '<=', '==', '!='))} {right})"
        if shape == 5:
            return f"({left} ? {right} : {self.term()})"
        return f"({left} {self.shuffle.choice('+-*&|^')} {right})"

    def small(self) -> str:
        return f"(int)({self.expression(1)} & 1023)"

    def statement(self, depth: int) -> str:
        shape = self.shuffle.randrange(12 if depth else 8)
        value = self.expression()
        if shape < 2:
            return f"{self.shuffle.choice('uv')} = {value};"
        if shape == 2:
            return f"s = {self.small()} - {self.small()};"
        if shape == 3:
            return f"b = (unsigned char)({value});"
        if shape == 4:
            return f"a[{self.expression(1)} & 3] = {value};"
        if shape == 5:
            return self.shuffle.choice((f"p = &a[{self.term()} & 3];", f"*p = {value};", "p = p == a ? a + 1 : a;"))
        if shape == 6:
            return self.shuffle.choice(("r = r == &x ? &y : &x;", "r = r->other;", f"r->high = {self.small()};"))
        if shape == 7:
            return self.shuffle.choice((f"x.tag = (unsigned char)({value});", f"y.low = (short)({value});", "y = x;"))
        inner = " ".join(self.statement(depth - 1) for _ in range(2))
        if shape < 10:
            return f"if ({self.expression(1)}) {{ {inner} }} else {{ {self.statement(depth - 1)} }}"
        if shape == 10:
            name = f"i{depth}"
            return f"for (int {name} = 0; {name} < {self.shuffle.randint(1, 4)}; {name}++) {{ {inner} u += {name}; }}"
        return f"switch ({self.expression(1)} & 3) {{ case 0: {inner} break; case 2: v++; default: b ^= 1; }}"


def function(number: int, body: str, inputs: tuple[int, int], check_against: str, threaded: bool) -> str:
    """The function as a main program that asserts its result, or as one that returns it."""
    first, second = inputs
    result = "u ^ v ^ (unsigned)s ^ b ^ a[0] ^ a[1] ^ a[2] ^ a[3] ^ (unsigned)x.high ^ x.tag ^ (unsigned)y.low"
    start = "pthread_t t; pthread_create(&t, 0, nothing, 0); " if threaded else ""
    source = (f"in{number}a", f"in{number}b") if threaded else (str(first), str(second))
    return f"""
volatile unsigned in{number}a = {first}, in{number}b = {second};
int main{number}(void) {{
    {start}unsigned u = {source[0]}, v = {source[1]}, a[4] = {{1, 2, 3, 4}}, *p = a; int s = 5; unsigned char b = 7;
    struct pair x = {{1, 2, 3, 0}}, y = {{4, 5, 6, 0}}, *r = &x; x.other = &y; y.other = &x;
    {body}
    unsigned result = {result};
    {check_against}
}}"""


@needs_clang
@needs_gcc
def test_a_single_thread_computes_what_gcc_computes(tmp_path: Path) -> None:
    assert wrong_results(7000, SAMPLE, tmp_path) == []


@needs_clang
@needs_gcc
@pytest.mark.slow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_many_threads_alone_compute_what_gcc_computes(batch: int, tmp_path: Path) -> None:
    assert wrong_results(7000 + batch, FUNCTIONS_A_BATCH, tmp_path) == []


def wrong_results(seed: int, count: int, tmp_path: Path) -> list[str]:
    """Those of `count` random functions that give another result, with all values known or with all values unknown."""
    wrong = []
    shuffle = random.Random(seed)
    bodies = [" ".join(Body(shuffle).lines) for _ in range(count)]
    inputs = [(shuffle.randint(0, 9), shuffle.choice((0, 1, 77, 4294967295))) for _ in bodies]
    expected = natively(tmp_path, bodies, inputs)
    for threaded in (False, True):
        wanted = [
            function(n, body, inputs[n], f"assert(result == {expected[n]}u); return 0;", threaded)
            for n, body in enumerate(bodies)
        ]
        source = SourceText("batch.c", PROLOGUE + "\n".join(wanted))
        linked = Linked([read_module(compile_text(source, COptions()), "batch.c")])
        for number, text in enumerate(wanted):
            options = COptions(entry=f"main{number}", deadlock=False, overflow=False)
            program = bound_values(assemble(specialise(linked, options), Sources((source,)), source))
            result = check(program, CheckOptions(model="sc", criterion="safety"))
            if result.verdict is not Verdict.HOLDS:
                wrong.append(text)
    return wrong


def natively(folder: Path, bodies: list[str], inputs: list[tuple[int, int]]) -> list[int]:
    """The results, as gcc's code computes them."""
    functions = [function(n, body, inputs[n], "return (int)result;", False) for n, body in enumerate(bodies)]
    calls = " ".join(f'printf("%u\\n", (unsigned)main{n}());' for n in range(len(bodies)))
    path = folder / "native.c"
    path.write_text(f"#include <stdio.h>\n{PROLOGUE}{''.join(functions)}\nint main(void) {{ {calls} return 0; }}\n")
    subprocess.run(["gcc", "-w", "-O0", "-fwrapv", "-o", str(folder / "native"), str(path), "-lpthread"], check=True)
    done = subprocess.run([str(folder / "native")], capture_output=True, text=True, check=True)
    return [int(line) for line in done.stdout.split()]


@needs_clang
def test_a_wrong_result_is_noticed() -> None:
    text = function(0, "u += v;", (1, 2), "assert(result == 12345u); return 0;", True)
    source = SourceText("wrong.c", PROLOGUE + text)
    linked = Linked([read_module(compile_text(source, COptions()), "wrong.c")])
    program = assemble(specialise(linked, COptions(entry="main0", deadlock=False)), Sources((source,)), source)
    result = check(bound_values(program), CheckOptions(model="sc", criterion="safety"))
    assert result.verdict is Verdict.VIOLATED
