"""The address space: objects (variables, stack slots, heap blocks, functions, threads) at small, fixed addresses.

An address is an integer like any other; two objects never touch, so that an index past the end meets no neighbour.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from typing import Literal

from memfence.frontends.c.llvm.metadata import DebugInfo
from memfence.frontends.c.machine.value_sets import ADDRESS_BASE
from memfence.records import Record

Kind = Literal["global", "thread-local", "stack", "heap", "function", "thread"]
GAP = 32
"""Bytes between two objects, at least."""
UNIT = 64
"""Addresses of objects are multiples of this."""


INSIDE_ATOMIC = re.compile(r"(\.__a_)?\.__a_value$|(\._M_base)?\._M_i$|\._M_b\._M_p$")
INSIDE_ARRAY = re.compile(r"\.(__elems_|_M_elems)\[")
"""Of libc++ and of libstdc++."""


class Home(Record):
    """The call that a local variable lives in, by depth, module and function; and the name of the variable there.

    `in_block`: it is declared in an inner block of the function.
    """

    depth: int
    module: int
    function: str
    local: str
    in_block: bool


class Object(Record):
    """A block of memory. `type` is the metadata number of its C type in `debug`, 0 where it has none.

    `home`: of a local variable.
    """

    start: int
    size: int
    name: str
    kind: Kind
    debug: DebugInfo | None = None
    type: int = 0
    owner: int = -1
    home: Home | None = None

    @property
    def end(self) -> int:
        return self.start + self.size

    def name_at(self, offset: int, width: int) -> str:
        """How the user would write the cell at `offset`."""
        if self.debug is not None and self.type:
            path = self.debug.path_to(self.type, offset)
            if not path.startswith("+"):
                return self.name + _as_written(path)
        if offset == 0 and width >= self.size:
            return self.name
        if self.kind == "heap" or not self.type:
            return f"{self.name}+{offset}" if offset else self.name
        return f"{self.name}+{offset}"


def _as_written(path: str) -> str:
    """Without what the C++ library calls the inside of an atomic or of an array."""
    return INSIDE_ARRAY.sub("[", INSIDE_ATOMIC.sub("", path))


class AddressSpace:
    """Every object, by key and by address. An object keeps its address for good."""

    def __init__(self) -> None:
        self._by_key: dict[object, Object] = {}
        self._starts: list[int] = []
        self._by_start: dict[int, Object] = {}
        self._next = ADDRESS_BASE + 64
        self.images: dict[int, bytearray] = {}

    def find(self, key: object) -> Object | None:
        return self._by_key.get(key)

    def place(
        self,
        key: object,
        size: int,
        name: str,
        kind: Kind,
        debug: DebugInfo | None = None,
        type: int = 0,
        owner: int = -1,
        home: Home | None = None,
        *,
        alignment: int = UNIT,
    ) -> Object:
        """The object known by `key`, made now if there is none; its address is a multiple of `alignment`."""
        found = self._by_key.get(key)
        if found is not None:
            return found
        start = -(-self._next // alignment) * alignment
        self._next = start + -(-(max(size, 1) + GAP) // UNIT) * UNIT
        made = Object(start, size, name, kind, debug, type, owner, home)
        self._by_key[key] = made
        insort(self._starts, start)
        self._by_start[start] = made
        return made

    def at(self, address: int) -> Object | None:
        """The object that contains the address, or that starts there and has no bytes."""
        position = bisect_right(self._starts, address)
        if position == 0:
            return None
        found = self._by_start[self._starts[position - 1]]
        return found if address < found.end or address == found.start else None

    def around(self, address: int) -> Object | None:
        """The object that contains the address or ends there."""
        return self.at(address) or (self.at(address - 1) if address > ADDRESS_BASE else None)

    def name_of(self, address: int, width: int) -> str:
        found = self.at(address)
        return f"memory+{address}" if found is None else found.name_at(address - found.start, width)

    def all(self) -> list[Object]:
        return [self._by_start[start] for start in self._starts]
