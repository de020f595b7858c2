"""Constructs that programs of other people use: fences of RMM, x86-64 as compilers write it, Promela with `-D`."""

from __future__ import annotations

from pathlib import Path

import pytest

import memfence
from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.program.ir import Fence
from memfence.source import SourceText
from support.command_line import ROOT
from support.command_line import memfence as command

RMM = """\
forbidden CS CS
macro both(a)
  write: a := 1;
  ssfence;
  fence
endmacro
data
  x = 0 : [0:1]
process(2)
registers
  $r = 0 : [0:1]
text
  both(x);
  llfence;
  read: $r := x;
CS: nop
"""
X86_64 = """\
X86_64 compiled
{ x=0; 0:rax=x; }
 P0              | P1             ;
 endbr64         | endbr64        ;
 movl $3,%ebx    | movl $-8,%ebx  ;
 shll $2,%ebx    | sarl $1,%ebx   ;
 shrl %ebx       | movl $5,%ecx   ;
 nopl 0(%rax)    | nopw 0x0(%rax,%rax,1) ;
 movl %ebx,(%rax)| ret            ;
 ret             | movl $9,%ecx   ;
exists (x=6 /\\ 1:rbx=-4 /\\ 1:rcx=5)
"""
WIDE = """\
X86_64 wide
{{ x=0; 0:rax=x; }}
 P0                       ;
 movabsq ${constant},%rbx ;
 movq %rbx,(%rax)         ;
exists (x={value})
"""
SPIN = """\
#ifndef N
#define N 1
#endif
byte x;
active [N] proctype P() { x = x + 1 }
"""
HEADER = """\
#include "memfence.h"
byte lock, counter, done;
active [2] proctype P() {
    byte old, won, seen;
    do
    :: cas(won, lock, 0, 1); if :: won -> break :: else fi
    od;
    seen = counter;
    counter = seen + 1;
    release_store(lock, 0);
    fetch_add(old, done, 1);
    xchg(old, lock, old)
}
"""


def test_rmm_knows_the_fences_of_memorax() -> None:
    program = memfence.load_text(SourceText("m.rmm", RMM))
    fences = [op.kind for t in program.processes[0].transitions for op in t.ops if isinstance(op, Fence)]
    assert sorted(fences) == ["mfence", "sfence"]


def test_x86_64_as_compilers_write_it() -> None:
    assert memfence.check(SourceText("m.litmus", X86_64), model="sc").verdict == "violated"  # the outcome is possible


@pytest.mark.parametrize(
    ("constant", "value"),
    [("0x7fffffff", 2**31 - 1), ("0xffffffffffffffff", -1), ("18446744071562067968", -(2**31)), ("-2", -2)],
)
def test_64_bit_constants_are_read_where_the_value_has_32_bits(constant: str, value: int) -> None:
    text = WIDE.format(constant=constant, value=value)
    assert memfence.check(SourceText("m.litmus", text), model="sc").verdict == "violated"


@pytest.mark.parametrize(
    "constant", ["0x1122334455667788", "0x80000000", "4294967295", "0x10000000000000000", "9" * 99]
)
def test_64_bit_constants_that_do_not_fit_are_refused(constant: str) -> None:
    with pytest.raises(InputError) as refused:
        memfence.load_text(SourceText("m.litmus", WIDE.format(constant=constant, value=0)))
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code is Code.TOO_LARGE and diagnostic.hint is not None and "signed" in diagnostic.hint


@pytest.mark.parametrize(("definition", "processes"), [("N=3", 3), ("M", 1)])
def test_promela_takes_macros_from_the_command_line(definition: str, processes: int, tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text(SPIN)
    assert command("check", path, "-D", definition, "--final", f"x <= {processes}").returncode == 0
    assert command("check", path, f"-D{definition}", "--final", f"x < {processes}").returncode == 1


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_the_header_has_read_modify_writes(model: str) -> None:
    source = SourceText("m.pml", HEADER)
    assert memfence.check(source, model=model, final="counter == 2 && done == 2").verdict == "holds"


def test_the_header_of_the_examples_is_the_one_that_is_shipped() -> None:
    shipped = ROOT / "src/memfence/frontends/promela/memfence.h"
    assert shipped.read_text() == (ROOT / "examples/memfence.h").read_text()
