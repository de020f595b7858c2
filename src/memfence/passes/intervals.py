"""Ranges for values whose language declares none, and tighter ranges where that is safe (packing, scope notes).

Every undeclared register or variable that the interval analysis bounds within 32 bits gets exactly the range it needs:
no run ever leaves it. The others are read as `int_bits` wide and wrap, and a note says so: that is a restriction of
what is proved. With a width that the user chose, whatever needs more bits wraps at that width, bounded or not.
Declared ranges are narrowed only where no run leaves the declared one, so no error and no wrap is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from memfence.program.expressions import Address, Const, fold
from memfence.program.facts.interval_analysis import BOUNDED, analyse_values
from memfence.program.facts.interval_arithmetic import Interval, hull, interval
from memfence.program.facts.interval_transfer import Place, Values, domains_of, register_place, variable_place
from memfence.program.ir import Assign, Assume, Domain, Process, Program, Rmw, Store, Transition

DEFAULT_INT_BITS = 8
MOST_NAMES_IN_A_NOTE = 8
MOST_NARROWED = 5000
"""Transitions of a program whose declared ranges are narrowed."""


def bound_values(program: Program, int_bits: int | None = None) -> Program:
    """Give every register and variable a range: exact where the analysis finds one, else `int_bits` wide, wrapping.

    Without `int_bits`, any range within 32 bits is kept exactly, and what is unbounded gets `DEFAULT_INT_BITS`.
    """
    widest = BOUNDED.hi - BOUNDED.lo if int_bits is None else 2**int_bits - 1
    int_bits = DEFAULT_INT_BITS if int_bits is None else int_bits
    declared = domains_of(program)
    if _is_large(program) and all(domain.overflow != "undeclared" for domain in declared.values()):
        return program
    domains, values = _settle(program, declared, int_bits, widest)
    constants = _constants_written(program)
    final: dict[Place, Domain] = {}
    wrapping: list[Place] = []
    for place, domain in domains.items():
        written = hull(values.raw[place], constants.get(place, values.raw[place]))
        if domain.overflow == "undeclared":
            final[place] = Domain(written.lo, written.hi)
        elif Interval(domain.lo, domain.hi).contains(written):
            overflow = "error" if declared[place].overflow == "undeclared" else domain.overflow
            final[place] = Domain(written.lo, written.hi, overflow)
        else:
            final[place] = domain
            if declared[place].overflow == "undeclared":
                wrapping.append(place)
    return _with_domains(program, final, _note(program, wrapping, int_bits))


def _is_large(program: Program) -> bool:
    """Whether narrower ranges would cost more time than they save."""
    return sum(len(process.transitions) for process in program.processes) > MOST_NARROWED


def _settle(
    program: Program, declared: Mapping[Place, Domain], int_bits: int, widest: int
) -> tuple[dict[Place, Domain], Values]:
    """Domains under which every undeclared value is bounded or wraps, with the values that arise under them.

    Once a value wraps, what depends on it changes too, so the analysis starts again until nothing else has to wrap.
    Scratch registers wrap only if nothing else is left: they hold no value from step to step.
    """
    domains = dict(declared)
    while True:
        values = analyse_values(program, domains)
        unbounded = [
            place for place, d in domains.items() if d.overflow == "undeclared" and _is_too_wide(values, place, widest)
        ]
        lasting = [place for place in unbounded if not _is_transient(program, place)]
        changed = {place: _wrapping(int_bits, values.raw[place].lo < 0) for place in lasting or unbounded}
        for place, domain in domains.items():
            if (
                declared[place].overflow == "undeclared"
                and domain.overflow == "wrap"
                and domain.lo == 0 > values.raw[place].lo
            ):
                changed[place] = _wrapping(int_bits, True)
        if not changed:
            return domains, values
        domains |= changed


def _is_too_wide(values: Values, place: Place, widest: int) -> bool:
    raw = values.raw[place]
    return not BOUNDED.contains(raw) or raw.hi - raw.lo > widest


def _is_transient(program: Program, place: Place) -> bool:
    kind, owner, number = place
    return kind == "register" and isinstance(owner, int) and program.processes[owner].registers[number].transient


def _wrapping(int_bits: int, signed: bool) -> Domain:
    half = 2 ** (int_bits - 1)
    return Domain(-half, half - 1, "wrap") if signed else Domain(0, 2 * half - 1, "wrap")


def _constants_written(program: Program) -> dict[Place, Interval]:
    """Constants assigned anywhere, even where control never comes: they stay inside the range, too."""
    found: dict[Place, Interval] = {}
    for p, process in enumerate(program.processes):
        for transition in process.transitions:
            for place, value in _constant_writes(p, transition):
                single = interval(value, value)
                found[place] = hull(found.get(place, single), single)
    return found


def _constant_writes(process: int, transition: Transition) -> Iterator[tuple[Place, int]]:
    for op in transition.ops:
        match op:
            case Assume(condition) if fold(condition) == Const(0):
                return
            case Assign(register, expr):
                folded = fold(expr)
                if isinstance(folded, Const):
                    yield register_place(process, register), folded.value
            case Store(Address(base, size, index), expr):
                variable, folded = Address(base, size, fold(index)).variable, fold(expr)
                if variable is not None and isinstance(folded, Const):
                    yield variable_place(variable), folded.value
            case Rmw(_, Address(base, size, index), "exchange" | "compare_exchange", operand):
                variable, folded = Address(base, size, fold(index)).variable, fold(operand)
                if variable is not None and isinstance(folded, Const):
                    yield variable_place(variable), folded.value
            case _:
                pass


def _with_domains(program: Program, domains: Mapping[Place, Domain], notes: tuple[str, ...]) -> Program:
    def stored(domain: Domain, init: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(domain.fit(v) for v in init)) if domain.overflow == "wrap" else init

    def bounded(p: int, process: Process) -> Process:
        fitting = [domains[register_place(p, n)] for n in range(len(process.registers))]
        registers = tuple(
            replace(r, domain=replace(d, names=r.domain.names), init=stored(d, r.init))
            for r, d in zip(process.registers, fitting, strict=True)
        )
        return replace(process, registers=registers)

    fitting = [domains[variable_place(n)] for n in range(len(program.variables))]
    return replace(
        program,
        variables=tuple(
            replace(v, domain=replace(d, names=v.domain.names), init=stored(d, v.init))
            for v, d in zip(program.variables, fitting, strict=True)
        ),
        processes=tuple(bounded(p, process) for p, process in enumerate(program.processes)),
        notes=(*program.notes, *notes),
    )


def _note(program: Program, wrapping: list[Place], int_bits: int) -> tuple[str, ...]:
    names = list(dict.fromkeys(_name(program, place) for place in wrapping if not _is_transient(program, place)))
    if not wrapping:
        return ()
    shown = ", ".join(names[:MOST_NAMES_IN_A_NOTE]) or "intermediate values"
    more = f" and {len(names) - MOST_NAMES_IN_A_NOTE} more" if len(names) > MOST_NAMES_IN_A_NOTE else ""
    return (f"{shown}{more} of {int_bits} bits, wrapping (--int-bits)",)


def _name(program: Program, place: Place) -> str:
    kind, owner, number = place
    assert isinstance(owner, int)
    if kind == "variable":
        return f"`{program.variables[owner].name}`"
    process = program.processes[owner]
    return f"`{process.template}.{process.registers[number].name}`"
