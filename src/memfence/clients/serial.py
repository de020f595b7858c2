"""Calls one after the other, by a compiled program: what the object itself says that they give.

Each order runs in a process of its own. A call that waits for what nobody will do any more is stuck: it comes to a lock
that is held, or it uses up its share of processor time.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from memfence.clients.order import Order, Turn, orders_of
from memfence.clients.program import Hooks, is_cpp_object, ordered_program
from memfence.clients.specification import Client, Specification
from memfence.codes import Code
from memfence.deadline import Deadline
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.c.clang import find_clang
from memfence.program.load_options import COptions
from memfence.records import Record

HERE = Path(__file__).parent
HEAD, CODE = "one_after_the_other.h", "one_after_the_other.c"
HOOKS = Hooks(f'#include "{HEAD}"', "memfence_my_turn(%(thread)d);", "memfence_next_turn();")
FLAGS = ("-w", "-g0", "-O0", "-pthread", "-UNDEBUG")


class SerialRunner(Record):
    """Runs the calls of clients. `options`: how the object is compiled; `folder`: for what is compiled."""

    specification: Specification
    options: COptions
    folder: Path

    def orders(self, client: Client, deadline: Deadline) -> tuple[Order, ...]:
        """Every order of the calls, with what it gives. InputError if the object cannot be compiled."""
        turns = list(dict.fromkeys(orders_of(self.specification, client)))
        command = [str(self._compiled(client)), *map(_typed, turns)]
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
            timeout=deadline.left, check=False,
        )  # fmt: skip
        answers = [line.split() for line in done.stdout.splitlines() if line.startswith("order ")]
        if len(answers) != len(turns):
            raise InputError(
                [self._wrong(f"its calls cannot be run one after the other: {done.stderr.strip()[-200:]}")]
            )
        return tuple(_answered(one, words[1:]) for one, words in zip(turns, answers, strict=True))

    def _compiled(self, client: Client) -> Path:
        specification = self.specification
        text = self.folder / ("calls.cpp" if is_cpp_object(specification) else "calls.c")
        here = Path(specification.source.path).parent
        includes = specification.includes
        if specification.sequential:
            includes = (f'"{specification.sequential}"',)
        text.write_text(ordered_program(specification, client, includes, HOOKS), encoding="utf-8")
        compiler, plain = self._compiler(is_cpp=True), self._compiler(is_cpp=False)
        options = [f"-D{macro}" for macro in self.options.macros] + [f"-I{name}" for name in self.options.include]
        options += [f"-std={self.options.std}"] if self.options.std else []
        turns = self.folder / "turns.o"
        if not turns.exists():
            self._call([*plain, *FLAGS, "-c", str(HERE / CODE), "-o", str(turns)])
        mine = compiler if is_cpp_object(specification) else plain
        made = self.folder / "calls"
        around = ["-iquote", str(here), f"-I{HERE}"]
        self._call([*mine, *FLAGS, *options, *around, str(text), str(turns), "-o", str(made)])
        return made

    def _compiler(self, *, is_cpp: bool) -> list[str]:
        """gcc where there is one: it links at once. Else the clang that reads C."""
        found = shutil.which("g++" if is_cpp else "gcc")
        return [found] if found else find_clang(self.options.clang, is_cpp, self.specification.source)

    def _call(self, command: Sequence[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0:
            reason = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[-200:])
            raise InputError([self._wrong(f"the calls do not compile: {reason.partition('error: ')[2] or reason}")])

    def _wrong(self, message: str) -> Diagnostic:
        return Diagnostic(Code.BAD_OBJECT, message, Label(self.specification.operations[0].span))


def _typed(turns: Sequence[Turn]) -> str:
    """`1c2f`: a call of thread 1, then one of thread 2 that fails."""
    return "".join(f"{turn.thread}{'f' if turn.fails else 'c'}" for turn in turns)


def _answered(turns: tuple[Turn, ...], words: Sequence[str]) -> Order:
    ended, *numbers = words
    values = tuple(map(int, numbers))
    return Order(turns, values) if ended == "ends" else Order(turns, None, values[0], is_stuck=ended == "stuck")
