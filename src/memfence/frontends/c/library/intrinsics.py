"""LLVM's own functions, `llvm.*`, and the compiler's support functions for atomics."""

from __future__ import annotations

from memfence.codes import Code
from memfence.failures import TRAP
from memfence.frontends.c.library.arguments import known, nothing
from memfence.frontends.c.library.bit_intrinsics import bit_intrinsic
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.library.text import copy_memory, set_memory
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.llvm.values import Local
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.lifetime import enter_block, leave_block
from memfence.frontends.c.machine.liveness import CONTENT, LIFETIME_START, is_call_of
from memfence.frontends.c.machine.path import FLOAT_HINT, Path
from memfence.frontends.c.machine.residual import Barrier
from memfence.frontends.c.machine.undefined import OUTSIDE, SIGNED_OVERFLOW
from memfence.frontends.c.machine.values import ONE, Known, Value
from memfence.program.orders import MemoryOrder

IGNORED = (
    "llvm.dbg.", "llvm.assume", "llvm.prefetch", "llvm.donothing", "llvm.experimental.noalias", "llvm.stacksave",
    "llvm.stackrestore", "llvm.va_end", "llvm.var.annotation", "llvm.invariant", "llvm.sideeffect",
    "llvm.x86.sse2.pause", "llvm.pseudoprobe", "llvm.fake.use",
)  # fmt: skip
SAME = ("llvm.expect", "llvm.launder.invariant", "llvm.strip.invariant", "llvm.ptr.annotation", "llvm.annotation")


def intrinsic(name: str) -> Handler:
    """What a call of `llvm.*` does."""
    if name.startswith("llvm.lifetime"):
        return _lifetime
    if name.startswith(IGNORED):
        return nothing
    if name.startswith(SAME):
        return lambda path, call, arguments: returned(path, call, arguments[0])
    if name.startswith(("llvm.memcpy", "llvm.memmove")):
        return copy_memory
    if name.startswith("llvm.memset"):
        return set_memory
    if name.startswith("llvm.threadlocal.address"):
        return _thread_local
    if name in FENCES:
        return _fence(FENCES[name])
    on_bits = bit_intrinsic(name)
    if on_bits is not None:
        return on_bits
    parts = name.split(".")
    if parts[1] == "ubsantrap":
        return _undefined
    if parts[1] in ("trap", "debugtrap"):
        return _trap
    if parts[1] in ("objectsize", "is"):
        return lambda path, call, arguments: returned(path, call, Known(-1 if parts[1] == "objectsize" else 0))
    return _refuse(name)


FENCES = {
    "llvm.x86.sse2.mfence": MemoryOrder.SEQ_CST,
    "llvm.x86.sse.sfence": MemoryOrder.RELEASE,
    "llvm.x86.sse2.lfence": MemoryOrder.ACQUIRE,
}


def _fence(order: MemoryOrder) -> Handler:
    def run(path: Path, call: Call, arguments: list[Value]) -> None:
        returned(path, call, None, meet=False)
        if path.state.started:
            path.emit([Barrier(order)])

    return run


def _refuse(name: str) -> Handler:
    def run(path: Path, call: Call, arguments: list[Value]) -> None:
        if name.startswith(("llvm.va_", "llvm.vacopy")):
            raise path.refuse(Code.UNSUPPORTED, "variadic functions of the program are not supported")
        if any(part in ("f32", "f64", "f80") for part in name.split(".")):
            raise path.refuse(Code.UNSUPPORTED, "floating-point numbers are not supported", FLOAT_HINT)
        if "setjmp" in name or "longjmp" in name:
            raise path.refuse(Code.UNSUPPORTED, "`setjmp` and `longjmp` are not supported")
        raise path.refuse(Code.UNSUPPORTED, f"the compiler's function `{name}` is not supported")

    return run


def _lifetime(path: Path, call: Call, arguments: list[Value]) -> None:
    """A local comes to life or dies: what it held is gone."""
    frame = path.state.top
    operand = call.arguments[-1][1]
    if not isinstance(operand, Local) or operand.name not in frame.facts.allocas:
        return
    if operand.name in frame.facts.simple:
        frame.env.pop(CONTENT + operand.name, None)
        return
    ops = enter_block(path, operand.name) if is_call_of(call, LIFETIME_START) else leave_block(path, operand.name)
    if ops:
        path.emit(ops)


def _thread_local(path: Path, call: Call, arguments: list[Value]) -> None:
    """Naming the variable is enough: each thread has its own copy."""
    returned(path, call, arguments[0])


ADD_OVERFLOWS, SUBTRACTION_OVERFLOWS, MULTIPLICATION_OVERFLOWS, NEGATION_OVERFLOWS = 0, 21, 12, 13
DIVISION, SHIFT, BOUNDS = 3, 20, 18
REASONS = {
    **dict.fromkeys(
        (ADD_OVERFLOWS, MULTIPLICATION_OVERFLOWS, NEGATION_OVERFLOWS, SUBTRACTION_OVERFLOWS), SIGNED_OVERFLOW
    ),
    DIVISION: "division by zero, or of the least integer by -1",
    BOUNDS: OUTSIDE,
    SHIFT: "shift of a negative number to the left, of bits out of the type, or beyond its width",
}


def _undefined(path: Path, call: Call, arguments: list[Value]) -> None:
    """A test that clang put into the code has failed (`clang.SHIFTS`); its number says which."""
    path.fail(REASONS.get(known(path, arguments, 0, "the number of a test"), "undefined behaviour"))


def _trap(path: Path, call: Call, arguments: list[Value]) -> None:
    path.fail(TRAP.text())


def _refuse_jump(path: Path, call: Call, arguments: list[Value]) -> None:
    if path.world.linked.find(path.state.top.symbol.module, "__pthread_register_cancel") is not None:
        raise path.refuse(Code.UNSUPPORTED, "`pthread_cleanup_push` is not supported")
    raise path.refuse(Code.UNSUPPORTED, "`setjmp` and `longjmp` are not supported")


def _longest_absolute(path: Path, call: Call, arguments: list[Value]) -> None:
    """`imaxabs`, which is no builtin of clang's as `labs` is."""
    absolute = bit_intrinsic("llvm.abs.i64")
    assert absolute is not None
    absolute(path, call, [*arguments, ONE])


FUNCTIONS: dict[str, Handler] = {
    "imaxabs": _longest_absolute,
    **dict.fromkeys(("setjmp", "_setjmp", "__sigsetjmp", "longjmp", "siglongjmp", "_longjmp"), _refuse_jump),
}
