"""The models of BEEM on a real cluster of Ray: counts, verdicts and lassos are those of one machine.

One session of two machines does all of them; `test_shared_search` and `test_shared_cycles` do the same without Ray.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from memfence.cluster.session import connected
from memfence.engines.cluster.engine import ClusterEngine
from memfence.engines.explicit import ExplicitEngine
from memfence.pipeline import load
from memfence.program.ir import PropertyAutomaton
from memfence.questions.ltl.check import claim_of_automaton, decide
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import Lasso, Limit
from memfence.tasks.limits import Limits
from memfence.tasks.task import Safety, Task
from support.corpus import corpus_files, needs_corpus
from support.machines import Machines, playing
from support.models import spec

MOST_STATES = 1_000_000
ALL = corpus_files("beem/*/*.dve")
STATING = [path for path in ALL if ".prop" in path.name]

pytestmark = [pytest.mark.slow, needs_corpus]


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    with playing(2) as two, connected(two.address):
        yield two


def check_same(mine: Answer, theirs: Answer) -> None:
    assert mine.verdict is theirs.verdict
    if mine.verdict is Verdict.VIOLATED:
        one, other = mine.evidence, theirs.evidence
        assert isinstance(one, Lasso) and isinstance(other, Lasso)
        assert (one.loop_start, one.trace.steps) == (other.loop_start, other.trace.steps)
    else:
        assert (mine.cost.states, mine.cost.transitions) == (theirs.cost.states, theirs.cost.transitions)


@pytest.mark.parametrize("path", [path for path in ALL if path not in STATING], ids=lambda path: path.stem)
def test_machines_count_what_one_counts(machines: Machines, path: Path) -> None:
    task = Task(load(path), spec("sc"), Safety(failures=False), Limits(most_states=MOST_STATES))
    expected = ExplicitEngine().answer(task)
    if isinstance(expected.evidence, Limit):
        pytest.skip(f"more than {MOST_STATES:,} states")
    mine = ClusterEngine().answer(task.within(cluster=machines.address))
    check_same(mine, expected)
    assert mine.cost.depth == expected.cost.depth


@pytest.mark.parametrize("path", STATING, ids=lambda path: path.stem)
def test_machines_find_the_lasso_that_one_finds(machines: Machines, path: Path) -> None:
    program = load(path)
    stated = [p for p in program.properties if isinstance(p, PropertyAutomaton)]
    assert stated
    ask = partial(decide, program, claim_of_automaton(stated[0]), spec("sc"))
    expected = ask(limits=Limits(most_states=MOST_STATES))
    if expected.verdict is Verdict.UNKNOWN:
        pytest.skip(f"more than {MOST_STATES:,} states")
    check_same(ask(limits=Limits(cluster=machines.address)), expected)
