"""The reading of C's memory orders against the x86 litmus front end: the same final values under sc, tso and pso.

Random straight-line threads with loads, stores, fences and read-modify-writes of every order are written twice: as C,
and as the instructions that gcc and clang generate for them (for PSO with the `sfence` that keeps stores in order).
"""

from __future__ import annotations

import random

import pytest

from memfence.frontends.c.clang import compile_text
from memfence.frontends.c.llvm.link import Linked
from memfence.frontends.c.llvm.reader import read_module
from memfence.frontends.c.lowering.assemble import assemble
from memfence.frontends.c.lowering.sources import Sources
from memfence.frontends.c.machine.specialise import specialise
from memfence.frontends.catalogue import language_named
from memfence.passes.intervals import bound_values
from memfence.program.expressions import TRUE, Shared, variable_address
from memfence.program.ir import Final, Program
from memfence.program.load_options import COptions
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

PROGRAMS_A_BATCH = 50
BATCHES = 10
SAMPLE = 50
LOADS = ("relaxed", "consume", "acquire", "seq_cst")
STORES = ("plain", "relaxed", "release", "seq_cst")
UPDATES = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")
FENCES = ("acquire", "release", "acq_rel", "seq_cst")
REGISTERS = ("EBX", "ECX", "EDX", "ESI")


class Thread:
    """One thread in both languages; `results` are its registers, in order of use."""

    def __init__(self, name: str, shuffle: random.Random) -> None:
        self.name = name
        self.c: list[str] = []
        self.x86: list[tuple[str, ...]] = []
        self.results: list[str] = []
        self.last = "y" if name == "a" else "x"
        for _ in range(shuffle.randint(2, 3)):
            self._add(shuffle)

    def _fresh(self) -> str:
        self.results.append(REGISTERS[len(self.results)])
        return self.results[-1]

    def _add(self, shuffle: random.Random) -> None:
        variable, value = self._variable(shuffle), shuffle.randint(1, 2)
        kind = shuffle.choice(("load",) * 4 + ("store",) * 5 + ("fence", "add", "exchange", "cas"))
        if kind == "load":
            order, register = shuffle.choice(LOADS), self._fresh()
            self._read(register, f"atomic_load_explicit(&{variable}, memory_order_{order})")
            self.x86.append((f"MOV {register},[{variable}]",))
        elif kind == "store":
            self._store(variable, value, shuffle.choice(STORES))
        elif kind == "fence":
            order = shuffle.choice(FENCES)
            self.c.append(f"atomic_thread_fence(memory_order_{order});")
            self.x86 += {"acquire": [], "seq_cst": [("MFENCE",)]}.get(order, [("SFENCE",)])
        else:
            self._update(kind, variable, value, shuffle)

    def _variable(self, shuffle: random.Random) -> str:
        """Mostly the other one than last time: only accesses of different variables overtake each other."""
        if shuffle.random() < 0.8:
            self.last = "x" if self.last == "y" else "y"
        return self.last

    def _read(self, register: str, expression: str) -> None:
        self.c.append(f"{self.name}_{register} = {expression};")

    def _store(self, variable: str, value: int, order: str) -> None:
        if order == "plain":
            self.c.append(f"*(volatile int *)&{variable} = {value};")
        else:
            self.c.append(f"atomic_store_explicit(&{variable}, {value}, memory_order_{order});")
        if order == "seq_cst":
            self.x86.append((f"MOV EDI,${value}", f"XCHG [{variable}],EDI"))
        elif order == "release":
            self.x86.append(("SFENCE", f"MOV [{variable}],${value}"))
        else:
            self.x86.append((f"MOV [{variable}],${value}",))

    def _update(self, kind: str, variable: str, value: int, shuffle: random.Random) -> None:
        order, register = shuffle.choice(UPDATES), self._fresh()
        full = f"memory_order_{order}"
        if kind == "add":
            self._read(register, f"atomic_fetch_add_explicit(&{variable}, {value}, {full})")
            self.x86.append((f"MOV {register},${value}", f"LOCK XADD [{variable}],{register}"))
        elif kind == "exchange":
            self._read(register, f"atomic_exchange_explicit(&{variable}, {value}, {full})")
            self.x86.append((f"MOV {register},${value}", f"XCHG [{variable}],{register}"))
        else:
            expected = shuffle.randint(0, 1)
            failure = "relaxed" if order in ("release", "acq_rel") else order
            call = f"atomic_compare_exchange_strong_explicit(&{variable}, &e, {value}, {full}, memory_order_{failure})"
            self.c.append(f"{{ int e = {expected}; {call}; {self.name}_{register} = e; }}")
            self.x86.append(
                (f"MOV EAX,${expected}", f"MOV EDI,${value}", f"LOCK CMPXCHG [{variable}],EDI", f"MOV {register},EAX")
            )


