"""From native states back to the states of the reference models: for comparing whole reachable sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from memfence.engines.native.encode import Encoded, uses_sfence
from memfence.models.buffering import Buffering
from memfence.models.spec import ModelSpec
from memfence.models.state import SEPARATOR, Buffer, Entry, State
from memfence.program.facts.effects import stored_variables
from memfence.program.ir import Process


def decode_state(encoded: Encoded, model: ModelSpec, values: Sequence[int]) -> State:
    """The state that the values of all slots stand for."""
    program, slots = encoded.program, encoded.slots
    owner = 0 if slots.lock is None else values[slots.lock]
    registers = tuple(
        tuple(values[slots.register(p, r)] for r in range(len(process.registers)))
        for p, process in enumerate(program.processes)
    )
    return State(
        tuple(values[slot] for slot in slots.locations),
        registers,
        tuple(values[: slots.variables]),
        _buffers(encoded, model, values),
        owner - 1 if owner else None,
    )


def _buffers(encoded: Encoded, model: ModelSpec, values: Sequence[int]) -> tuple[tuple[Buffer, ...], ...]:
    bound = model.bound or 0
    at = encoded.slots.count
    result: list[tuple[Buffer, ...]] = []
    for p, process in enumerate(encoded.program.processes):
        stored = stored_variables(process)
        match model.buffering:
            case Buffering.NOWHERE:
                result.append(())
            case Buffering.PER_PROCESS:
                length = values[encoded.slots.pending(p)]
                result.append((tuple((values[at + 2 * i], values[at + 2 * i + 1]) for i in range(length)),))
                at += 2 * (bound * len(stored) if model.per_variable else bound if stored else 0)
            case Buffering.PER_VARIABLE:
                size = size_of_pso_buffer(process, bound)
                starts = (at + n * size for n in range(len(stored)))
                result.append(
                    tuple(_pso_buffer(v, values, n, bound, size) for v, n in zip(stored, starts, strict=True))
                )
                at += len(stored) * size
            case _:
                assert_never(model.buffering)
    return tuple(result)


def size_of_pso_buffer(process: Process, bound: int) -> int:
    """How many slots one buffer has: its length, the values and, beside sfences, a mark for each of them."""
    return 1 + (2 * bound if uses_sfence(process) else bound)


def _pso_buffer(variable: int, values: Sequence[int], at: int, bound: int, size: int) -> Buffer:
    def entry(slot: int) -> Entry:
        is_separator = size > 1 + bound and values[slot + bound]
        return SEPARATOR if is_separator else (variable, values[slot])

    return tuple(entry(slot) for slot in range(at + 1, at + 1 + values[at]))
