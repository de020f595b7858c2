"""The syntax tree of a `.pst` program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfence.records import Record
from memfence.source import Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree

RESERVED = frozenset((
    "program", "vars", "procs", "process", "regs", "init", "begin", "end", "goto", "arw", "locked", "skip", "fence",
    "mfence", "sfence", "assume", "assert", "forbid", "invariant",
))  # fmt: skip
LABEL, INSTRUCTION = "label ", "instruction "
"""How the keys of fence points start: at a label, or after the instruction of that number."""


class Declaration(Record):
    """`name = init : [low:high]`; the place of each part that is given."""

    name: Token
    init: Tree | None
    range: Tree | None


class Instruction(Record):
    """`label: statement; goto target`."""

    label: Token
    statement: Tree
    target: Token
    span: Span


class ProcessText(Record):
    """`process name regs ... init label begin ... end`; `any_number`: `process(*) name ...`."""

    name: Token
    registers: tuple[Declaration, ...]
    initial: Token
    instructions: tuple[Instruction, ...]
    span: Span
    any_number: bool = False

    @property
    def labels(self) -> dict[str, Token]:
        """Every label with the place that shows it best: where an instruction has it, else where it is named first."""
        named = [self.initial, *(label for i in self.instructions for label in (i.label, i.target))]
        places = {str(label): label for label in reversed(named)}
        places |= {str(i.label): i.label for i in reversed(self.instructions)}
        return {str(label): places[label] for label in named}


class ProgramText(Record):
    """A whole `.pst` file."""

    name: Token
    variables: tuple[Declaration, ...]
    processes: tuple[ProcessText, ...]
    properties: tuple[Token, ...]
