"""SV-COMP's and GenMC's functions: assumptions, errors, nondeterministic values, atomic sections."""

from __future__ import annotations

from memfence.failures import ERROR
from memfence.frontends.c.library.arguments import nothing, number
from memfence.frontends.c.library.ending import ends_by
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call, Compare, Instruction
from memfence.frontends.c.llvm.values import Local, Number
from memfence.frontends.c.machine.arithmetic import compare, negation
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.liveness import FunctionFacts, operands_of
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Bus, Draw
from memfence.frontends.c.machine.value_sets import all_of_bits, range_of_bits
from memfence.frontends.c.machine.values import ZERO, Known, Unknown, Value
from memfence.program.expressions import Register

REPRESENTATIVES = (0, 1, 2, -1)
"""Values that stand for all others where a nondeterministic integer is computed with."""
TRIED = "nondeterministic integers are one of"
MOST_CONSTANTS = 9
"""Constants of the function, and their neighbours, that are tried besides."""


def _assume(path: Path, call: Call, arguments: list[Value]) -> None:
    condition = compare("ne", 32, number(path, arguments, 0), ZERO)
    if condition == ZERO:
        path.stop("blocked")
    elif isinstance(condition, Known):
        returned(path, call, None)
    else:
        blocked = path.fork(negation(condition.expr))
        if blocked is not None:
            blocked.stop("blocked")
        if path.assume(condition.expr):
            returned(path, call, None)
        else:
            path.ended = True


def _verify(path: Path, call: Call, arguments: list[Value]) -> None:
    condition = compare("ne", 32, number(path, arguments, 0), ZERO)
    if condition == ZERO:
        path.fail("assertion failed")
        return
    if not isinstance(condition, Known):
        path.check(condition.expr, "assertion failed")
    elif path.place is not None:
        path.world.evident_places.add(path.place)
    if not path.ended:
        returned(path, call, None)


def _begin(path: Path, call: Call, arguments: list[Value]) -> None:
    depth = path.state.counts.get("atomic", 0)
    path.state.counts["atomic"] = depth + 1
    returned(path, call, None, meet=False)
    if depth == 0 and path.state.started:
        path.emit([Bus(True)])


def _end(path: Path, call: Call, arguments: list[Value]) -> None:
    depth = path.state.counts.get("atomic", 0)
    path.state.counts["atomic"] = max(0, depth - 1)
    if path.state.counts["atomic"] == 0:
        del path.state.counts["atomic"]
    returned(path, call, None, meet=False)
    if depth == 1 and path.state.started:
        path.emit([Bus(False)])


def nondeterministic(bits: int, unsigned: bool) -> Handler:
    """Any value of the type; only some of them are tried where there are too many."""

    def choose(path: Path, call: Call, arguments: list[Value]) -> None:
        values, is_complete = _choices(path, call, bits, unsigned)
        may_draw = path.world.draws_anything and (path.state.started or bool(path.world.any_number))
        if not is_complete and may_draw and bits <= 32:
            _draw(path, call, bits)
            return
        if not is_complete:
            tried = ", ".join(map(str, values))
            path.world.note(f"{TRIED} {tried}")
        for value in values:
            copy = path.fork()
            assert copy is not None
            returned(copy, call, Known(value), meet=False)
            copy.emit()
        path.ended = True

    return choose


def random(path: Path, call: Call, arguments: list[Value]) -> None:
    """`rand`: any number that is not negative; a few are tried."""
    values, is_complete = _choices(path, call, 32, True)
    if not is_complete:
        path.world.note(f"{TRIED} {', '.join(map(str, values))}")
    for value in values:
        copy = path.fork()
        assert copy is not None
        if value >= 0:
            returned(copy, call, Known(value), meet=False)
            copy.emit()
        else:
            copy.ended = True
    path.ended = True


def _draw(path: Path, call: Call, bits: int) -> None:
    """Any value; which ones have to be tried is found when everything that happens to it is known."""
    register = path.scratch()
    returned(path, call, Unknown(Register(register), all_of_bits(bits)), meet=False)
    path.emit([Draw(register, bits)])


def _choices(path: Path, call: Call, bits: int, unsigned: bool) -> tuple[tuple[int, ...], bool]:
    """The values to try, and whether they stand for all."""
    if bits == 1:
        return (0, 1), True
    compared = _compared_constants(path.state.top.facts, call.result)
    if compared is not None:
        other = next(v for v in range(len(compared) + 2) if v not in compared)
        return tuple(sorted({*compared, other})), True
    lo, hi = range_of_bits(bits)
    near = sorted({c + d for c in _constants(path.state.top.facts) for d in (-1, 0, 1)})[:MOST_CONSTANTS]
    tried = sorted({*REPRESENTATIVES, *near})
    return tuple(v for v in tried if lo <= v <= hi and not (unsigned and v < 0)), False


def _constants(facts: FunctionFacts) -> set[int]:
    """The constants that the function compares something with."""
    compared = (i for block in facts.blocks.values() for i in block if isinstance(i, Compare))
    return {i.right.value for i in compared if isinstance(i.right, Number)}


def _compared_constants(facts: FunctionFacts, name: str) -> set[int] | None:
    """The constants that a result is compared with for equality, if nothing else happens to it."""
    found: set[int] = set()
    if not name:
        return found
    for block in facts.blocks.values():
        for instruction in block:
            if not _uses(instruction, name):
                continue
            if (
                not isinstance(instruction, Compare)
                or instruction.predicate not in ("eq", "ne")
                or not isinstance(instruction.right, Number)
            ):
                return None
            found.add(instruction.right.value)
    return found


def _uses(instruction: Instruction, name: str) -> bool:
    incoming = getattr(instruction, "incoming", ())
    return Local(name) in operands_of(instruction) or any(value == Local(name) for value, _ in incoming)


WIDTHS = {
    "bool": (1, True), "_Bool": (1, True), "char": (8, False), "uchar": (8, True), "u8": (8, True),
    "short": (16, False), "ushort": (16, True), "u16": (16, True), "int": (32, False), "uint": (32, True),
    "unsigned": (32, True), "unsigned_int": (32, True), "u32": (32, True), "long": (64, False), "ulong": (64, True),
    "longlong": (64, False), "ulonglong": (64, True), "size_t": (64, True), "loff_t": (64, False),
}  # fmt: skip

ALWAYS: dict[str, Handler] = {
    "__VERIFIER_assume": _assume,
    **dict.fromkeys(ERROR.names, ends_by(ERROR)),
    "__VERIFIER_atomic_begin": _begin,
    "__VERIFIER_atomic_end": _end,
    **{f"__VERIFIER_nondet_{name}": nondeterministic(bits, unsigned) for name, (bits, unsigned) in WIDTHS.items()},
}

FUNCTIONS: dict[str, Handler] = {
    "__VERIFIER_assert": _verify,
    "rand": random,
    **dict.fromkeys(
        ("__VERIFIER_spin_start", "__VERIFIER_spin_end", "__VERIFIER_loop_begin", "__VERIFIER_loop_bound",
         "__VERIFIER_optional", "__VERIFIER_confirm_CAS", "__VERIFIER_helping_CAS", "__VERIFIER_potential_spin_end",
         "__VERIFIER_local_write", "__VERIFIER_final_write", "__VERIFIER_faiZNE_spin_end",
         "__VERIFIER_lockZNE_spin_end"),
        nothing,
    ),
}  # fmt: skip
