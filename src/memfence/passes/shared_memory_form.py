"""Whether processes talk to each other through shared memory only: what the criteria are about."""

from __future__ import annotations

from memfence.passes.atomic_writes import with_locked_steps
from memfence.passes.lock_regions import with_atomic_regions
from memfence.program.expressions import At, BufferEmpty, RegisterOf, walk
from memfence.program.facts.effects import op_expressions
from memfence.program.ir import Program, Store, Transition
from memfence.source import Span


def shared_memory_form(program: Program) -> Program:
    """`program` in the form that the criteria about shared memory decide: the same traces under every memory model."""
    return with_atomic_regions(with_locked_steps(program))


def other_communication(program: Program) -> tuple[str, Span] | None:
    """The first thing, and its place, by which a process reaches another one without a load or store; None if there is
    none."""
    for process in program.processes:
        for transition in process.transitions:
            if (what := _beside_memory(program, transition)) is not None:
                return what, transition.span
        for location in process.locations:
            if location.committed:
                return "a committed state", location.span
    return None


def _beside_memory(program: Program, transition: Transition) -> str | None:
    if transition.sync is not None:
        return "a rendezvous"
    leaves = [leaf for op in transition.ops for expr in op_expressions(op) for leaf in walk(expr)]
    waits = any(isinstance(leaf, BufferEmpty) for leaf in leaves)
    if any(isinstance(op, Store) and op.direct for op in transition.ops):
        if waits:
            return "an atomic write beside others"
        return "the lifetime of an object" if program.language == "c" else "a buffered channel"
    if waits or any(isinstance(leaf, At | RegisterOf) for leaf in leaves):
        return "a look at the state of another process"
    return None
