"""Random small objects: the verdict of `memfence test` is that of the definition, under SC and with store buffers."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import strategies as st

import memfence
from memfence.clients.comparing import outcome_of
from memfence.clients.result import ClientResult, ObjectResult
from memfence.clients.specification import client_text
from support.c_compiler import needs_clang
from support.sampling import sampled
from twins.clients import Access, Calls, Operation, concurrent_outcomes, serial_outcomes

pytestmark = needs_clang

ACCESSES = st.builds(
    Access, st.sampled_from(["load", "load", "store", "store", "store_sc", "add"]), st.integers(0, 1), st.integers(1, 2)
)
OBJECTS = st.lists(st.lists(ACCESSES, min_size=1, max_size=3).map(tuple), min_size=1, max_size=2).map(tuple)
TEXTS = {
    "load": "r += atomic_load_explicit(&{v}, memory_order_relaxed);",
    "store": "atomic_store_explicit(&{v}, {n}, memory_order_relaxed);",
    "store_sc": "atomic_store(&{v}, {n});",
    "add": "r += atomic_fetch_add(&{v}, {n});",
}
FEW = 6
"""Clients of each object, smallest first."""


def text_of(operations: tuple[Operation, ...]) -> str:
    lines = [
        "/* memfence-test random",
        *(f"any call{number}() = call{number}()" for number, _ in enumerate(operations)),
        "finally 10 * x + y",
        "clients 2 x 2",
        "*/",
        "#include <stdatomic.h>",
        "static atomic_int x, y;",
    ]
    for number, operation in enumerate(operations):
        body = " ".join(TEXTS[access.kind].format(v="xy"[access.variable], n=access.value) for access in operation)
        lines.append(f"static int call{number}(void) {{ int r = 0; {body} return r; }}")
    return "\n".join(lines) + "\n"


def calls_of(client: ClientResult) -> Calls:
    return tuple(tuple(call.operation for call in thread) for thread in client.client.threads)


def by_definition(operations: tuple[Operation, ...], client: ClientResult, model: str) -> bool:
    """Whether every outcome is that of some order. The twin keeps both variables apart, the object shows one number."""
    calls = calls_of(client)
    serial = {(*values, 10 * x + y) for *values, x, y in serial_outcomes(operations, calls)}
    seen = {(*values, 10 * x + y) for *values, x, y in concurrent_outcomes(operations, calls, buffered=model == "tso")}
    assert serial <= seen
    assert serial == set(client.outcomes)
    return seen <= serial


def result_of(operations: tuple[Operation, ...], model: str) -> ObjectResult:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "random.c"
        path.write_text(text_of(operations))
        (found,) = memfence.test(path, model, clients=FEW, all=True).objects
    return found


@pytest.mark.parametrize("model", ["sc", "tso"])
@sampled(quick=3, slow=150, operations=OBJECTS)
def test_the_verdict_is_that_of_the_definition(model: str, operations: tuple[Operation, ...]) -> None:
    for client in result_of(operations, model).tried:
        expected = "holds" if by_definition(operations, client, model) else "violated"
        assert client.verdict.value == expected, (operations, calls_of(client))


SINGLE_ACCESSES = """\
/* memfence-test flags
 * left  put_x() : atomic_store_explicit(&x, 1, memory_order_relaxed)
 * left  get_y() = atomic_load_explicit(&y, memory_order_relaxed)
 * right put_y() : atomic_store_explicit(&y, 1, memory_order_relaxed)
 * right get_x() = atomic_load_explicit(&x, memory_order_relaxed)
 * clients 1 left x 2, 1 right x 2
 */
#include <stdatomic.h>
static atomic_int x, y;
"""


@pytest.mark.parametrize(("model", "failing"), [("sc", []), ("tso", ["put_x(); get_y() || put_y(); get_x()"])])
def test_operations_of_one_access_are_serialisable_where_stores_are_not_late(
    model: str, failing: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "flags.c"
    path.write_text(SINGLE_ACCESSES)
    (found,) = memfence.test(path, model, all=True, shape=("1 left x 2, 1 right x 2",)).objects
    wrong = [one for one in found.tried if one.verdict.value == "violated"]
    assert [client_text(found.specification, one.client) for one in wrong] == failing
    assert [outcome_of(found.specification, one) for one in wrong] == [(0, 0) for _ in failing]
