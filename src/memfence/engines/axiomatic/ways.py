"""Relations whose pairs are ways of several steps: compositions and transitive closures.

`lower`: the literals need only be true where there is a way, and may be true elsewhere.
"""

from __future__ import annotations

from memfence.engines.axiomatic.base import Base, Rows
from memfence.engines.axiomatic.clauses import FALSE, TRUE
from memfence.engines.axiomatic.thinning import thinned
from memfence.models.cat import relations
from memfence.models.cat.relations import bits

Way = tuple[int, int]
"""Two literals that are both true where the way is there."""


class Ways:
    """Ways between the events of one model."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.clauses = base.clauses

    def composition(self, left: Rows, right: Rows, wanted: relations.Rows, *, lower: bool) -> Rows:
        """A step of the one, then a step of the other."""
        found: Rows = []
        for a, row in enumerate(wanted):
            ways: dict[int, list[Way]] = {}
            for middle, first in left[a].items() if row else ():
                for b, second in right[middle].items():
                    if row >> b & 1:
                        ways.setdefault(b, []).append(self._way(a, middle, b, first, second))
            literals = ((b, self._some_way(these, self.base.together(a, b), lower=lower)) for b, these in ways.items())
            found.append({b: literal for b, literal in literals if literal != FALSE})
        return found

    def _way(self, a: int, middle: int, b: int, first: int, second: int) -> Way:
        """A step that is there wherever its events happen says no more than that they do, and the other step says so
        of the event in the middle."""
        here = self.base.here
        if first == self.base.together(a, middle):
            if second == self.base.together(middle, b):
                return self.base.together(a, b), here[middle]
            first = here[a]
        elif second == self.base.together(middle, b):
            second = here[b]
        return (first, TRUE) if first == second else (first, second)

    def _some_way(self, ways: list[Way], most: int, *, lower: bool) -> int:
        if not lower:
            return self.clauses.any_of([self.clauses.both(*way) for way in ways])
        simple = [way[0] if way[1] == TRUE else way[1] for way in ways if TRUE in way]
        if TRUE in simple or most in simple:
            return most
        if len(ways) == len(simple) and len(set(simple)) == 1:
            return simple[0]
        some = self.clauses.fresh()
        for first, second in dict.fromkeys(ways):
            self.clauses.add(-first, -second, some)
        return some

    def closure(self, rows: Rows, wanted: relations.Rows, *, lower: bool) -> Rows:
        """One step or more."""
        steps = thinned(self.base, rows)
        if not lower:
            return self._exact_closure(steps)
        found: Rows = [{b: self.clauses.fresh() for b in bits(row)} for row in wanted]
        for a, ways in enumerate(found):
            for middle, first in steps[a].items():
                if middle in ways:
                    self.clauses.add(-first, ways[middle])
                rest = found[middle]
                for b in ways.keys() & rest.keys():
                    self.clauses.add(-first, -rest[b], ways[b])
        return found

    def _exact_closure(self, steps: Rows) -> Rows:
        """Ways of up to 1, 2, 4, ... steps, until they are as long as there are events."""
        length, found = 1, steps
        while length < self.base.size:
            found = [self._longer(a, found) for a in range(len(found))]
            length *= 2
        return found

    def _longer(self, a: int, rows: Rows) -> dict[int, int]:
        ways: dict[int, list[int]] = {b: [literal] for b, literal in rows[a].items()}
        for middle, first in rows[a].items():
            for b, second in rows[middle].items():
                ways.setdefault(b, []).append(self.clauses.both(first, second))
        found = {b: self.clauses.any_of(literals) for b, literals in ways.items()}
        return {b: literal for b, literal in found.items() if literal != FALSE}
