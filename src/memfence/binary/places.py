"""From addresses to what the user wrote: lines of code by `addr2line`, variables by `nm`."""

from __future__ import annotations

import subprocess
from bisect import bisect_right
from collections.abc import Iterable
from pathlib import Path

from memfence.binary.members import MAIN_FRAME, Members
from memfence.failures import ERROR, ending_of
from memfence.records import Record

HEAP = range(0x2000_0000_0000, 0x2000_0000_0000 + 65 * (1 << 30))
STACKS = 0x3000_0000_0000
STACK_BYTES = (8 << 20) + (64 << 10)
MOST_STACKS = 64
WORD = 8
SYSTEM = ("/usr/", "/lib/", "/rustc/")
ASKED_FOR = ("assertion", "abort", "exit status", "signal", "error")
"""Ends of the table of failures that a program calls for by name; C++ headers call for the others."""


class SourceLine(Record):
    """A line of the program, and the function that it belongs to. `path` as the compiler was told it."""

    path: str
    line: int
    function: str = ""

    @property
    def text(self) -> str:
        return f"{self.path}:{self.line}"


NO_PLACE = SourceLine("", 0)


class Symbol(Record):
    """A variable of the program."""

    address: int
    size: int
    name: str


class Names:
    """Looks addresses up in the debug information of one program."""

    def __init__(self, program: Path, load_address: int) -> None:
        self._program = program
        self._base = load_address
        self._symbols = _symbols(program)
        self._starts = [symbol.address for symbol in self._symbols]
        self._places: dict[int, tuple[SourceLine, ...]] = {}
        self._members = Members(program)

    @property
    def asserts(self) -> bool:
        """Whether the program itself can call for an error: by `assert`, `abort`, a signal or a status."""
        wanted = subprocess.run(
            ["nm", "-D", "--undefined-only", self._program], capture_output=True, text=True, check=False
        )
        endings = [ending_of(name.split("@")[0]) for name in wanted.stdout.split()]
        return any(ending is not None and ending.kind in ASKED_FOR for ending in endings) or self._defines_error

    @property
    def _defines_error(self) -> bool:
        done = subprocess.run(["nm", "--defined-only", self._program], capture_output=True, text=True, check=False)
        return not set(ERROR.names).isdisjoint(done.stdout.split())

    def learn(self, addresses: Iterable[int]) -> None:
        """Look up many return addresses at once."""
        wanted = sorted({address for address in addresses if address not in self._places})
        for start in range(0, len(wanted), 500):
            self._places.update(_look_up(self._program, wanted[start : start + 500], self._base))

    def place(self, pc: int | None, calls: Iterable[int] = ()) -> SourceLine:
        """The innermost place in a file of the user: not in the headers of the system."""
        frames = [pc, *calls] if pc is not None else list(calls)
        self.learn(frames)
        known = [place for frame in frames for place in self._places.get(frame, ()) if place.line > 0]
        own = [place for place in known if not place.path.startswith(SYSTEM)]
        return next(iter(own or known), NO_PLACE)

    def variable(self, address: int | None) -> str:
        """A name for the memory there."""
        if address is None:
            return ""
        if address in HEAP:
            return f"heap+{address - HEAP.start:#x}"
        if STACKS <= address < STACKS + MOST_STACKS * STACK_BYTES:
            thread, offset = divmod(address - STACKS, STACK_BYTES)
            if thread == 0 and (local := self._members.in_main(STACK_BYTES - offset - MAIN_FRAME)):
                return local
            return f"stack of thread {thread}, {STACK_BYTES - offset} bytes below its top"
        found = self._symbol(address - self._base)
        if found is None:
            return f"{address:#x}"
        offset = address - self._base - found.address
        part = self._members.of_variable(found.address, offset) if found.size > WORD else ""
        return f"{found.name}{part}" if part or offset == 0 else f"{found.name}+{offset}"

    def pointee(self, value: int) -> str:
        """What a value points to, if it is the address of something that has a name; else nothing."""
        is_address = value in HEAP or STACKS <= value < STACKS + MOST_STACKS * STACK_BYTES
        return f"&{self.variable(value)}" if is_address or self._symbol(value - self._base) is not None else ""

    def _symbol(self, address: int) -> Symbol | None:
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        symbol = self._symbols[index]
        return symbol if address < symbol.address + max(1, symbol.size) else None


def _symbols(program: Path) -> list[Symbol]:
    done = subprocess.run(["nm", "-n", "-S", "-C", str(program)], capture_output=True, text=True, check=False)
    lines = [parts for line in done.stdout.splitlines() if len(parts := line.split(maxsplit=3)) == 4]
    code = min((int(parts[0], 16) for parts in lines if parts[2] in "tT"), default=0)
    return [
        Symbol(address, int(parts[1], 16), parts[3])
        for parts in lines
        if parts[2] in "bBdDrRvVuG" and (address := int(parts[0], 16)) >= code  # thread-local ones are offsets
    ]


def _look_up(program: Path, addresses: list[int], base: int) -> dict[int, tuple[SourceLine, ...]]:
    """A return address points behind the call: one less is in it. Addresses of libraries stay unknown."""
    asked = [f"{max(0, address - 1 - base):#x}" for address in addresses]
    command = ["addr2line", "-e", str(program), "-f", "-C", "-i", "-a", *asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    here = f"{Path.cwd()}/"
    places: list[list[SourceLine]] = []
    lines = iter(done.stdout.splitlines())
    for line in lines:
        if line.startswith("0x"):
            places.append([])
            continue
        path, _, number = next(lines, "??:0").rpartition(":")
        digits = number.split(" ", maxsplit=1)[0]
        if path != "??" and digits.isdigit():
            places[-1].append(SourceLine(path.removeprefix(here), int(digits), line))
    return {address: tuple(found) for address, found in zip(addresses, places, strict=False)}
