"""A plain step with a store and a fence: under SC it is one step, under TSO the fence waits, or the store is pending.

No front end writes such steps, but a checker cannot know that. What the theorems say of runs under SC is not true of
them, so that both checkers refuse them.
"""

from __future__ import annotations

import json

import pytest

from differential.certificates.test_certificate_criteria_in_cpp import KINDS, check_same, of_sc
from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.refusal import Condition
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import ROWS, SECTION
from memfence.models.steps import successors
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Const, variable_address
from memfence.program.ir import Domain, Fence, Load, Op, Process, Program, SharedVar, Store
from memfence.program.orders import MemoryOrder
from support.certificates import beginning, blocks_of, container, judge
from support.models import spec
from twins import criteria as twin
from twins.reference_search import explore

FENCES = [Fence("mfence"), Fence("thread_fence", MemoryOrder.SEQ_CST)]
EVERY_FENCE = pytest.mark.parametrize("fence", FENCES, ids=["mfence", "thread_fence"])


def process(name: str, loaded: int, *first: Op) -> Process:
    builder = ProcessBuilder(name, name)
    builder.register("r", Domain(0, 1))
    a, b, c = (builder.location() for _ in range(3))
    builder.emit(a, b, *first)
    builder.emit(b, c, Load(0, variable_address(loaded)))
    return builder.build(a)


def program(*processes: Process) -> Program:
    return Program("fenced", tuple(SharedVar(name, Domain(0, 1)) for name in "xy"), processes)


def store(variable: int) -> Store:
    return Store(variable_address(variable), Const(1))


@EVERY_FENCE
def test_a_step_that_waits_for_its_own_store_is_a_deadlock_that_sc_does_not_have(fence: Fence) -> None:
    waits = program(process("P", 1, store(0), fence))
    claim = Claim(model="tso", deadlock=True)
    question, tso = question_of(claim, waits), spec("tso").definition
    states = explore(waits, tso).states
    assert any(question.is_stuck(s, has_step=any(True for _ in successors(waits, tso, s))) for s in states)
    section = (SECTION, json.dumps({"kind": "implied", "capacity": 0}).encode())
    content = container([*beginning(waits, claim), section, *((ROWS, one) for one in blocks_of(of_sc(waits)))])
    assert judge(content, waits).condition is judge(content, waits, fast=True).condition is Condition.KIND


@EVERY_FENCE
@pytest.mark.parametrize("name", ["triangular", "persistent", "robust, tso", "robust, pso"])
def test_a_store_behind_the_fence_of_its_step_is_not_fenced(name: str, fence: Fence) -> None:
    """Store buffering: the loads overtake the stores."""
    racing = program(process("P", 1, fence, store(0)), process("Q", 0, fence, store(1)))
    assert not twin.is_robust(racing, "tso")
    assert check_same(name, racing, KINDS[name][2](racing)) is Condition.KIND
