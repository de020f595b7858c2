"""RVWMO as the RISC-V manual defines it, word for word: is there a global memory order?

Shares nothing with `riscv.cat`. An AMO is one operation here, rule 2 is there, and loads get their values by the load
value axiom, from stores that are earlier in the global memory order or in program order.
"""

from __future__ import annotations

from functools import cache

from memfence.models.cat.candidate import Candidate
from memfence.models.cat.relations import pairs_of

Pairs = frozenset[tuple[int, int]]


class _Operations:
    """The memory operations of a candidate: events, but the two of an AMO are one, called by its read."""

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate
        self.one = {write: read for read, write in self.pairs("amo")}
        every = [n for n in self.events("M") if n not in self.events("IW")]
        self.all = sorted({self.one.get(n, n) for n in every})
        self.loads = frozenset(self.events("R"))
        self.stores = frozenset(self.one.get(n, n) for n in self.events("W"))
        self.acquire, self.release = self.marked("AQ"), self.marked("RL")
        self.po = self.merged("po")
        self.same = self.merged("loc")
        self.rf = {read: self.one.get(write, write) for write, read in self.pairs("rf")}
        self.co = self.merged("co")

    def events(self, name: str) -> frozenset[int]:
        mask = self.candidate.sets.get(name, 0)
        return frozenset(n for n in range(self.candidate.size) if mask >> n & 1)

    def pairs(self, name: str) -> Pairs:
        return frozenset(pairs_of(self.candidate.relations.get(name, ())))

    def marked(self, name: str) -> frozenset[int]:
        return frozenset(self.one.get(n, n) for n in self.events(name))

    def merged(self, name: str) -> Pairs:
        """The relation between operations; nothing leads from one to itself."""
        both = ((self.one.get(a, a), self.one.get(b, b)) for a, b in self.pairs(name))
        return frozenset((a, b) for a, b in both if a != b)

    def fenced(self, a: int, b: int) -> bool:
        """Rule 4: a fence that orders the first operation before the second. Fences beside accesses come with these."""
        raw = self.pairs("po")
        parts_a, parts_b = self._parts(a), self._parts(b)
        for name, first, second in (
            ("r.rw", "R", "RW"), ("rw.w", "RW", "W"), ("rw.rw", "RW", "RW"), ("w.w", "W", "W"),
        ):  # fmt: skip
            if not (self._is(a, first) and self._is(b, second)):
                continue
            after_a = [f for f in self.events(f"Fence.{name}") if all((x, f) in raw for x in parts_a)]
            if any((f, x) in raw for f in after_a for x in parts_b):
                return True
            behind = self.events(f"Then.{name}")
            if any((x == a or (a, x) in self.po) and (x, b) in self.po for x in behind):
                return True
            before = self.events(f"After.{name}")
            if any((a, x) in self.po and (x == b or (x, b) in self.po) for x in before):
                return True
        return False

    def _parts(self, operation: int) -> list[int]:
        return [operation, *(write for write, read in self.one.items() if read == operation)]

    def _is(self, operation: int, kinds: str) -> bool:
        return ("R" in kinds and operation in self.loads) or ("W" in kinds and operation in self.stores)

    def preserved(self) -> set[tuple[int, int]]:
        """Preserved program order: the thirteen rules."""
        rcsc = self.acquire | self.release
        atomic_stores = {self.one.get(write, write) for _, write in self.pairs("rmw")}
        paired = self.merged("lxsx")
        addr, data, ctrl = self.merged("addr"), self.merged("data"), self.merged("ctrl")
        found = set()
        for a, b in self.po:
            if a not in self.all or b not in self.all:
                continue
            stores_between = {m for m in self.stores if (a, m) in self.po and (m, b) in self.po and (a, m) in self.same}
            both_load = a in self.loads and b in self.loads and (a, b) in self.same
            through = {m for m in self.stores if (m, b) in self.po and self.rf.get(b) == m}
            rules = (
                b in self.stores and (a, b) in self.same,
                both_load and not stores_between and self.rf[a] != self.rf[b],
                a in atomic_stores and b in self.loads and self.rf[b] == a,
                self.fenced(a, b),
                a in self.acquire,
                b in self.release,
                a in rcsc and b in rcsc,
                (a, b) in paired,
                (a, b) in addr,
                (a, b) in data,
                b in self.stores and (a, b) in ctrl,
                b in self.loads and any((a, m) in addr or (a, m) in data for m in through),
                b in self.stores and any((a, m) in addr and (m, b) in self.po for m in self.all),
            )
            if any(rules):
                found.add((a, b))
        return found


def is_allowed(candidate: Candidate) -> bool:
    """Whether some global memory order explains who reads from whom, and has the stores in the order of `co`."""
    if not _is_atomic(candidate):
        return False
    ops = _Operations(candidate)
    before = {b: {a for a, c in ops.preserved() | set(ops.co) if c == b and a in ops.all} for b in ops.all}

    @cache
    def can_go_on(done: frozenset[int]) -> bool:
        """Whether these operations can come first, and the others after them."""
        if len(done) == len(ops.all):
            return True
        ready = (n for n in ops.all if n not in done and before[n] <= done and reads_right(n, done))
        return any(can_go_on(done | {n}) for n in ready)

    def reads_right(n: int, done: frozenset[int]) -> bool:
        """The load value axiom: the latest store in the global order, of those before it and those of its own hart."""
        if n not in ops.loads:
            return True
        here = {s for s in ops.stores if (s, n) in ops.same}
        waiting = {s for s in here if s not in done and (s, n) in ops.po}
        initial = {s for s in here if s not in ops.all}
        latest = waiting or {s for s in here if s in done} | initial
        return all(s == ops.rf[n] or (s, ops.rf[n]) in ops.co for s in latest) and ops.rf[n] in latest

    return can_go_on(frozenset())


def _is_atomic(candidate: Candidate) -> bool:
    """No store of another hart between what the load of an atomic instruction sees and its store."""
    relations = candidate.relations
    co, ext = set(pairs_of(relations["co"])), set(pairs_of(relations["ext"]))
    seen = {read: write for write, read in pairs_of(relations["rf"])}
    for read, write in pairs_of(relations["rmw"]):
        source = seen[read]
        if (source, write) not in co:
            return False
        between = (b for a, b in co if a == source and (b, write) in co)
        if any((b, write) in ext for b in between):
            return False
    return True
