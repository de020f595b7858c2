"""Parts of variables by their names: `q.tail_`, `ring.slots[1].seq`, also of local variables of `main`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from memfence.binary import dwarf
from memfence.binary.dwarf import Entry

AGGREGATES = (dwarf.CLASS, dwarf.STRUCTURE, dwarf.UNION)
WHOLE = ("atomic<", "__atomic_base<", "atomic_flag", "__atomic_flag_base")
"""Classes whose one member is not worth a name."""
MOST_INDEX = 1 << 20
LEXICAL_BLOCK = 0x0B
FROM_FRAME, FROM_STACK_POINTER = b"\x91", b"\x77"
WORD = 8
RESERVED = ("__", "_M_")
MAIN_FRAME = 256
"""How far the frame of `main` begins below the top of the first thread's stack, which is a multiple of it
(runtime/switch.hpp)."""
CHANGE = re.compile(r"(?P<how>sub|and)q?\s+\$0x(?P<number>[0-9a-f]+),%rsp")
POINTER = 0x0F


class Members:
    """Looks parts of variables up; reads the debug information when it is asked first."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._entries: dict[int, Entry] | None = None
        self._types: dict[int, Entry] = {}
        self._pointer: int | None = 0

    def of_variable(self, address: int, offset: int) -> str:
        """What to write behind the name of the variable at this address; nothing where that is not known."""
        self._read()
        type = self._types.get(address)
        return "" if type is None else self._path(type, offset) or ""

    def in_main(self, below: int) -> str:
        """The part of a local variable of `main`, so far below where its frame begins; nothing if there is none."""
        self._read()
        assert self._entries is not None
        mains = [e for e in self._entries.values() if e.tag == dwarf.SUBPROGRAM and e.values.get(dwarf.NAME) == "main"]
        found = [text for main in mains for local in _locals(main) if (text := self._local(local, -below))]
        return found[0] if len(found) == 1 else ""

    def _local(self, local: Entry, offset: int) -> str:
        where, name = local.values.get(dwarf.LOCATION), local.values.get(dwarf.NAME, "")
        if not isinstance(where, bytes) or not name or where[:1] not in (FROM_FRAME, FROM_STACK_POINTER):
            return ""
        start, end = dwarf.signed(where, 1)
        if where[:1] == FROM_STACK_POINTER:
            if (pointer := self._stack_pointer()) is None:
                return ""
            start += pointer
        type = self._type_of(local)
        if end != len(where) or type is None or not start <= offset < start + max(1, self._size(type)):
            return ""
        part = self._path(type, offset - start)
        return "" if part is None else f"main.{name}{part}"

    def _stack_pointer(self) -> int | None:
        """Of `main`, from where its frame begins: what its first instructions make of it. None if others change it."""
        if self._pointer == 0:
            command = ["objdump", "-d", "--no-show-raw-insn", "--disassemble=main", str(self._program)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            code = done.stdout.partition("<main>:")[2].splitlines()[1:]
            self._pointer = _after_prologue([line.partition("\t")[2].strip() for line in code])
        return self._pointer

    def _read(self) -> None:
        if self._entries is not None:
            return
        self._entries = dwarf.entries(self._program)
        for entry in self._entries.values():
            where = entry.values.get(dwarf.LOCATION)
            if entry.tag != dwarf.VARIABLE or not isinstance(where, bytes) or len(where) != 9:
                continue
            if where[0] == dwarf.AT_ADDRESS and (type := self._type_of(entry)) is not None:
                self._types[int.from_bytes(where[1:], "little")] = type

    def _type_of(self, entry: Entry | None) -> Entry | None:
        """Behind names and qualifiers."""
        assert self._entries is not None
        for _ in range(20):
            if entry is None:
                return None
            following = next(
                (entry.values[way] for way in (dwarf.TYPE, dwarf.SPECIFICATION, dwarf.ORIGIN) if way in entry.values),
                None,
            )
            if entry.tag in (*AGGREGATES, dwarf.ARRAY) or following is None:
                return entry
            if entry.tag == POINTER:
                return entry
            entry = self._entries.get(following)
        return None

    def _path(self, type: Entry, offset: int) -> str | None:
        """None: there is no such part."""
        if type.tag == dwarf.ARRAY:
            return self._element(type, offset)
        if type.tag not in AGGREGATES or type.values.get(dwarf.NAME, "").startswith(WHOLE):
            return "" if offset < max(1, type.values.get(dwarf.SIZE, 0)) else None
        for inner in type.inner:
            start = inner.values.get(dwarf.OFFSET, 0)
            if inner.tag not in (dwarf.MEMBER, dwarf.INHERITANCE) or not isinstance(start, int):
                continue
            if inner.tag == dwarf.MEMBER and dwarf.OFFSET not in inner.values and type.tag != dwarf.UNION:
                continue  # static
            part = self._type_of(inner)
            if part is None or not start <= offset < start + max(1, self._size(part)):
                continue
            rest = self._path(part, offset - start)
            if rest is None:
                continue
            name = inner.values.get(dwarf.NAME, "") if inner.tag == dwarf.MEMBER else ""
            if offset == 0 and name.startswith(RESERVED):
                return ""  # a lock of the library is known by its own name
            return f".{name}{rest}" if name else rest
        return None

    def _element(self, array: Entry, offset: int) -> str | None:
        part = self._type_of_element(array)
        counts = self._counts(array)
        if part is None or not counts or (size := self._size(part)) == 0:
            return None
        index, rest = divmod(offset, size)
        numbers: list[int] = []
        for count in reversed(counts[1:]):
            index, number = divmod(index, count)
            numbers.insert(0, number)
        if index >= (counts[0] or MOST_INDEX):
            return None
        inner = self._path(part, rest)
        return None if inner is None else "".join(f"[{number}]" for number in (index, *numbers)) + inner

    def _type_of_element(self, array: Entry) -> Entry | None:
        assert self._entries is not None
        return self._type_of(self._entries.get(array.values.get(dwarf.TYPE, -1)))

    def _counts(self, array: Entry) -> list[int]:
        """How many elements it has in each dimension; 0: that is not said."""
        ranges = [one.values for one in array.inner if one.tag == dwarf.SUBRANGE]
        known = [one.get(dwarf.COUNT, one.get(dwarf.UPPER, -1)) for one in ranges]
        if any(not isinstance(one, int) for one in known):
            return []
        return [number if dwarf.COUNT in one else number + 1 for number, one in zip(known, ranges, strict=True)]

    def _size(self, type: Entry) -> int:
        if type.tag != dwarf.ARRAY:
            return int(type.values.get(dwarf.SIZE, 8 if type.tag == POINTER else 0))
        part, size = self._type_of_element(type), 1
        for count in self._counts(type):
            size *= count
        return 0 if part is None else size * self._size(part)


def _locals(scope: Entry) -> Iterator[Entry]:
    for inner in scope.inner:
        if inner.tag == dwarf.VARIABLE:
            yield inner
        elif inner.tag == LEXICAL_BLOCK:
            yield from _locals(inner)


def _after_prologue(code: list[str]) -> int | None:
    pointer = -WORD
    for number, instruction in enumerate(code):
        if change := CHANGE.match(instruction):
            operand = int(change["number"], 16)
            if change["how"] == "and" and (1 << 64) - operand > MAIN_FRAME:
                return None
            pointer = pointer & (operand - (1 << 64)) if change["how"] == "and" else pointer - operand
        elif instruction.startswith("push"):
            pointer -= WORD
        elif not instruction.startswith(("mov ", "lea ", "endbr64")):
            moved = any(CHANGE.match(later) or later.startswith("push") for later in code[number:])
            return None if moved else pointer
    return None
