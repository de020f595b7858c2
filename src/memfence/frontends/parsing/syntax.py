"""Parts of syntax trees that several languages have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfence.program.ir import FenceKind
from memfence.records import dataclass
from memfence.source import Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree

    Node = Token | Tree


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier that remembers where it was written."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Goto:
    label: Name


@dataclass(frozen=True, slots=True)
class FenceHere:
    kind: FenceKind