def as_c(number: int, threads: list[Thread]) -> str:
    """The program in C; every result is a variable of its own."""
    prefix = f"p{number}_"
    names = [f"{prefix}{t.name}_{r}" for t in threads for r in t.results]
    lines = [f"atomic_int {prefix}x, {prefix}y;", *(f"volatile int {name};" for name in names)]
    for thread in threads:
        body = " ".join(thread.c).replace("&x", f"&{prefix}x").replace("&y", f"&{prefix}y")
        for register in thread.results:
            body = body.replace(f"{thread.name}_{register}", f"{prefix}{thread.name}_{register}")
        lines.append(f"static void *{prefix}{thread.name}(void *u) {{ {body} return 0; }}")
    starts = " ".join(f"pthread_create(&t, 0, {prefix}{t.name}, 0);" for t in threads)
    lines.append(f"int main{number}(void) {{ pthread_t t; {starts} return 0; }}")
    return "\n".join(lines)


def as_litmus(threads: list[Thread]) -> str:
    rows = [[row for group in t.x86 for row in group] for t in threads]
    height = max(len(r) for r in rows)
    columns = [r + [""] * (height - len(r)) for r in rows]
    widths = [max(len(cell) for cell in column) for column in columns]
    header = " | ".join(f"P{n}".ljust(w) for n, w in enumerate(widths))
    body = [" | ".join(c[i].ljust(w) for c, w in zip(columns, widths, strict=True)) + " ;" for i in range(height)]
    wanted = [f"{n}:{r}=0" for n, t in enumerate(threads) for r in t.results]
    state = "{ x=0; y=0; }"
    condition = " /\\ ".join([*wanted, "x=0", "y=0"])
    return "\n".join(["X86 test", state, f"{header} ;", *body, f"exists ({condition})", ""])


def observed(program: Program, names: list[str]) -> Program:
    """`program` with the final values of these variables listed."""
    values = []
    for name in names:
        number = program.variable_named(name)
        values.append((name, Shared(variable_address(number)) if number is not None else None))
    known = tuple((name, expr) for name, expr in values if expr is not None)
    return Program(
        program.name, program.variables, program.processes, (Final("exists", TRUE, "", known),), program.source
    )


def final_states(program: Program, model: str) -> set[tuple[int, ...]]:
    result = check(program, CheckOptions(model=model, criterion="safety"))  # type: ignore[arg-type]
    assert result.final_states is not None
    return {values for values, _ in result.final_states}


def compare(seed: int, count: int) -> int:
    """How many of `count` random programs have another answer under some model; each is read as its twin is."""
    shuffle = random.Random(seed)
    programs = [[Thread("a", shuffle), Thread("b", shuffle)] for _ in range(count)]
    text = "#include <stdatomic.h>\n#include <pthread.h>\n" + "\n".join(as_c(n, p) for n, p in enumerate(programs))
    source = SourceText("batch.c", text)
    linked = Linked([read_module(compile_text(source, COptions()), "batch.c")])
    return sum(differs(n, threads, linked, source) for n, threads in enumerate(programs))


def differs(number: int, threads: list[Thread], linked: Linked, source: SourceText) -> bool:
    litmus = language_named("litmus")
    assert litmus is not None
    options = COptions(entry=f"main{number}", deadlock=False)
    program = assemble(specialise(linked, options), Sources((source,)), source)
    prefix = f"p{number}_"
    names = [f"{prefix}{t.name}_{r}" for t in threads for r in t.results] + [f"{prefix}x", f"{prefix}y"]
    missing = [n for n in names if program.variable_named(n) is None]
    assert all(name.endswith(("_x", "_y")) for name in missing)
    mine = bound_values(observed(program, names))
    twin = bound_values(litmus.frontend().parse(SourceText("twin.litmus", as_litmus(threads))))
    kept = [i for i, n in enumerate(names) if n not in missing]
    found = {}
    for model in ("sc", "tso", "pso"):
        expected = {tuple(values[i] for i in kept) for values in final_states(twin, model)}
        found[model] = final_states(mine, model)
        assert found[model] == expected, (model, as_c(number, threads), as_litmus(threads))
    return found["sc"] != found["tso"] or found["tso"] != found["pso"]


@needs_clang
def test_orders_are_read_as_compilers_write_them() -> None:
    """A sample; some of its programs have outcomes that only buffers explain, or it would show nothing."""
    assert compare(1000, SAMPLE) >= 1


@needs_clang
@pytest.mark.slow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_orders_of_many_programs_are_read_as_compilers_write_them(batch: int) -> None:
    assert compare(1000 + batch, PROGRAMS_A_BATCH) >= 1
