"""Litmus tests as lines of words, and random ones.

A thread is a line: `Wx1` writes 1, `Rx` reads into the next register, `Ax1` exchanges, each with an order behind a
colon; `F:rw.rw` is a fence, `ctrl` a branch on the last register. `Rx@` and `Wx1@` have an address, `Wx1!` a value that
is computed from the last register. Threads stand side by side: `Wx1 Ry | Wy1 Rx`.
"""

from __future__ import annotations

import re
from random import Random

from memfence.axiomatic.code import Barrier, Branch, Code, End, Item, Read, Thread, Write
from memfence.program.expressions import (
    TRUE,
    Address,
    Binary,
    Const,
    Expr,
    Register,
    RegisterOf,
    Shared,
    conjunction,
    variable_address,
)
from memfence.program.ir import Domain, Location, Process, Program, RegisterVar, SharedVar
from memfence.program.orders import MemoryOrder

DOMAIN = Domain(0, 3)
VARIABLES = "xyz"
ORDERS = {
    None: MemoryOrder.RELAXED, "acq": MemoryOrder.ACQUIRE, "rel": MemoryOrder.RELEASE,
    "acqrel": MemoryOrder.ACQ_REL, "sc": MemoryOrder.SEQ_CST,
}  # fmt: skip
FENCES = {
    "r.rw": Barrier("thread_fence", MemoryOrder.ACQUIRE),
    "rw.w": Barrier("thread_fence", MemoryOrder.RELEASE),
    "tso": Barrier("thread_fence", MemoryOrder.ACQ_REL),
    "rw.rw": Barrier("thread_fence", MemoryOrder.SEQ_CST),
    "w.w": Barrier("sfence"),
}
WORD = re.compile(r"([RWA])([xyz])(\d?)([@!]?)(?::(\w+))?")


def items_of(words: str) -> tuple[list[Item], int]:
    """The items of a thread, and how many registers it has."""
    items: list[Item] = []
    slot = -1
    for word in words.split():
        if word == "ctrl":
            items.append(Branch(Binary("==", Register(slot), Const(0))))
            continue
        if word.startswith("F:"):
            items.append(FENCES[word[2:]])
            continue
        found = WORD.fullmatch(word)
        assert found is not None, word
        kind, name, value, depends, order = found.groups()
        nothing = Binary("^", Register(slot), Register(slot))
        number = VARIABLES.index(name)
        address = Address(number, 1, nothing) if depends == "@" else variable_address(number)
        constant: Expr = Const(int(value or 0))
        written: Expr = Binary("+", nothing, constant) if depends == "!" else constant
        if kind == "W":
            items.append(Write(address, written, order=ORDERS[order]))
            continue
        slot += 1
        items.append(Read(slot, address, order=ORDERS[order].of_read))
        if kind == "A":
            items.append(Write(address, written, order=ORDERS[order].of_write, reads_by=len(items) - 1))
    return items, slot + 1


def code_of(text: str) -> Code:
    threads, processes = [], []
    for number, words in enumerate(text.split("|")):
        items, slots = items_of(words)
        threads.append(Thread(f"P{number}", (*items, End(TRUE, tuple(range(slots)))), slots))
        registers = tuple(RegisterVar(f"r{n}", DOMAIN) for n in range(slots))
        processes.append(Process(f"P{number}", f"P{number}", registers, (Location("end"),), 0, ()))
    variables = tuple(SharedVar(name, DOMAIN) for name in VARIABLES)
    return Code(Program("litmus", variables, tuple(processes)), tuple(threads), 0)


def condition_of(text: str) -> Expr:
    """`0:0=1 x=2`: register 0 of thread 0 is 1, and x is 2 at the end."""
    parts = []
    for word in text.split():
        place, value = word.split("=")
        thread, _, register = place.partition(":")
        leaf = RegisterOf(int(thread), int(register)) if register else Shared(variable_address(VARIABLES.index(place)))
        parts.append(Binary("==", leaf, Const(int(value))))
    return conjunction(*parts)


def random_text(seed: int) -> str:
    """A message is passed to a thread that acts on it, in one of the ways that tell the rules of processors apart; or
    both threads exchange something, then read."""
    random = Random(seed)
    if random.random() < 0.2:
        fences = [f"F:{random.choice(list(FENCES))}" for _ in range(2)]
        return f"Ax1 {fences[0]} Ry | Ay1 {fences[1]} Rx"
    sender = ["Wx1", random.choice(["F:rw.rw", "F:w.w", "F:tso"]), random.choice(["Wy1", "Wy1", "Ay1", "Wy1:rel"])]
    middle = ["", "Ry", "Rz@", "Wz1! Rz", "Wz1@ Rz", "ctrl Wz1 Rz", "Az1! Rz", "Az1@:rel", "Az1:acq", "ctrl Wz1"]
    receiver = [
        random.choice(["Ry", "Ry", "Ay2", "Ay2", "Ry:acq", "Ay2:rel", "Ay2:sc"]),
        random.choice([*middle, f"F:{random.choice(list(FENCES))}"]),
        random.choice(["Rx", "Rx@", "Rx@", "Wx2", "Wx2!", "Wx2:rel", "Ax2:acq", "Ax2"]),
    ]
    return f"{' '.join(sender)} | {' '.join(receiver)}"
