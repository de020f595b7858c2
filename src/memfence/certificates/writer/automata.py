"""Automata: the symbolic search once more, without reductions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from memfence.certificates.checker.question import Question
from memfence.certificates.format.automata import NUMBER, SymbolicRows
from memfence.certificates.format.columns import ROWS_IN_A_BLOCK
from memfence.certificates.format.sections import OBJECT, ROWS, SECTION
from memfence.certificates.writer.chunks import Chunks, NoCertificate
from memfence.certificates.writer.invariant import safety_of
from memfence.engines.native.symbolic import Automaton, SymbolicResult, explore_symbolic
from memfence.tasks.limits import Limits

AUTOMATA_IN_A_CHUNK = 1000


def automata_chunks(question: Question, limits: Limits) -> Chunks:
    """A section that proves what `question` asks of single states, for buffers of any length."""
    if question.finals or question.model.is_bounded or not question.model.has_buffers:
        raise NoCertificate("automata say nothing about such a claim")
    found = explore_symbolic(question.program, question.model, safety_of(question), limits=limits, keeps_rows=True)
    if found.finding is not None or not found.complete:
        raise NoCertificate("the symbolic search without reductions did not come to its end")
    states = found.symbolic_states()
    yield SECTION, json.dumps({"kind": "automata"}).encode()
    for at in range(0, len(states.automata), AUTOMATA_IN_A_CHUNK):
        part = states.automata[at : at + AUTOMATA_IN_A_CHUNK]
        written = [_as_lists(automaton, states.symbols) for automaton in part]
        yield OBJECT, json.dumps({"automata": written}, separators=(",", ":")).encode()
    rows = sorted(_rows(question, found, states.rows))
    for at in range(0, len(rows), ROWS_IN_A_BLOCK):
        yield ROWS, b"".join(bytes(plane) for plane in zip(*rows[at : at + ROWS_IN_A_BLOCK], strict=True))


def _as_lists(automaton: Automaton, symbols: Sequence[tuple[int, int]]) -> list[object]:
    moves = [
        [[list(symbols[symbol]) if symbol else None, target] for symbol, target in leaving]
        for leaving in automaton.moves
    ]
    return [moves, [number for number, accepts in enumerate(automaton.accepting) if accepts]]


def _rows(question: Question, found: SymbolicResult, rows: Sequence[Sequence[int]]) -> Iterator[bytes]:
    """The rows of the format, from the values of all slots and the numbers of automata."""
    columns, slots = SymbolicRows(question.program).control, found.encoded.slots
    taken = [*slots.locations, *range(len(question.program.variables))]
    taken += [slots.register(p, n) for p, kept in enumerate(columns.kept) for n in kept]
    for row in rows:
        control = (
            (row[slot] - column.lo).to_bytes(column.width) for slot, column in zip(taken, columns.columns, strict=True)
        )
        numbers = (number.to_bytes(NUMBER) for number in row[slots.count :])
        yield b"".join((*control, *numbers))
