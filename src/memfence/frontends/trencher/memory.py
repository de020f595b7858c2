"""How much memory a transition list without `memory_size` needs.

Constant addresses say it themselves. Addresses computed at run time are bounded by an interval analysis of the program
in which the whole memory is one variable: every access notes its address in an extra register first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memfence.codes import Code
from memfence.frontends.trencher.reader import MOST_MEMORY
from memfence.program.expressions import Address, Const, Expr, variable_address
from memfence.program.ir import UNDECLARED, Assign, Load, Op, Process, Program, RegisterVar, SharedVar, Store

if TYPE_CHECKING:
    from memfence.frontends.trencher.reader import Node, Reader


def needed_memory(reader: Reader, processes: tuple[Process, ...]) -> int:
    """One more than the largest address that stands in `processes` or that a run can compute; reported if unbounded.

    Constants count wherever they stand: also behind a `check` that never succeeds there must be such an address.
    """
    addresses = [op.address for p in processes for t in p.transitions for op in t.ops if isinstance(op, Load | Store)]
    most = max((address.variable for address in addresses if address.variable is not None), default=-1)
    if all(address.variable is not None for address in addresses):
        return most + 1
    most = max(most, _largest_address(processes))
    if most < MOST_MEMORY:
        return most + 1
    hint = "state how many variables there are: `memory_size 8`"
    message = "this address can be any number, and the size of the memory is not given"
    reader.report(Code.BAD_ADDRESS, message, _first_computed(reader, processes), "computed here", hint)
    return MOST_MEMORY


def _index(address: Address) -> Expr:
    return address.index if address.variable is None else Const(address.variable)


def _largest_address(processes: tuple[Process, ...]) -> int:
    from memfence.program.facts.interval_analysis import analyse_values
    from memfence.program.facts.interval_transfer import domains_of, register_place

    noting = Program("", (SharedVar("mem", UNDECLARED),), tuple(map(_with_noted_addresses, processes)))
    written = analyse_values(noting, domains_of(noting)).raw
    return max(written[register_place(n, len(p.registers))].hi for n, p in enumerate(processes))


def _with_noted_addresses(process: Process) -> Process:
    noted = len(process.registers)

    def noting(op: Op) -> tuple[Op, ...]:
        if isinstance(op, Load | Store):
            return Assign(noted, _index(op.address)), replace(op, address=variable_address(0))
        return (op,)

    transitions = (replace(t, ops=tuple(n for op in t.ops for n in noting(op))) for t in process.transitions)
    registers = (*process.registers, RegisterVar("%address", UNDECLARED))
    return replace(process, registers=registers, transitions=tuple(transitions))


def _first_computed(reader: Reader, processes: tuple[Process, ...]) -> Node:
    """The operand of the first access whose address is not a constant."""
    items = [item for thread in reader.threads for _ in thread.instances for item in thread.items]
    transitions = [transition for process in processes for transition in process.transitions]
    for item, transition in zip(items, transitions, strict=True):
        for op in transition.ops:
            if isinstance(op, Load | Store) and op.address.variable is None:
                return item.operands[1]
    raise AssertionError("every address is a constant")
