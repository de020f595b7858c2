"""Variables that only read-modify-writes change, and each makes larger: the numbers that a ticket lock hands out.

Every read-modify-write reads from another one or from the initial value, and no way from one to the next passes one
twice. So what such a variable can hold is known exactly, however often other values go from thread to thread.
"""

from __future__ import annotations

from memfence.axiomatic.code import Code, Define, Read, Write
from memfence.engines.axiomatic.slots import Definitions
from memfence.program.expressions import EvaluationError, Expr, Register, evaluate
from memfence.program.facts.interval_arithmetic import Interval

MOST_VALUES = 256
"""Variables that can hold more are left to the ranges of everything else."""


def find_counters(code: Code) -> dict[int, Interval]:
    """The counters among the variables, with all values that they can hold."""
    growth: dict[int, list[_Growth] | None] = {}
    for thread in code.threads:
        definitions = Definitions(thread)
        for item in thread.items:
            if isinstance(item, Write):
                for variable in item.address.variables:
                    others = growth.setdefault(variable, [])
                    own = _growth_by(item, definitions, thread.items)
                    growth[variable] = None if own is None or others is None else [*others, own]
    found = {v: _values(code.program.variables[v].init, steps) for v, steps in growth.items() if steps is not None}
    return {variable: values for variable, values in found.items() if values is not None}


class _Growth:
    """What one read-modify-write makes of the value that it reads."""

    def __init__(self, slot: int, value: Expr, definitions: Definitions) -> None:
        self.slot = slot
        self.value = value
        self.definitions = definitions

    def __call__(self, seen: int) -> int | None:
        """None where the value depends on more, or there is none."""
        try:
            return evaluate(self.value, lambda node, _: self._leaf(node, seen))
        except EvaluationError:
            return None

    def _leaf(self, node: object, seen: int) -> int:
        assert isinstance(node, Register)
        if node.index == self.slot:
            return seen
        _, item = self.definitions.items.get(node.index, (0, None))
        if not isinstance(item, Define):
            raise EvaluationError("not computed from the value read")
        return evaluate(item.value, lambda inner, _: self._leaf(inner, seen))


def _growth_by(write: Write, definitions: Definitions, items: tuple[object, ...]) -> _Growth | None:
    """None for a write that is no read-modify-write, or where others can come between its halves."""
    if write.reads_by is None or write.exclusive or write.address.variable is None:
        return None
    read = items[write.reads_by]
    return _Growth(read.slot, write.value, definitions) if isinstance(read, Read) else None


def _values(initial: tuple[int, ...], steps: list[_Growth]) -> Interval | None:
    """What can be there after all of them, in any order; None where one does not make the value larger."""
    found = last = set(initial)
    for _ in steps:
        grown = [(seen, step(seen)) for seen in last for step in steps]
        last = {value for seen, value in grown if value is not None and value > seen}
        found = found | last
        if len(found) > MOST_VALUES or any(value is None or value <= seen for seen, value in grown):
            return None
    return Interval(min(found), max(found))
