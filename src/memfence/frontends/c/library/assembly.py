"""Inline assembly: the patterns that real lock-free code uses, by table; everything else is refused with its line."""

from __future__ import annotations

import re

from memfence.codes import Code
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.llvm.values import InlineAsm
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Barrier
from memfence.program.orders import MemoryOrder

NOTHING = re.compile(r"^(nop|pause|rep nop|sti|cli|hlt|lfence|prefetch\w* .*)?$")
FULL = re.compile(r"^(mfence|lock (or|add)[lq]? \$\$?(0x)?0, ?(-?\d*)\(%%?[er]?sp\).*)$")
STORES = re.compile(r"^sfence$")


def run_assembly(path: Path, call: Call, asm: InlineAsm) -> None:
    """Do what the assembly text does."""
    joined = re.sub(r"\b(lock|rep)\s*[;\n]\s*", r"\1 ", asm.text)
    lines = [" ".join(line.split()) for line in re.split(r"[\n;]", joined)]
    lines = [line for line in lines if line and not line.startswith(("#", "/*"))]
    if all(NOTHING.match(line) for line in lines):
        returned(path, call, None)
        return
    rest = [line for line in lines if not NOTHING.match(line)]
    if path.shown_place is not None:
        path.world.assembly.add(path.shown_place)
    if len(rest) == 1 and FULL.match(rest[0]):
        _barrier(path, call, MemoryOrder.SEQ_CST)
    elif len(rest) == 1 and STORES.match(rest[0]):
        _barrier(path, call, MemoryOrder.RELEASE)
    else:
        from memfence.frontends.c.library.assembly_operands import run_pattern

        if not run_pattern(path, call, asm, rest):
            raise path.refuse(
                Code.UNSUPPORTED,
                f"the inline assembly `{'; '.join(lines)}` is not supported",
                "use <stdatomic.h> or the compiler's __atomic builtins instead",
            )


def _barrier(path: Path, call: Call, order: MemoryOrder) -> None:
    returned(path, call, None, meet=False)
    if path.state.started:
        path.emit([Barrier(order)])
