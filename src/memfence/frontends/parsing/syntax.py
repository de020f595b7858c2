"""Parts of syntax trees that several languages have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfence.program.ir import FenceKind
from memfence.records import Record
from memfence.source import Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree

    Node = Token | Tree


class Name(Record):
    """An identifier that remembers where it was written."""

    text: str
    span: Span


class Goto(Record):
    label: Name


class FenceHere(Record):
    kind: FenceKind
