"""Ranks of temporal properties: the checker's product, its components, and for each of them a mark it never visits.

The core finds them (`native_ranks`). Where it cannot work with a program, they are found in plain Python here, for
products of moderate size.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from memfence.certificates.checker.native import NotForTheFastChecker
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.ranks import Pair, Product, product_of
from memfence.certificates.format.columns import ROWS_IN_A_BLOCK, Columns, row_of
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import Claim
from memfence.certificates.format.ranks import NUMBER
from memfence.certificates.format.sections import OBJECT, ROWS, SECTION
from memfence.certificates.writer.chunks import Chunks, NoCertificate
from memfence.certificates.writer.native_ranks import Ranked
from memfence.certificates.writer.rows import capacity_of
from memfence.digraph import components
from memfence.program.ir import Ltl, Program, PropertyAutomaton
from memfence.tasks.limits import Limits

MOST_PAIRS = 200_000


def rank_chunks(
    number: int, question: Question, claim: Claim, stated: Ltl | PropertyAutomaton, program: Program, limits: Limits
) -> Chunks:
    """A section that proves temporal property number `number` of the claim."""
    try:
        product = product_of(question, claim, stated, program)
        capacity = capacity_of(program, question.model)
        columns = Columns(product.program, question.model.buffering, capacity)
    except NotACertificate as problem:
        raise NoCertificate(str(problem)) from None
    try:
        found = Ranked(product, question.model, capacity, limits)
        marks, blocks = found.marks, found.blocks()
    except NotForTheFastChecker:
        marks, blocks = ranks_in_python(product, columns, limits)
    details = {"kind": "ranks", "property": number, "capacity": capacity}
    yield SECTION, json.dumps(details).encode()
    yield OBJECT, json.dumps({"marks": marks}).encode()
    for block in blocks:
        yield ROWS, block


def ranks_in_python(product: Product, columns: Columns, limits: Limits) -> tuple[list[int], Iterator[bytes]]:
    """The mark of each rank, and blocks of ranked pairs: the slow twin of what the core does."""
    pairs, after = _explored(product, limits)
    component = components(len(pairs), lambda pair: (target for target, _ in after[pair]))
    marks = list(_marks(product, component, after))
    rows = sorted(
        row_of(columns, state) + node.to_bytes(NUMBER) + rank.to_bytes(NUMBER)
        for (state, node), rank in zip(pairs, component, strict=True)
    )
    parts = (rows[at : at + ROWS_IN_A_BLOCK] for at in range(0, len(rows), ROWS_IN_A_BLOCK))
    return marks, (b"".join(map(bytes, zip(*part, strict=True))) for part in parts)


def _explored(product: Product, limits: Limits) -> tuple[list[Pair], list[list[tuple[int, frozenset[int]]]]]:
    """Every reachable pair, and where it leads with which marks."""
    pairs = list(dict.fromkeys(product.starts()))
    numbers = {pair: number for number, pair in enumerate(pairs)}
    after: list[list[tuple[int, frozenset[int]]]] = []
    for pair in pairs:  # grows while it is gone through
        leading = []
        for _, target, marks in product.moves(pair):
            if target not in numbers:
                numbers[target] = len(pairs)
                pairs.append(target)
            leading.append((numbers[target], marks))
        after.append(leading)
        if len(pairs) > MOST_PAIRS or limits.deadline.passed:
            raise NoCertificate("the product of program and property is too large to be ranked")
    return pairs, after


def _marks(product: Product, component: list[int], after: list[list[tuple[int, frozenset[int]]]]) -> Iterator[int]:
    """For each component a mark that no step within it visits."""
    visited: list[set[int]] = [set() for _ in range(max(component, default=-1) + 1)]
    has_step = [False] * len(visited)
    for pair, leading in enumerate(after):
        for target, marks in leading:
            if component[target] == component[pair]:
                visited[component[pair]] |= marks
                has_step[component[pair]] = True
    for number, seen in enumerate(visited):
        missing = next((mark for mark in range(product.marks) if mark not in seen), None)
        if missing is None and has_step[number]:
            raise NoCertificate("some fair run refutes the property")
        yield missing or 0
