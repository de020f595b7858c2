"""Calls: of functions of the program, of the library by name, through pointers; and returns from them."""

from __future__ import annotations

from difflib import get_close_matches

from memfence.codes import Code
from memfence.frontends.c.library.registry import handler_of
from memfence.frontends.c.llvm.demangling import demangled
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.llvm.link import Symbol
from memfence.frontends.c.llvm.types import VOID
from memfence.frontends.c.llvm.values import Global, Ignored, InlineAsm
from memfence.frontends.c.machine.at_end import runs_at_exit, runs_at_thread_end
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.by_value import copied_structs
from memfence.frontends.c.machine.lifetime import begin_locals, end_locals
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Bus
from memfence.frontends.c.machine.threads import finish_thread
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.values import ZERO, Known, Value
from memfence.program.expressions import Binary, Const

ATOMIC = "__VERIFIER_atomic_"


def call_function(path: Path, call: Call) -> None:
    if isinstance(call.callee, InlineAsm):
        from memfence.frontends.c.library.assembly import run_assembly

        run_assembly(path, call, call.callee)
    elif isinstance(call.callee, Global):
        symbol = path.world.linked.find(path.state.top.symbol.module, call.callee.name)
        if symbol is None:
            raise path.refuse(Code.UNKNOWN_CALL, f"the function `{demangled(call.callee.name)}` is not defined")
        _call_symbol(path, call, symbol)
    else:
        _call_pointer(path, call)


def _call_pointer(path: Path, call: Call) -> None:
    pointer = used(path.scalar(VOID, call.callee))
    functions = path.world.constants.functions
    if isinstance(pointer, Known):
        symbol = functions.get(pointer.value)
        if symbol is None:
            path.fail("call through a null pointer" if pointer.value == 0 else "call of something that is no function")
        else:
            _call_symbol(path, call, symbol)
        return
    good = [a for a in pointer.values.addresses() if a in functions]
    if len(good) != len(pointer.values.listed) or pointer.values.has_interval or pointer.values.is_open:
        from memfence.program.expressions import conjunction

        bad = path.fork(conjunction(*(Binary("!=", pointer.expr, Const(a)) for a in good)))
        if bad is not None:
            bad.fail("call of something that is no function")
    for address in good:
        copy = path.fork(Binary("==", pointer.expr, Const(address)))
        if copy is not None:
            _call_symbol(copy, call, functions[address])
    path.ended = True


def _call_symbol(path: Path, call: Call, symbol: Symbol) -> None:
    handler = handler_of(symbol.name, symbol.is_defined)
    if handler is not None:
        handler(path, call, arguments_of(path, call))
        return
    if not symbol.is_defined:
        raise _unknown_function(path, symbol.name)
    is_atomic = symbol.name.startswith(ATOMIC) and path.state.started and not _is_in_atomic(path)
    if symbol.definition.variadic and _uses_variadic(path, symbol):  # type: ignore[union-attr]
        raise path.refuse(
            Code.UNSUPPORTED,
            f"`{demangled(symbol.name)}` takes a variable number of arguments",
            "write it with a fixed number of arguments",
        )
    arguments = copied_structs(path, call, symbol, arguments_of(path, call))
    if arguments is None:
        return
    path.call(symbol, arguments, call, is_atomic)
    if path.ended:
        return
    ops = begin_locals(path)
    if is_atomic or ops:
        path.emit([*([Bus(True)] if is_atomic else []), *ops])


def _uses_variadic(path: Path, symbol: Symbol) -> bool:
    blocks = path.world.facts(symbol).blocks.values()
    calls = (i for block in blocks for i in block if isinstance(i, Call))
    return any(isinstance(c.callee, Global) and c.callee.name.startswith("llvm.va_") for c in calls)


def _is_in_atomic(path: Path) -> bool:
    return any(frame.atomic for frame in path.state.frames) or path.state.counts.get("atomic", 0) > 0


def arguments_of(path: Path, call: Call) -> list[Value]:
    return [ZERO if isinstance(operand, Ignored) else path.value(type, operand) for type, operand in call.arguments]


RANDOM = ("rand_r", "random", "lrand48", "mrand48", "arc4random")


def _unknown_function(path: Path, name: str) -> Exception:
    from memfence.frontends.c.library.registry import known_names

    shown = demangled(name)
    near = get_close_matches(name, known_names(), n=1, cutoff=0.8)
    hint = (
        f"did you mean `{near[0]}`?" if near else "add the file that defines it to the command, or write a stub for it"
    )
    if name in RANDOM:
        hint = "for any number, declare and call `int __VERIFIER_nondet_int(void)`; else use a constant"
    elif "std::ostream" in shown:
        hint = "leave the output out of the code under test, or use printf"
    return path.refuse(
        Code.UNKNOWN_CALL, f"memfence does not know the function `{shown}`", hint, "its code is not here"
    )


def return_from(path: Path, value: Value | None) -> None:
    """Return from the innermost call, or end the thread."""
    state = path.state
    frame = state.top
    depth = len(state.frames) - 1
    if depth == 0:
        if not runs_at_thread_end(path) and not (path.process.thread.block is None and runs_at_exit(path)):
            finish_thread(path, value)
        return
    ops = end_locals(path, depth)
    state.frames.pop()
    assert frame.call is not None
    if frame.call.result.startswith("!"):  # a call of the machine's own, such as a destructor at the end
        if ops:
            path.emit(ops)
        return
    returned(path, frame.call, value, meet=not frame.atomic and not ops)
    if (frame.atomic or ops) and not path.ended:
        path.emit([*ops, *([Bus(False)] if frame.atomic else [])])
