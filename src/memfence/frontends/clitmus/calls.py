"""The functions of C11's <stdatomic.h> that a litmus test may call."""

from __future__ import annotations

from typing import Literal

from memfence.program.ir import RmwKind
from memfence.program.orders import MemoryOrder
from memfence.records import Record

Kind = Literal["load", "store", "modify", "compare", "fence"]

ORDERS = {f"memory_order_{order.value}": order for order in MemoryOrder if order is not MemoryOrder.PLAIN}
_RMW: dict[str, RmwKind] = {
    "exchange": "exchange", "fetch_add": "add", "fetch_sub": "sub", "fetch_and": "and", "fetch_or": "or",
    "fetch_xor": "xor",
}  # fmt: skip


class Function(Record):
    """`values`: how many arguments there are before the `orders`. Functions without orders are sequentially consistent.

    The weak compare-exchange is read as the strong one: it does not fail without a reason.
    """

    kind: Kind
    values: int
    orders: int
    rmw: RmwKind = "exchange"


def _both(name: str, kind: Kind, values: int, orders: int = 1, rmw: RmwKind = "exchange") -> dict[str, Function]:
    return {name: Function(kind, values, 0, rmw), f"{name}_explicit": Function(kind, values, orders, rmw)}


FUNCTIONS: dict[str, Function] = {
    "atomic_thread_fence": Function("fence", 0, 1),
    **_both("atomic_load", "load", 1),
    **_both("atomic_store", "store", 2),
    **_both("atomic_compare_exchange_strong", "compare", 3, orders=2),
    **_both("atomic_compare_exchange_weak", "compare", 3, orders=2),
    **{
        name: function
        for word, rmw in _RMW.items()
        for name, function in _both(f"atomic_{word}", "modify", 2, rmw=rmw).items()
    },
}

_ALLOWED = {
    "load": (MemoryOrder.RELAXED, MemoryOrder.CONSUME, MemoryOrder.ACQUIRE, MemoryOrder.SEQ_CST),
    "store": (MemoryOrder.RELAXED, MemoryOrder.RELEASE, MemoryOrder.SEQ_CST),
}


def allowed_orders(kind: Kind, position: int) -> tuple[MemoryOrder, ...]:
    """The orders that C allows as the `position`-th of a function: a comparison that fails only loads."""
    return _ALLOWED["load"] if kind == "compare" and position else _ALLOWED.get(kind, tuple(ORDERS.values()))
