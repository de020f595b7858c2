"""The sorted rows of a certificate against states that are decoded, written down one by one, and sorted by Python."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from memfence.certificates.format.abridged import WHOLE
from memfence.certificates.format.columns import Columns
from memfence.certificates.writer.rows import blocks_of, capacity_of
from memfence.engines.native.explicit import Explored, explore
from memfence.models.spec import ModelSpec
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from memfence.tasks.task import Safety
from support.certificates import row_of
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import spec

MEMORIES = (
    spec("sc"),
    *(spec("tso", k) for k in (1, 3)),
    spec("tso", 2, per_variable=True),
    *(spec("pso", k) for k in (1, 2)),
)
SMALL = Shape(statements=(1, 3), features=EVERYTHING | {"regions"})
MOST_STATES = 3_000
WIDE = """
int a[{count}];
active proctype P() {{ int i; do :: i < {count} -> a[i] = {value}; i++ :: i < {count} -> i++ :: else -> break od }}
active proctype Q() {{ a[0] = -1; a[{count} - 1] = -1 }}
"""


def explored(program: Program, memory: ModelSpec) -> Explored:
    return explore(program, memory, Safety(failures=False), limits=Limits(most_states=MOST_STATES))


def rows_of(program: Program, memory: ModelSpec, found: Explored) -> tuple[list[bytes], list[bytes]]:
    """As the writer has them, and one by one."""
    columns = Columns(program, memory.buffering, capacity_of(program, found.model))
    written = [row for block in blocks_of(found, columns, WHOLE) for row in columns.rows(block)]
    return written, sorted({row_of(columns, state) for state in found.states()})


@pytest.mark.parametrize("memory", MEMORIES, ids=str)
@given(program=programs(SMALL))
@settings(deadline=None)
def test_every_state_is_a_row_once_and_in_order(memory: ModelSpec, program: Program) -> None:
    written, expected = rows_of(program, memory, explored(program, memory))
    assert written == expected


@pytest.mark.parametrize("memory", MEMORIES[:3], ids=str)
@pytest.mark.parametrize("count", [2, 5, 10, 40, 120])
def test_rows_of_any_width_are_in_order(count: int, memory: ModelSpec) -> None:
    """From 64 bits that vary to some thousands."""
    text = WIDE.format(count=count, value=2**31 - 1)
    program = load_text(SourceText("wide.pml", text))
    found = explored(program, memory)
    written, expected = rows_of(program, memory, found)
    assert written == expected
    assert len(written) >= 64
