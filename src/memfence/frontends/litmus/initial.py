"""The initial state between braces: `x=1; 0:EAX=2; int y; int *p = &x; 0:RAX=x`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.frontends.litmus.instructions import read_number, register_number
from memfence.frontends.litmus.layout import Piece, syntax_error
from memfence.frontends.litmus.syntax import InitialState

_ITEM = re.compile(
    r"(?P<type>(?:[A-Za-z_]\w*\b[\s*]+)*)"
    r"(?:P?(?P<thread>\d+)\s*:\s*(?P<register>%?\w+)|(?P<name>[A-Za-z_]\w*)|\[\s*(?P<bracketed>[A-Za-z_]\w*)\s*\])"
    r"\s*(?P<array>\[.*)?(?:==?\s*(?P<value>.*))?\Z",
    re.DOTALL,
)


def read_initial(items: Sequence[Piece], threads: int, errors: list[Diagnostic]) -> InitialState:
    """The initial state; mistakes go to `errors`."""
    state = InitialState()
    for item in items:
        found = _ITEM.match(item.text)
        if found is None:
            hint = "write `x=1` for memory, `0:EAX=1` for a register"
            errors.append(syntax_error(item.span, f"`{item.text}` does not initialise anything", hint))
        elif found["array"]:
            hint = "use one name a memory location"
            errors.append(Diagnostic(Code.UNSUPPORTED, "arrays are not supported", Label(item.span), hint=hint))
        elif found["register"] is not None:
            _read_register(state, item, found, threads, errors)
        else:
            _read_location(state, item, found, errors)
    return state


def _read_location(state: InitialState, item: Piece, found: re.Match[str], errors: list[Diagnostic]) -> None:
    name = found["name"] or found["bracketed"]
    if _is_new(state, name, item, errors):
        value = _read_value(item, found, errors)
        if isinstance(value, str):
            what = f"`{name}` is initialised with the address of `{value}`: addresses in memory are not supported"
            hint = "only a register may hold an address, as in `0:EAX=x`"
            errors.append(Diagnostic(Code.UNSUPPORTED, what, Label(item.span), hint=hint))
            value = 0
        state.locations[name] = value


def _read_register(
    state: InitialState, item: Piece, found: re.Match[str], threads: int, errors: list[Diagnostic]
) -> None:
    thread = int(found["thread"][:9])
    number = register_number(found["register"])
    if number is None:
        hint = "registers are EAX, EBX, ECX, EDX, ESI, EDI, EBP, ..."
        what = f"`{found['register']}` is not a register"
        errors.append(Diagnostic(Code.UNKNOWN_REGISTER, what, Label(item.span), hint=hint))
    elif thread >= threads:
        what = f"there is no thread `{found['thread'][:9]}`"
        hint = f"the threads are P0 to P{threads - 1}"
        errors.append(Diagnostic(Code.UNKNOWN_PROCESS, what, Label(item.span), hint=hint))
    elif _is_new(state, (thread, number), item, errors):
        value = _read_value(item, found, errors)
        if isinstance(value, str):
            state.pointers[thread, number] = value
        else:
            state.registers[thread, number] = value


def _is_new(state: InitialState, key: str | tuple[int, int], item: Piece, errors: list[Diagnostic]) -> bool:
    if key not in state.places:
        state.places[key] = item.span
        return True
    before = Label(state.places[key], "first here")
    errors.append(Diagnostic(Code.DUPLICATE, f"`{item.text}` is initialised twice", Label(item.span), (before,)))
    return False


def _read_value(item: Piece, found: re.Match[str], errors: list[Diagnostic]) -> int | str:
    """The number, or the name of the location whose address it is."""
    text = found["value"]
    if text is None:
        return 0
    source, start = item.span.source, item.span.start
    span = source.span(start + found.start("value"), start + max(found.end("value"), found.start("value") + 1))
    number = read_number(text, span, errors)
    if number is not None:
        return number
    address = re.match(r"&?\s*([A-Za-z_]\w*)\Z", text)
    if address is not None:
        return address[1]
    errors.append(syntax_error(span, f"`{text}` is neither a number nor a name", "write a number, as in `x=1`"))
    return 0
