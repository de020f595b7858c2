"""How long does it take to start, and to read a large text? Whole commands, in processor time, as ratios.

`python benchmarks/reading.py` measures `python -c pass`, lark's own lexer over the same text and our commands in one
run, each several times in turn; the least counts. The large models are generated: many processes with many steps over
arrays and local variables, of which the search sees one state. So reading, lowering and preparing is all that is done.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import spin

MEMFENCE = str(Path(sys.executable).with_name("memfence"))
STEPS_A_PROCESS = 400
MEGABYTE = 1_000_000

SMALL = """\
program store_buffering
vars x y
procs
process P
regs $r
init a
begin
a: x = 1; goto b
b: $r = y; goto c
end
process Q
regs $r
init a
begin
a: y = 1; goto b
b: $r = x; goto c
end
forbid P@c && Q@c && P.r == 0 && Q.r == 0;
"""

LEX = """\
import sys
from memfence.frontends.parsing.grammar import make_lark
text = open(sys.argv[1]).read()
assert sum(1 for _ in make_lark("dve").lex(text)) > 100
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One command; `exit_code` is asserted, so that nothing is fast by failing."""

    name: str
    command: tuple[str, ...]
    exit_code: int = 0


def dve_model(size: int) -> str:
    """A DVE model of at least `size` characters."""
    head = "byte turn = 255;\nint total = 0;\nbyte table[8] = { 1, 2, 3, 4, 5, 6, 7, 0 };\n"
    return _repeated(head, _dve_process, size) + "system async;\n"


def promela_model(size: int) -> str:
    """The same in Promela, of which no more than 200,000 tokens are read."""
    return _repeated("byte turn = 255;\nint total = 0;\nbyte table[8];\n", _promela_process, size)


def _repeated(head: str, process: Callable[[int], str], size: int) -> str:
    parts, length = [head], len(head)
    while length < size:
        parts.append(process(len(parts) - 1))
        length += len(parts[-1])
    return "".join(parts)


def _dve_process(number: int) -> str:
    states = ", ".join(f"q{step}" for step in range(STEPS_A_PROCESS + 1))
    steps = [f"  q0 -> q1 {{ guard turn == {number}; effect count = 0; }}"]
    steps += [f"  q{step} -> q{step + 1} {{ {_dve_step(number, step)} }}" for step in range(1, STEPS_A_PROCESS)]
    steps.append(f"  q{STEPS_A_PROCESS} -> q0 {{ guard turn == {number}; effect turn = {(number + 1) % 256}; }}")
    declared = f"byte mine[4];\nint count = 0;\nstate {states};\ninit q0;\n"
    return f"process P_{number} {{\n{declared}trans\n" + ",\n".join(steps) + ";\n}\n"


def _dve_step(number: int, step: int) -> str:
    here, there = step % 8, (step + 1) % 8
    return (
        f"guard turn == {number} and table[{here}] >= 0; effect total = (total + {step}) % 100;",
        f"guard table[(count + {here}) % 8] < 200; effect count = (count + 1) % 16;",
        f"effect mine[count % 4] = count, table[{here}] = (table[{there}] + 1) % 8;",
        f"guard mine[{step % 4}] <= 16 || not (total == {step});",
        "effect total = total - (total > 50) * 10;",
    )[step % 5]


def _promela_process(number: int) -> str:
    steps = [f"  turn == {number};"] + [f"  {_promela_step(number, step)};" for step in range(1, STEPS_A_PROCESS)]
    steps.append(f"  turn = {(number + 1) % 256}")
    return f"active proctype P_{number}() {{\n  byte mine[4]; int count = 0;\n" + "\n".join(steps) + "\n}\n"


def _promela_step(number: int, step: int) -> str:
    here, there = step % 8, (step + 1) % 8
    return (
        f"(turn == {number} && table[{here}] >= 0) -> total = (total + {step}) % 100",
        f"(table[(count + {here}) % 8] < 200) -> count = (count + 1) % 16",
        f"mine[count % 4] = count; table[{here}] = (table[{there}] + 1) % 8",
        f"(mine[{step % 4}] <= 16 || !(total == {step}))",
        "total = total - (total > 50) * 10",
    )[step % 5]


def rows(folder: Path) -> tuple[Row, ...]:
    """What is measured. The first two are what the others are compared with."""
    small, large, promela = folder / "small.pst", folder / "large.dve", folder / "large.pml"
    small.write_text(SMALL)
    large.write_text(dve_model(2 * MEGABYTE))
    promela.write_text(promela_model(2 * MEGABYTE // 5))
    never = ("--forbid", "total == 1000")
    return (
        Row("`python -c pass`", (sys.executable, "-c", "pass")),
        Row("lark's lexer, DVE of 2 MB", (sys.executable, "-c", LEX, str(large))),
        Row("`check`, 17 lines", (MEMFENCE, "check", str(small)), 1),
        Row("`fix`, 17 lines", (MEMFENCE, "fix", str(small))),
        Row("`check`, DVE of 2 MB", (MEMFENCE, "check", str(large), *never)),
        Row("`check`, Promela of 0.4 MB", (MEMFENCE, "check", str(promela), *never)),
    )


def main(times: int = 3) -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # compiling our own modules is not what is measured
    least: dict[str, float] = {}
    with TemporaryDirectory() as name:
        measured = rows(Path(name))
        for _ in range(times):
            for row in measured:
                cpu = spin.timed(row.command, exit_codes=(row.exit_code,)).cpu
                least[row.name] = min(cpu, least.get(row.name, cpu))
    start, lexing = list(least.values())[:2]
    print("| command | CPU seconds | times `python -c pass` | times lark's lexer over 2 MB |")
    print("|---|--:|--:|--:|")
    for what, cpu in least.items():
        print(f"| {what} | {cpu:.3f} | {cpu / start:.1f} | {cpu / lexing:.2f} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
