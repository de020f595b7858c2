"""Sets of columns, a bit each, packed into variables of the monitored program.

A table has a row for each set. Several rows share a variable, so that one operation clears a column of all of them; a
table that is wider than a variable is cut into blocks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from memfence.program.ir import Domain, SharedVar
from memfence.records import Record

BITS = 62
"""Of a variable: numbers stay positive, and so do those that are made of them."""


Key = tuple[str, int]
"""Names a row: what it says, and of which thread or variable."""


class Place(Record):
    """Of one block of a row: `word` among the table's variables, and where its bits begin there."""

    word: int
    shift: int


class Table:
    """`rows` by key, of `width` columns; the variables have numbers from `base` on."""

    def __init__(self, name: str, rows: Sequence[Key], width: int, base: int) -> None:
        self.name = name
        self.rows = {row: number for number, row in enumerate(rows)}
        self.base = base
        self.blocks = [min(BITS, width - first) for first in range(0, width, BITS)]
        self._firsts: list[int] = []
        words = 0
        for block in self.blocks:
            self._firsts.append(words)
            per_word = BITS // block
            words += -(-len(rows) // per_word)
        self.words = words

    def place(self, row: Key, block: int) -> Place:
        per_word = BITS // self.blocks[block]
        number = self.rows[row]
        return Place(self._firsts[block] + number // per_word, number % per_word * self.blocks[block])

    def part(self, mask: int, block: int) -> int:
        """The columns of the mask that lie in the block."""
        return mask >> (block * BITS) & ((1 << self.blocks[block]) - 1)

    def everywhere(self, mask: int) -> Iterator[tuple[int, int]]:
        """The columns of the mask in all rows: words, and the bits there."""
        bits = dict.fromkeys(range(self.words), 0)
        for row in self.rows:
            for block in range(len(self.blocks)):
                place = self.place(row, block)
                bits[place.word] |= self.part(mask, block) << place.shift
        return ((word, found) for word, found in bits.items() if found)

    def spread(self, rows: Collection[Key], block: int) -> Iterator[tuple[int, int]]:
        """Words, and the number that a block has to be multiplied with to stand in each of these rows there."""
        factors: dict[int, int] = {}
        for row in self.rows:
            if row in rows:
                place = self.place(row, block)
                factors[place.word] = factors.get(place.word, 0) | 1 << place.shift
        return iter(factors.items())

    def variables(self, initial: dict[Key, int]) -> Iterator[SharedVar]:
        """The variables, with these columns in these rows at the start."""
        values = [0] * self.words
        used = [0] * self.words
        for row in self.rows:
            for block, width in enumerate(self.blocks):
                place = self.place(row, block)
                values[place.word] |= self.part(initial.get(row, 0), block) << place.shift
                used[place.word] = max(used[place.word], place.shift + width)
        for word, (value, bits) in enumerate(zip(values, used, strict=True)):
            yield SharedVar(f"{self.name}{word}", Domain(0, (1 << bits) - 1), (value,), is_internal=True)
