"""What the user calls threads and heap blocks, by the names that the source has for them."""

from __future__ import annotations

import re

from memfence.frontends.c.llvm.demangling import demangled, without_parameters
from memfence.frontends.c.llvm.instructions import Call, StoreTo
from memfence.frontends.c.llvm.link import Symbol
from memfence.frontends.c.llvm.metadata import DebugInfo
from memfence.frontends.c.llvm.values import Global, Local, Operand
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import Known, Scalar

PROXY = "thread_proxy"
"""Part of the name of the function that `std::thread` starts."""
CONSTRUCTOR = re.compile(r"(?:^|::)(\w+)(?:<.*>)?::\1$")
ANONYMOUS = "heap"
"""What a block is called that nobody names."""


def thread_title(path: Path, symbol: Symbol, handle: Scalar | None) -> str:
    """The function that the thread runs; of a `std::thread`, the variable that holds it."""
    is_proxy = symbol.name.startswith("_Z") and PROXY in symbol.name
    asked = "thread" if is_proxy else symbol.name
    if asked in path.world.any_number:
        return asked
    if not is_proxy:
        return path.world.linked.title(symbol)
    placed = path.world.space.at(handle.value) if isinstance(handle, Known) else None
    if placed is None or placed.kind not in ("stack", "global") or not isinstance(handle, Known):
        return "thread"
    name = placed.name_at(handle.value - placed.start, 0).removesuffix(".__t_")
    return name.rpartition(":")[2].rpartition(".")[2] or "thread"


def block_title(path: Path, call: Call) -> tuple[str, int]:
    """What a new heap block is called, without its number, and the type of what is in it (0: not known).

    The type, where it has a name of its own; else the variable that the result is stored in first; else `heap`.
    """
    debug = path.debug_of(path.state.top)
    variable, type = _stored_in(path, call, debug)
    type = type or _constructed(path, call)
    title = debug.title(type) if type else ""
    return title or variable or ANONYMOUS, type


def _stored_in(path: Path, call: Call, debug: DebugInfo) -> tuple[str, int]:
    """The variable that the result is stored in first, as far as that is plain to see, and what it points to."""
    facts = path.state.top.facts
    for block in facts.blocks.values():
        for instruction in block:
            if isinstance(instruction, StoreTo) and call.result and instruction.value == Local(call.result):
                variable = debug.variable(_debug_of_target(path, instruction.pointer))
                return ("", 0) if variable is None else (variable.name, debug.pointee(variable.type))
    return "", 0


def _debug_of_target(path: Path, pointer: Operand) -> int:
    """The number that describes the variable at the address; -1 for none."""
    top = path.state.top
    if isinstance(pointer, Local):
        return top.facts.function.declared.get(pointer.name, -1)
    if isinstance(pointer, Global):
        variable = path.world.linked.modules[top.symbol.module].variables.get(pointer.name)
        return -1 if variable is None else variable.debug
    return -1


def _constructed(path: Path, call: Call) -> int:
    """The class whose constructor is called for the block, by `new`."""
    top = path.state.top
    functions = path.world.linked.modules[top.symbol.module].functions
    for block in top.facts.blocks.values():
        for one in block:
            if isinstance(one, Call) and isinstance(one.callee, Global) and one.arguments:
                is_about_it = bool(call.result) and one.arguments[0][1] == Local(call.result)
                function = functions.get(one.callee.name) if is_about_it else None
                if function is not None and CONSTRUCTOR.search(without_parameters(demangled(function.name))):
                    return path.debug_of(top).scope(function.debug)
    return 0
