"""Whether a mutant is the same program to a model: on x86, an acquire load compiles to what a relaxed one does."""

from __future__ import annotations

from dataclasses import replace

from memfence.axiomatic.code import Code, EventItem, Read, Thread
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.unroll import unroll
from memfence.axiomatic.unrolling.refusal import NotUnrolled
from memfence.engines.axiomatic.violations import as_seen_by
from memfence.models.catalogue import states_of
from memfence.models.spec import SPECS
from memfence.passes.orders import for_hardware
from memfence.program.ir import Program
from memfence.program.orders import MemoryOrder


def are_alike(program: Program, mutant: Program, model: str) -> bool:
    """Whether the model cannot tell them apart: proved, by what it makes of every access; False where nobody knows."""
    if states_of(model):
        spec = SPECS[states_of(model)]
        return for_hardware(program, spec) == for_hardware(mutant, spec)
    try:
        first, second = (unroll(as_seen_by(model, one, one.properties), 1) for one in (program, mutant))
    except NotUnrolled:
        return False
    if [_bare(thread) for thread in first.threads] != [_bare(thread) for thread in second.threads]:
        return False
    return all(_tags(first, one) == _tags(second, one) for one in models_named(model, language=program.language))


def _bare(thread: Thread) -> list[object]:
    """The items without their orders."""
    return [_without_order(item) if isinstance(item, EventItem) else item for item in thread.items]


def _without_order(item: EventItem) -> EventItem:
    bare: EventItem = replace(item, order=MemoryOrder.PLAIN)
    return replace(bare, attempted=None) if isinstance(bare, Read) else bare


def _tags(code: Code, model: AxiomaticModel) -> list[list[frozenset[str]]]:
    """What the model sees of the order of each event."""
    return [
        [model.tags(thread, item) for item in thread.items if isinstance(item, EventItem)] for thread in code.threads
    ]
