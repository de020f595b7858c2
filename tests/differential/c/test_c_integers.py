"""Integers and memory of C as gcc executes them against ours: every width, bit-fields, unions, casts, shifts, `memcpy`.

gcc runs each function with -fsanitize=undefined. Where it finds undefined behaviour, we must find an error, and no
assertion. Else we must prove that the function gives the same number. Each function is read twice. Once everything is
known before the program runs. Once all numbers are in memory that may hold others, as far as anybody can tell, and the
other objects are accessed by another thread in pieces of random sizes (which never happens).
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
from memfence.program.load_options import COptions
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang
from support.generators.integer_programs import TYPES, IntegerProgram

pytestmark = [needs_clang, pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")]

FUNCTIONS_A_BATCH = 40
BATCHES = 50
SAMPLE = 12
PROLOGUE = """
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static volatile int go, gate;
"""


def known(program: IntegerProgram, ending: str) -> str:
    """All objects are locals, and every number is a constant."""
    return f"""
int main{program.n}(void) {{
    unsigned long h = 0; {program.objects("")} {program.fill()}
    {" ".join(program.body)} {program.result()} {ending}
}}"""


def unknown(program: IntegerProgram, ending: str, shuffle: random.Random) -> str:
    """All objects are shared: another thread would access them, if two numbers were what they never are together."""
    n, sizes = program.n, {"b": f"sizeof b{program.n}", "s": f"sizeof s{program.n}", "u": "16", "w": "16"}
    touched = []
    for name, size in sizes.items():
        for _ in range(shuffle.randint(1, 3)):
            type = shuffle.choice(list(TYPES))
            at = f"({shuffle.randint(0, 15)} % ({size} / sizeof({type}) ? {size} / sizeof({type}) : 1))"
            touched.append(f"if (sizeof({type}) <= {size}) (({type} *)&{name}{n})[{at}] ^= 1;")
    others = " ".join(
        f"{name} = ({type})({number});"
        for name, type in program.variables.items()
        for number in shuffle.sample(("0", "-1", "1ul << 63", "77", "1l << 31", "0x7fffffffffffffff", "200"), k=5)
    )
    return f"""
static {program.objects("volatile")} static volatile unsigned long h{n};
static void *other{n}(void *u) {{ if (go == 1 && gate == 7) {{ {" ".join(touched)} }} return u; }}
int main{n}(void) {{
    pthread_t t; gate = 7; gate = 0; pthread_create(&t, 0, other{n}, 0); gate = 7; gate = 0;
    {others} {program.fill()} h{n} = 0;
    {" ".join(program.body)} {program.result().replace("h = h", f"h{n} = h{n}")}
    unsigned long h = h{n}; go = 1; {ending}
}}"""


def natively(folder: Path, functions: list[str]) -> list[int | None]:
    """The number that each function gives, None where it does something that C does not define."""
    calls = "\n".join(
        f'if (!fork()) {{ printf("{n} %lu\\n", run{n}()); fflush(stdout); _exit(0); }} wait(0);'
        for n in range(len(functions))
    )
    texts = [text.replace(f"int main{n}(void)", f"unsigned long run{n}(void)") for n, text in enumerate(functions)]
    path = folder / "native.c"
    head = "#include <sys/wait.h>\n#include <unistd.h>\n"
    path.write_text(f"{head}{PROLOGUE}{''.join(texts)}\nint main(void) {{ {calls} return 0; }}\n")
    flags = ["-w", "-O0", "-std=gnu11", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-fno-sanitize=alignment"]
    subprocess.run(["gcc", *flags, "-o", str(folder / "native"), str(path), "-lpthread"], check=True)
    done = subprocess.run([str(folder / "native")], capture_output=True, text=True, check=True)
    found = {int(line.split()[0]): int(line.split()[1]) for line in done.stdout.splitlines()}
    return [found.get(n) for n in range(len(functions))]


def wrong_results(seed: int, count: int, folder: Path) -> list[str]:
    """What we say otherwise than gcc: each with why, and the function."""
    shuffle = random.Random(seed)
    programs = [IntegerProgram(n, shuffle) for n in range(count)]
    types = "".join(program.types for program in programs)
    fills = [random.Random(f"{seed} {n}").getrandbits(64) for n in range(count)]

    def text(n: int, ending: str, is_known: bool) -> str:
        programs[n].shuffle = random.Random(fills[n])  # the same numbers whenever the function is written
        return known(programs[n], ending) if is_known else unknown(programs[n], ending, random.Random(fills[n]))

    expected = natively(folder, [(types if n == 0 else "") + text(n, "return h;", True) for n in range(count)])
    wrong = []
    for is_known in (True, False):
        endings = ["return 0;" if e is None else f"assert(h == {e}ul); return 0;" for e in expected]
        functions = [text(n, ending, is_known) for n, ending in enumerate(endings)]
        source = SourceText("batch.c", PROLOGUE + types + "\n".join(functions))
        linked = Linked([read_module(compile_text(source, COptions()), "batch.c")])
        for n, function in enumerate(functions):
            said = what_we_say(linked, source, f"main{n}", undefined=expected[n] is None)
            if said:
                wrong.append(f"{said}\n{programs[n].n} of seed {seed}\n{function}")
    return wrong


def what_we_say(linked: Linked, source: SourceText, entry: str, *, undefined: bool) -> str:
    """Nothing where it is right."""
    specialised = specialise(linked, COptions(entry=entry, deadlock=False))
    program = assemble(specialised, Sources((source,)), source)
    result = check(program, CheckOptions(model="sc", criterion="safety", engine="explicit", reduce=()))
    failure = None if result.trace is None else result.trace.failure
    reason = "" if failure is None else failure.reason
    if undefined:
        return "" if result.verdict is Verdict.VIOLATED and reason else f"undefined behaviour, but {result.verdict}"
    return (
        ""
        if result.verdict is Verdict.HOLDS
        else f"defined, but {result.verdict}: {reason} {result.answer.evidence}"[:400]
    )


def test_integers_and_memory_are_as_gcc_has_them(tmp_path: Path) -> None:
    assert wrong_results(100, SAMPLE, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_many_integers_and_objects_are_as_gcc_has_them(batch: int, tmp_path: Path) -> None:
    assert wrong_results(1000 + batch, FUNCTIONS_A_BATCH, tmp_path) == []
