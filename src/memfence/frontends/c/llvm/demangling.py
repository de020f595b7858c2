"""Names of C++ as their author wrote them, for messages: `std::thread::join()` for `_ZNSt3__16thread4joinEv`."""

from __future__ import annotations

import ctypes
import re

SHORTER = (
    ("std::__1::", "std::"),
    ("std::__cxx11::", "std::"),
    ("std::basic_ostream<char, std::char_traits<char>>", "std::ostream"),
    ("std::basic_string<char, std::char_traits<char>, std::allocator<char>>", "std::string"),
)
PARAMETERS = re.compile(r"(\[abi:\w+\])?\(.*\)( const)?$")


def without_parameters(name: str) -> str:
    """`std::thread::join` for `std::thread::join()`."""
    return PARAMETERS.sub("", name)


def demangled(name: str) -> str:
    """The name in the source; as it is, where it is none of C++ or there is no C++ library to ask."""
    if not name.startswith("_Z"):
        return name
    try:
        ask = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
        free = ctypes.CDLL(None).free
    except (OSError, AttributeError):
        return name
    ask.restype, free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    found = ask(name.encode(), None, None, None)
    if not found:
        return name
    text = ctypes.string_at(found).decode(errors="replace").replace("> >", ">>")
    free(found)
    for long, short in SHORTER:
        text = text.replace(long, short)
    return text
