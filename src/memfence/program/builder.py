"""Mutable scaffolding that front ends use to put an immutable `Process` together."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.program import ir
from memfence.source import NOWHERE, Span


class ProcessBuilder:
    """Collects the registers, locations and transitions of one process; `build` freezes them.

    Equal ops become one object. A large text has few that are different, so whoever asks something of every op needs
    to work it out only once for each object. Assertions that fail for different reasons stay apart.
    """

    def __init__(self, name: str, template: str, span: Span = NOWHERE) -> None:
        self.name = name
        self.template = template
        self.span = span
        self.registers: list[ir.RegisterVar] = []
        self.locations: list[ir.Location] = []
        self.transitions: list[ir.Transition] = []
        self._scratch: list[int] = []
        self._ops: dict[tuple[ir.Op, str], ir.Op] = {}

    def register(
        self, name: str, domain: ir.Domain = ir.UNDECLARED, init: Sequence[int] = (0,), span: Span = NOWHERE
    ) -> int:
        """Declare a register; return its number."""
        self.registers.append(ir.RegisterVar(name, domain, tuple(init), span=span))
        return len(self.registers) - 1

    def scratch(self, position: int, domain: ir.Domain = ir.UNDECLARED) -> int:
        """The transient register for the `position`-th intermediate value of a step: the same one for every step."""
        while len(self._scratch) <= position:
            self.registers.append(ir.RegisterVar(f"%{len(self._scratch)}", domain, transient=True))
            self._scratch.append(len(self.registers) - 1)
        return self._scratch[position]

    def location(
        self,
        name: str = "",
        labels: Sequence[str] = (),
        span: Span = NOWHERE,
        point: ir.FencePoint | None = None,
        committed: bool = False,
        may_end: bool = False,
    ) -> int:
        """Add a location; return its number. Without a name it is called after its number."""
        number = len(self.locations)
        self.locations.append(ir.Location(name or f"l{number}", tuple(labels), span, point, committed, may_end))
        return number

    def emit(
        self,
        source: int,
        target: int,
        *ops: ir.Op,
        locked: bool = False,
        span: Span = NOWHERE,
        point: ir.FencePoint | None = None,
        sync: ir.Sync | None = None,
        calls: tuple[Span, ...] = (),
        cuts: tuple[int, ...] = (),
        is_update: bool = False,
        by_chance: bool = False,
    ) -> int:
        """Add a transition; return its number."""
        ops = tuple([self._ops.setdefault((op, op.error if isinstance(op, ir.Assert) else ""), op) for op in ops])
        self.transitions.append(
            ir.Transition(
                source,
                target,
                ops,
                locked,
                span,
                sync,
                point,
                (),
                calls,
                cuts,
                is_update=is_update,
                by_chance=by_chance,
            )
        )
        return len(self.transitions) - 1

    def build(self, initial: int) -> ir.Process:
        return ir.Process(
            self.name, self.template, tuple(self.registers), tuple(self.locations), initial,
            tuple(self.transitions), self.span,
        )  # fmt: skip
