"""Which machine each process of a shared search is on."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfence.cluster.placing import placed
from memfence.cluster.session import Node
from memfence.tasks.usage import WrongUsage

MACHINES = st.lists(st.integers(1, 8), min_size=1, max_size=5).map(
    lambda processors: [Node(str(number), f"m{number}", count) for number, count in enumerate(processors)]
)


@given(MACHINES)
def test_with_as_many_processes_as_processors_each_has_its_own(machines: list[Node]) -> None:
    shares = Counter(node.id for node in placed(machines, sum(node.processors for node in machines)))
    assert shares == {node.id: node.processors for node in machines}


@given(MACHINES, st.integers(0, 40))
def test_no_machine_gets_another_process_while_one_has_less_to_do(machines: list[Node], count: int) -> None:
    shares = Counter(node.id for node in placed(machines, count))
    assert sum(shares.values()) == count
    least = min(shares[node.id] / node.processors for node in machines)
    assert all((shares[node.id] - 1) / node.processors <= least for node in machines if shares[node.id])


def test_without_a_machine_it_is_said_that_none_is_left() -> None:
    with pytest.raises(WrongUsage, match="no machine of the cluster is left"):
        placed([], 2)
