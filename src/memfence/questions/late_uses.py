"""Memory that is freed while another thread may still use it, under models of processors.

A processor may carry out a load after a store that stands behind it, so that the load comes after another thread's
`free`. Such a use has no place in an execution: the check that the block is there looks like a branch, which keeps its
order. C11 says when no use can be late: each happens before the free, and the processor keeps what compilers make of
that. Where C11 does not say so, HOLDS is not known.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.axiomatic.synchronised import FREED
from memfence.axiomatic.unrolling.refusal import Unfit
from memfence.models.catalogue import model_of
from memfence.program.ir import Program
from memfence.source import NOWHERE
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import OutOfReach

C11 = "rc11"


def has_late_uses(program: Program, name: str) -> bool:
    """Whether the model may let uses of freed memory come late: it has no races, and the program frees."""
    model = model_of(name)
    is_weaker = model is None or not (model.states or model.graphs)  # loads may come after later stores
    return is_weaker and any(variable.name.startswith(FREED) for variable in program.variables)


def unless_uses_are_late(answer: Answer, under_c11: Answer) -> Answer:
    """The answer; UNKNOWN where nothing fails, and C11 does not say that each use happens before the free."""
    if under_c11.verdict in (Verdict.HOLDS, Verdict.HOLDS_UP_TO):
        return answer
    return replace(answer, verdict=Verdict.UNKNOWN, evidence=OutOfReach(Unfit.LATE_USES, NOWHERE))
