"""How programs end: by `abort`, `exit`, a signal, an exception. `memfence.failures` says which ends are failures.

A normal end is the end of the whole process, whatever other threads do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from memfence.codes import Code
from memfence.failures import ABORT, EXCEPTION, EXIT, LIBRARY_EXCEPTION, SIGNAL, Ending, ending_of
from memfence.frontends.c.library.arguments import call_name, known, number
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.demangling import demangled
from memfence.frontends.c.llvm.instructions import Call, Other
from memfence.frontends.c.llvm.values import Global
from memfence.frontends.c.machine.at_end import register, register_for_thread, runs_at_exit, runs_at_thread_end
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.ending import end_process, end_with_status
from memfence.frontends.c.machine.liveness import FunctionFacts
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import ZERO, Known, Value
from memfence.frontends.c.machine.world import Restart

PROCESS = 1000
"""What `getpid` returns."""
FATAL = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
    9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
    24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 31: "SIGSYS",
}  # fmt: skip
"""Signals that end a process which has no handler for them, by their numbers on x86-64."""
HARMLESS = (0, 17, 18, 23, 28)
"""No signal at all, SIGCHLD, SIGCONT, SIGURG and SIGWINCH: nothing happens."""
NO_HANDLERS = (ZERO, Known(1))
"""SIG_DFL or a null pointer, and SIG_IGN."""


def ends_by(ending: Ending, text: str = "") -> Handler:
    """A function that ends the process in this way."""

    def end(path: Path, call: Call, arguments: list[Value]) -> None:
        end_process(path, ending, text or ending.text(demangled(call_name(call))))

    return end


def ending_handler(name: str) -> Handler | None:
    """What a function does that the program only declares, where `memfence.failures` knows it by its name."""
    ending = ending_of(name)
    thrown = re.search(r"__throw_([a-z_]+)", name)
    if ending is LIBRARY_EXCEPTION and thrown is not None:
        return ends_by(ending, ending.text(f"std::{thrown[1].strip('_')}"))
    return None if ending is None else ends_by(ending)


def _exit(path: Path, call: Call, arguments: list[Value]) -> None:
    if call_name(call) == "exit" and (runs_at_thread_end(path) or runs_at_exit(path)):
        return
    end_with_status(path, EXIT, call_name(call), number(path, arguments, 0))


def _raise(position: int) -> Handler:
    """A call that sends the signal at this position among its arguments to the process itself."""

    def send(path: Path, call: Call, arguments: list[Value]) -> None:
        signal = known(path, arguments, position, "the number of a signal")
        if signal in HARMLESS:
            returned(path, call, ZERO)
            return
        if signal not in FATAL:
            raise path.refuse(Code.UNSUPPORTED, f"the signal {signal} does not end the process")
        if path.world.ignores_signals:
            raise path.refuse(Code.UNSUPPORTED, "a signal that may be ignored: the program uses SIG_IGN")
        end_process(path, SIGNAL, SIGNAL.text(call_name(call), FATAL[signal]))

    return send


def _kill(path: Path, call: Call, arguments: list[Value]) -> None:
    if number(path, arguments, 0) not in (ZERO, Known(PROCESS)):
        raise path.refuse(Code.UNSUPPORTED, "a signal to another process")
    _raise(1)(path, call, arguments)


def _no_handler(what: str, argument: int) -> Handler:
    """A call that installs a function which the system runs later; without one, nothing happens."""

    def install(path: Path, call: Call, arguments: list[Value]) -> None:
        handler = number(path, arguments, argument)
        if handler not in NO_HANDLERS:
            raise path.refuse(Code.UNSUPPORTED, f"{what} is not followed")
        if handler != ZERO and not path.world.ignores_signals:
            path.world.ignores_signals = True
            raise Restart("a signal is ignored")
        returned(path, call, ZERO)

    return install


def _at_exit(path: Path, call: Call, arguments: list[Value]) -> None:
    register(path, call, number(path, arguments, 0), None)


def _destroy_at_exit(path: Path, call: Call, arguments: list[Value]) -> None:
    register(path, call, number(path, arguments, 0), number(path, arguments, 1))


def _destroy_at_thread_end(path: Path, call: Call, arguments: list[Value]) -> None:
    register_for_thread(path, call, number(path, arguments, 0), number(path, arguments, 1))


# Exceptions.


def _throw(path: Path, call: Call, arguments: list[Value]) -> None:
    """An exception that nobody catches ends the process; one that may be caught is refused.

    What is thrown is not looked at: the first call of a `throw` gets room for it, and the process ends there.
    """
    throws = [one for one in _calls(path.state.top.facts) if getattr(one.callee, "name", "") == EXCEPTION.names[0]]
    pads = [(path.state.top.facts, one.unwind) for one in throws]
    frames = path.state.frames
    opened = pairwise(frames)
    pads += [(below.facts, above.call.unwind) for below, above in opened if above.call is not None]
    if any(_catches(facts, block) for facts, block in pads):
        raise path.refuse(Code.UNSUPPORTED, "an exception is thrown: exceptions are not supported")
    types = {one.arguments[1][1] for one in throws if len(one.arguments) > 1}
    names = [demangled(type.name).removeprefix("typeinfo for ") for type in types if isinstance(type, Global)]
    end_process(
        path, EXCEPTION, LIBRARY_EXCEPTION.text(names[0]) if len(names) == len(types) == 1 else EXCEPTION.text()
    )


def _calls(facts: FunctionFacts) -> Iterator[Call]:
    return (one for block in facts.blocks.values() for one in block if isinstance(one, Call))


def _catches(facts: FunctionFacts, block: str | None) -> bool:
    """Whether an exception that comes to this block may be caught there, and not just clean up or terminate."""
    if block is None:
        return False
    instructions = facts.blocks[block]
    clauses = {one.opcode for one in instructions if isinstance(one, Other)}
    callees = {getattr(one.callee, "name", "") for one in instructions if isinstance(one, Call)}
    return bool(clauses & {"catch", "filter"}) and "__clang_call_terminate" not in callees


FUNCTIONS: dict[str, Handler] = {
    "abort": ends_by(ABORT),
    **dict.fromkeys(EXIT.names, _exit),
    "raise": _raise(0),
    "pthread_kill": _raise(1),
    "kill": _kill,
    "signal": _no_handler("a signal handler", 1),
    "sigaction": _no_handler("a signal handler", 1),
    "atexit": _at_exit,
    "__cxa_atexit": _destroy_at_exit,
    "__cxa_thread_atexit": _destroy_at_thread_end,
    "at_quick_exit": _no_handler("a function that runs at exit", 0),
    "__cxa_allocate_exception": _throw,
    "__cxa_throw": _throw,
    "__cxa_rethrow": _throw,
}
