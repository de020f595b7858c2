"""A formula in the making: variables, clauses, and gates that exist once however often they are asked for.

Literals are integers, as SAT solvers have them: `-n` is the negation of `n`. The constants are literals, too, so that
whatever is known while the formula is made folds away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

TRUE = 1
FALSE = -1
MOST_LEAVES = 48
"""A conjunction of conjunctions is one flat gate up to this size; then equal ones are found whichever way they came."""

LOOKED_AT_EVERY = 1 << 15
"""Clauses, or variables, between two looks at the limits."""

Clause = list[int]


class Clauses:
    """Clauses over variables 1, 2, ...; the first one is true.

    `watch` is called now and then while the formula grows; what it raises ends the making of it.
    """

    def __init__(self, watch: Callable[[], object] = lambda: None) -> None:
        self.variables = 1
        self._watch = watch
        self.list: list[Clause] = [[TRUE]]
        self._conjunctions: dict[frozenset[int], int] = {}
        self._leaves: dict[int, frozenset[int]] = {}
        self._parities: dict[tuple[int, int], int] = {}
        self._choices: dict[tuple[int, int, int], int] = {}
        self._majorities: dict[tuple[int, int, int], int] = {}

    def fresh(self) -> int:
        """A new variable."""
        self.variables += 1
        if not self.variables % LOOKED_AT_EVERY:
            self._watch()
        return self.variables

    def add(self, *literals: int) -> None:
        """Demand that one of the literals is true."""
        if TRUE not in literals:
            self.list.append([literal for literal in literals if literal != FALSE])
            if not len(self.list) % LOOKED_AT_EVERY:
                self._watch()

    def imply(self, premises: Iterable[int], literal: int) -> None:
        """Demand the literal wherever all premises are true."""
        self.add(*(-premise for premise in premises), literal)

    # Gates: the literal that is returned is true exactly where the words say.

    def both(self, a: int, b: int) -> int:
        if a == b or b == TRUE:
            return a
        if a == TRUE:
            return b
        if FALSE in (a, b) or a == -b:
            return FALSE
        return self.all_of((a, b))

    def either(self, a: int, b: int) -> int:
        return -self.both(-a, -b)

    def all_of(self, literals: Iterable[int]) -> int:
        """All of them; TRUE for none."""
        leaves = self._flat(tuple(literals))
        if leaves is None:
            return FALSE
        if len(leaves) < 2:
            return next(iter(leaves), TRUE)
        known = self._conjunctions.get(leaves)
        if known is None:
            known = self._conjunctions[leaves] = self._new_conjunction(leaves)
        return known

    def any_of(self, literals: Iterable[int]) -> int:
        """One of them; FALSE for none."""
        return -self.all_of([-literal for literal in literals])

    def _flat(self, literals: tuple[int, ...]) -> frozenset[int] | None:
        """The literals, conjunctions among them taken apart; None where two contradict each other."""
        found: set[int] = set()
        for literal in literals:
            found.update(self._leaves.get(literal, (literal,)))
        found.discard(TRUE)
        if FALSE in found or any(-literal in found for literal in found):
            return None
        if len(found) > MOST_LEAVES:
            return frozenset(set(literals) - {TRUE})
        return frozenset(found)

    def _new_conjunction(self, leaves: frozenset[int]) -> int:
        gate = self.fresh()
        ordered = sorted(leaves)
        self.list.extend([-gate, leaf] for leaf in ordered)
        self.list.append([gate, *(-leaf for leaf in ordered)])
        self._leaves[gate] = leaves
        return gate

    def leaves(self, literal: int) -> frozenset[int]:
        """What the literal is the conjunction of; nothing, for TRUE."""
        return frozenset() if literal == TRUE else self._leaves.get(literal) or frozenset((literal,))

    def differ(self, a: int, b: int) -> int:
        """Exactly one of the two."""
        if abs(a) == TRUE or abs(b) == TRUE or abs(a) == abs(b):
            return self._known_difference(a, b)
        low, high = sorted((abs(a), abs(b)))
        gate = self._parities.get((low, high))
        if gate is None:
            gate = self._parities[low, high] = self.fresh()
            self.list += [[-gate, low, high], [-gate, -low, -high], [gate, -low, high], [gate, low, -high]]
        return gate if (a > 0) == (b > 0) else -gate

    def _known_difference(self, a: int, b: int) -> int:
        if abs(a) == TRUE:
            return -b if a == TRUE else b
        if abs(b) == TRUE:
            return -a if b == TRUE else a
        return FALSE if a == b else TRUE

    def same(self, a: int, b: int) -> int:
        return -self.differ(a, b)

    def choose(self, condition: int, then: int, otherwise: int) -> int:
        """`then` where the condition is true, else `otherwise`."""
        if condition < 0:
            condition, then, otherwise = -condition, otherwise, then
        if condition == TRUE or then == otherwise:
            return then
        if abs(then) == TRUE or abs(otherwise) == TRUE or then == -otherwise:
            return self._simple_choice(condition, then, otherwise)
        key = (condition, then, otherwise)
        gate = self._choices.get(key)
        if gate is None:
            gate = self._choices[key] = self.fresh()
            self.list += [[-condition, -then, gate], [-condition, then, -gate]]
            self.list += [[condition, -otherwise, gate], [condition, otherwise, -gate]]
        return gate

    def _simple_choice(self, condition: int, then: int, otherwise: int) -> int:
        if then == TRUE:
            return self.either(condition, otherwise)
        if then == FALSE:
            return self.both(-condition, otherwise)
        if otherwise == TRUE:
            return self.either(-condition, then)
        if otherwise == FALSE:
            return self.both(condition, then)
        return self.same(condition, then)

    def majority(self, a: int, b: int, c: int) -> int:
        """At least two of the three: the carry of an addition."""
        a, b, c = sorted((a, b, c), key=abs)
        if abs(a) == TRUE:
            return self.either(b, c) if a == TRUE else self.both(b, c)
        if abs(a) == abs(b) or abs(b) == abs(c):
            return self._simple_majority(a, b, c)
        gate = self._majorities.get((a, b, c))
        if gate is None:
            gate = self._majorities[a, b, c] = self.fresh()
            for x, y in ((a, b), (a, c), (b, c)):
                self.list += [[-x, -y, gate], [x, y, -gate]]
        return gate

    def _simple_majority(self, a: int, b: int, c: int) -> int:
        if a == b or b == c:
            return b
        return c if a == -b else a

    # Conditions.

    def at_most_one(self, literals: Sequence[int]) -> None:
        """No two of them are true."""
        few = [literal for literal in literals if literal != FALSE]
        while len(few) > 6:  # the first five, and one that is true where any of them is
            group, rest = few[:5], few[5:]
            some = self.fresh()
            for literal in group:
                self.imply((literal,), some)
            self._pairwise(group)
            few = [*rest, some]
        self._pairwise(few)

    def _pairwise(self, literals: Sequence[int]) -> None:
        for n, a in enumerate(literals):
            for b in literals[:n]:
                self.add(-a, -b)
