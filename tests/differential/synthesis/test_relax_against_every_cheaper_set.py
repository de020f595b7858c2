"""`relax` against trying every cheaper set of orders, one program and one question at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

import memfence
from memfence.program.ir import Program
from memfence.program.orders import MemoryOrder
from memfence.questions.models import check_models
from memfence.source import SourceText
from memfence.synthesis.orders.places import OrderPlace, every_place
from memfence.synthesis.orders.prices import costs_of_strengths, order_costs
from memfence.synthesis.orders.questions import fails
from memfence.synthesis.orders.strengths import Kind, orders_of, strengths_of
from memfence.synthesis.orders.weakest import RelaxResult, with_orders
from memfence.tasks.options import CheckOptions
from support.generators.shapes_in_c import program_in_c

MODELS = ("x86", "rc11", "armv8")
Orders = tuple[MemoryOrder, ...]


def price(kinds: list[Kind], orders: Orders, models: tuple[str, ...]) -> int:
    """What `relax` minimises, said again: the figures of all models, then how many places have an order at all."""
    tables = [costs_of_strengths(order_costs(name)) for name in models]
    each = [
        sum(1 + 2 * sum(table[kind, strength] for table in tables) for strength in strengths_of(kind, order))
        for kind, order in zip(kinds, orders, strict=True)
    ]
    return sum(each) * (len(kinds) + 1) + sum(order is not MemoryOrder.RELAXED for order in orders)


def works(program: Program, places: tuple[OrderPlace, ...], orders: Orders, models: tuple[str, ...]) -> bool:
    changed = with_orders(program, list(zip(places, orders, strict=True)))
    return not any(fails(answer) for answer in check_models(changed, models, CheckOptions()).answers)


def cheaper(kinds: list[Kind], least: int, models: tuple[str, ...]) -> Iterator[Orders]:
    ways = [[order for _, order in orders_of(kind)] for kind in kinds]
    return (orders for orders in product(*ways) if price(kinds, orders, models) < least)


def check_seed(seed: int) -> tuple[RelaxResult, int]:
    """The result, and how many cheaper sets were tried."""
    models = Random(seed).choice([MODELS, ("rc11",), ("armv8",), ("x86", "rc11")])
    source = SourceText("shape.c", program_in_c(seed))
    found = memfence.relax(source, models)
    program = found.program
    kept = {one.place.span for one in found.places if one.kept}
    places = tuple(place for place in every_place(program) if place.span not in kept)
    kinds: list[Kind] = [place.kind for place in places]
    assert len(places) <= 12
    if found.verdict == "violated":
        strongest = tuple(MemoryOrder.SEQ_CST for _ in places)
        assert not works(program, places, strongest, models)
        return found, 0
    assert found.verdict in ("relaxed", "minimal", "fixed") and found.is_minimum, source.text
    orders = {(one.place.span, one.place.kind): one.order for one in found.places}
    chosen = tuple(orders[place.span, place.kind] for place in places)
    assert works(program, places, chosen, models), source.text
    tried = 0
    for others in cheaper(kinds, price(kinds, chosen, models), models):
        tried += 1
        assert not works(program, places, others, models), (source.text, others)
    for one in found.places:
        assert all(reason.answers for reason in one.forbidden), source.text
    return found, tried


def test_nothing_cheaper_is_enough() -> None:
    found = [check_seed(seed) for seed in range(6)]
    assert sum(tried for _, tried in found) >= 20
    assert {one.verdict for one, _ in found} >= {"relaxed"}


@pytest.mark.slow
def test_nothing_cheaper_is_enough_on_300() -> None:
    found = [check_seed(seed) for seed in range(100, 400)]
    assert sum(tried for _, tried in found) >= 3000
    assert {one.verdict for one, _ in found} >= {"relaxed", "minimal"}
