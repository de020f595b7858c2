"""What can be asked when C is read; the command line and the Python API fill this in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """Every option of reading C, under the same name as on the command line.

    `define`: macros, `NAME` or `NAME=VALUE`. `include`: folders for headers. `std`: the language standard, as clang
    knows it. `clang`: the compiler to use. `entry`: the function that runs first. `as_compiled`: read the code after
    the optimiser. `threads_bound`, `heap_bound`, `recursion_bound`: threads, heap blocks and open calls of one place of
    the program that are followed; a run that needs more is cut off there, and the verdict says so.
    `overflow`: signed overflow is an error. `deadlock`: so is a state in which nobody can go on.
    """

    define: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    std: str | None = None
    clang: str | None = None
    entry: str = "main"
    as_compiled: bool = False
    threads_bound: int = 3
    heap_bound: int = 8
    recursion_bound: int = 16
    overflow: bool = True
    deadlock: bool = True
    forced_include: tuple[str, ...] = ()
