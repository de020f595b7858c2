"""The classical litmus tests on RISC-V, with the verdicts that are published for them: plain, with fences, with
dependencies, and with C's orders as compilers translate them."""

from __future__ import annotations

import pytest

from memfence.axiomatic.library import models_named
from memfence.engines.axiomatic.goals import Ends
from memfence.engines.axiomatic.solve import Executions, Found, Nothing
from support.generators.litmus_words import code_of, condition_of

SB, MP, LB, S, R, WW = "0:0=0 1:0=0", "1:0=1 1:1=0", "0:0=1 1:0=1", "1:0=1 x=2", "1:0=0 y=2", "x=2 y=2"
IRIW, WRC, ISA2 = "2:0=1 2:1=0 3:0=1 3:1=0", "1:0=1 2:0=1 2:1=0", "1:0=1 2:0=1 2:1=0"
ALLOWED, FORBIDDEN = True, False

TESTS = [
    ("SB", "Wx1 Ry | Wy1 Rx", SB, ALLOWED),
    ("SB+fence.rw.rws", "Wx1 F:rw.rw Ry | Wy1 F:rw.rw Rx", SB, FORBIDDEN),
    ("SB+fence.rw.rw+po", "Wx1 F:rw.rw Ry | Wy1 Rx", SB, ALLOWED),
    ("SB+fence.tsos", "Wx1 F:tso Ry | Wy1 F:tso Rx", SB, ALLOWED),
    ("SB in C: release, acquire", "Wx1:rel Ry:acq | Wy1:rel Rx:acq", SB, ALLOWED),
    ("SB in C: seq_cst", "Wx1:sc Ry:sc | Wy1:sc Rx:sc", SB, FORBIDDEN),
    ("SB in C: seq_cst stores only", "Wx1:sc Ry | Wy1:sc Rx", SB, ALLOWED),
    ("SB in C: acq_rel exchanges", "Ax1:acqrel Ry | Ay1:acqrel Rx", "0:1=0 1:1=0", None),
    ("SB in C: seq_cst exchanges and loads", "Ax1:sc Ry:sc | Ay1:sc Rx:sc", "0:1=0 1:1=0", FORBIDDEN),
    ("MP", "Wx1 Wy1 | Ry Rx", MP, ALLOWED),
    ("MP+fence.rw.rws", "Wx1 F:rw.rw Wy1 | Ry F:rw.rw Rx", MP, FORBIDDEN),
    ("MP+fence.w.w+fence.r.rw", "Wx1 F:w.w Wy1 | Ry F:r.rw Rx", MP, FORBIDDEN),
    ("MP+fence.tsos", "Wx1 F:tso Wy1 | Ry F:tso Rx", MP, FORBIDDEN),
    ("MP+fence.rw.w+po", "Wx1 F:rw.w Wy1 | Ry Rx", MP, ALLOWED),
    ("MP+po+fence.r.rw", "Wx1 Wy1 | Ry F:r.rw Rx", MP, ALLOWED),
    ("MP+fence.rw.rw+addr", "Wx1 F:rw.rw Wy1 | Ry Rx@", MP, FORBIDDEN),
    ("MP+fence.rw.rw+ctrl", "Wx1 F:rw.rw Wy1 | Ry ctrl Rx", MP, ALLOWED),
    ("MP+fence.rw.rw+addr-rfi-addr", "Wx1 F:rw.rw Wy1 | Ry Wz1@ Rz Rx@", "1:0=1 1:1=1 1:2=0", FORBIDDEN),
    ("MP+fence.rw.rw+data-rfi-addr", "Wx1 F:rw.rw Wy1 | Ry Wz1! Rz Rx@", "1:0=1 1:1=1 1:2=0", FORBIDDEN),
    ("MP+fence.rw.rw+ctrl-rfi-addr", "Wx1 F:rw.rw Wy1 | Ry ctrl Wz1 Rz Rx@", "1:0=1 1:1=1 1:2=0", ALLOWED),
    ("MP in C: release, acquire", "Wx1 Wy1:rel | Ry:acq Rx", MP, FORBIDDEN),
    ("MP in C: release, relaxed", "Wx1 Wy1:rel | Ry Rx", MP, ALLOWED),
    ("LB", "Rx Wy1 | Ry Wx1", LB, ALLOWED),
    ("LB+datas", "Rx Wy1! | Ry Wx1!", LB, FORBIDDEN),
    ("LB+addrs", "Rx Wy1@ | Ry Wx1@", LB, FORBIDDEN),
    ("LB+ctrls", "Rx ctrl Wy1 | Ry ctrl Wx1", LB, FORBIDDEN),
    ("LB+data+po", "Rx Wy1! | Ry Wx1", LB, ALLOWED),
    ("LB+fence.r.rws", "Rx F:r.rw Wy1 | Ry F:r.rw Wx1", LB, FORBIDDEN),
    ("LB+fence.w.ws", "Rx F:w.w Wy1 | Ry F:w.w Wx1", LB, ALLOWED),
    ("LB in C: acquire", "Rx:acq Wy1 | Ry:acq Wx1", LB, FORBIDDEN),
    ("LB in C: release", "Rx Wy1:rel | Ry Wx1:rel", LB, FORBIDDEN),
    ("S", "Wx2 Wy1 | Ry Wx1", S, ALLOWED),
    ("S+fence.w.w+data", "Wx2 F:w.w Wy1 | Ry Wx1!", S, FORBIDDEN),
    ("S+fence.w.w+ctrl", "Wx2 F:w.w Wy1 | Ry ctrl Wx1", S, FORBIDDEN),
    ("S+fence.w.w+po", "Wx2 F:w.w Wy1 | Ry Wx1", S, ALLOWED),
    ("S in C: release, acquire", "Wx2 Wy1:rel | Ry:acq Wx1", S, FORBIDDEN),
    ("R", "Wx1 Wy1 | Wy2 Rx", R, ALLOWED),
    ("R+fence.rw.rws", "Wx1 F:rw.rw Wy1 | Wy2 F:rw.rw Rx", R, FORBIDDEN),
    ("R+fence.w.w+fence.rw.rw", "Wx1 F:w.w Wy1 | Wy2 F:rw.rw Rx", R, FORBIDDEN),
    ("R+fence.rw.rw+fence.tso", "Wx1 F:rw.rw Wy1 | Wy2 F:tso Rx", R, ALLOWED),
    ("R in C: seq_cst", "Wx1:sc Wy1:sc | Wy2:sc Rx:sc", R, FORBIDDEN),
    ("2+2W", "Wx2 Wy1 | Wy2 Wx1", WW, ALLOWED),
    ("2+2W+fence.w.ws", "Wx2 F:w.w Wy1 | Wy2 F:w.w Wx1", WW, FORBIDDEN),
    ("2+2W+fence.r.rws", "Wx2 F:r.rw Wy1 | Wy2 F:r.rw Wx1", WW, ALLOWED),
    ("2+2W in C: release", "Wx2 Wy1:rel | Wy2 Wx1:rel", WW, FORBIDDEN),
    ("IRIW", "Wx1 | Wy1 | Rx Ry | Ry Rx", IRIW, ALLOWED),
    ("IRIW+addrs", "Wx1 | Wy1 | Rx Ry@ | Ry Rx@", IRIW, FORBIDDEN),
    ("IRIW+fence.r.rws", "Wx1 | Wy1 | Rx F:r.rw Ry | Ry F:r.rw Rx", IRIW, FORBIDDEN),
    ("IRIW in C: acquire", "Wx1 | Wy1 | Rx:acq Ry | Ry:acq Rx", IRIW, FORBIDDEN),
    ("WRC", "Wx1 | Rx Wy1 | Ry Rx", WRC, ALLOWED),
    ("WRC+data+addr", "Wx1 | Rx Wy1! | Ry Rx@", WRC, FORBIDDEN),
    ("WRC+data+po", "Wx1 | Rx Wy1! | Ry Rx", WRC, ALLOWED),
    ("WRC in C: release, acquire", "Wx1 | Rx Wy1:rel | Ry:acq Rx", WRC, FORBIDDEN),
    ("ISA2+fence.rw.rw+data+addr", "Wx1 F:rw.rw Wy1 | Ry Wz1! | Rz Rx@", ISA2, FORBIDDEN),
    ("ISA2+fence.rw.rw+po+addr", "Wx1 F:rw.rw Wy1 | Ry Wz1 | Rz Rx@", ISA2, ALLOWED),
    ("CoRR", "Wx1 Wx2 | Rx Rx", "1:0=2 1:1=1", FORBIDDEN),
    ("CoRR0", "Wx1 | Rx Rx", "1:0=1 1:1=0", FORBIDDEN),
    ("CoWW", "Wx1 Wx2", "x=1", FORBIDDEN),
    ("CoWR", "Wx1 Rx | Wx2", "0:0=2 x=1", FORBIDDEN),
    ("CoRW", "Rx Wx1 | Wx2", "0:0=2 x=2", FORBIDDEN),
    ("two exchanges", "Ax1 | Ax2", "0:0=0 1:0=0", FORBIDDEN),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "condition", "expected"), TESTS, ids=[test[0] for test in TESTS])
def test_verdicts_are_the_published_ones(name: str, text: str, condition: str, expected: bool | None) -> None:
    for model in models_named("riscv"):
        executions = Executions(code_of(text))
        answer = executions.find(executions.add(model), Ends(condition_of(condition)))
        assert isinstance(answer, Found | Nothing)
        is_single = model.variant == "amo"
        assert isinstance(answer, Found) == (not is_single if expected is None else expected), model.variant
