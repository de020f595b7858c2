"""Which results of instructions, and which local variables, may still be read: everything else is forgotten.

A *simple* local is a scalar `alloca` that is only loaded and stored as a whole: its content lives and dies like a
register. The content of other locals counts as live until their function returns or their scope ends. A *scoped* local
is one of those whose life the code marks: it begins and ends with its block.
"""

from __future__ import annotations

from memfence.frontends.c.llvm.instructions import (
    Alloca,
    Branch,
    Call,
    Compare,
    CompareExchange,
    Compute,
    Convert,
    Extract,
    FenceOf,
    Freeze,
    Function,
    Insert,
    Instruction,
    LoadFrom,
    Offset,
    Other,
    Phi,
    Return,
    Select,
    StoreTo,
    Switch,
    Unreachable,
    Update,
    successors,
)
from memfence.frontends.c.llvm.types import BOOL, IntType, PointerType, Type, bits_of
from memfence.frontends.c.llvm.values import AddressOf, Global, Local, Operand

CONTENT = "*"
"""`*name` is the content of the simple local `name`."""

LIFETIME_START, LIFETIME_END = "llvm.lifetime.start", "llvm.lifetime.end"

Names = frozenset[str]


def operands_of(instruction: Instruction) -> tuple[Operand, ...]:
    """Everything that the instruction reads; of a phi nothing, since that is read on the way to it."""
    match instruction:
        case LoadFrom(pointer=pointer):
            return (pointer,)
        case StoreTo(value=value, pointer=pointer) | Update(value=value, pointer=pointer):
            return value, pointer
        case Offset(base=base, indices=indices):
            return base, *indices
        case Compute(left=left, right=right) | Compare(left=left, right=right):
            return left, right
        case Convert(operand=operand) | Freeze(operand=operand):
            return (operand,)
        case Select(condition=condition, then=then, otherwise=otherwise):
            return condition, then, otherwise
        case Branch(condition=None) | Return(value=None):
            return ()
        case Branch(condition=condition) if condition is not None:
            return (condition,)
        case Return(value=value) if value is not None:
            return (value,)
        case Switch(value=value):
            return (value,)
        case Call(callee=callee, arguments=arguments):
            return callee, *(operand for _, operand in arguments)
        case CompareExchange(pointer=pointer, expected=expected, desired=desired):
            return pointer, expected, desired
        case Extract(aggregate=aggregate):
            return (aggregate,)
        case Insert(aggregate=aggregate, element=element):
            return aggregate, element
        case Alloca(count=count):
            return (count,)
        case _:
            return ()


def result_of(instruction: Instruction) -> str:
    match instruction:
        case StoreTo() | Branch() | Switch() | Return() | Unreachable() | FenceOf():
            return ""
        case Other(result, _, _):
            return result
        case _:
            return instruction.result


class FunctionFacts:
    """What is known about a function before it runs: blocks, predecessors, simple locals, liveness."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.blocks = {block.name: block.instructions for block in function.blocks}
        self.entry = function.blocks[0].name
        self.allocas = {i.result: i for block in function.blocks for i in block.instructions if isinstance(i, Alloca)}
        self.simple = self._simple_locals()
        self.scoped = self._named_by(LIFETIME_START) - self.simple
        self.kept_to_return = self.scoped - {n for name in self.blocks for n in self._ends_early(name)}
        self.predecessors: dict[str, set[str]] = {name: set() for name in self.blocks}
        for name, instructions in self.blocks.items():
            for target in successors(instructions[-1]):
                self.predecessors[target].add(name)
        self.masked, self.copied = self._kinds_of_loads()
        self._live_in = self._solve()
        self._live: dict[tuple[str, int], Names] = {}
        self._in_order: dict[tuple[str, int], tuple[str, ...]] = {}

    def is_merge(self, block: str) -> bool:
        """Whether control comes to the block from several others."""
        return len(self.predecessors[block]) > 1

    def live_at(self, block: str, index: int) -> Names:
        """What may be read from here on, by this function."""
        key = (block, index)
        found = self._live.get(key)
        if found is None:
            found = self._backwards(block, index)
            self._live[key] = found
        return found

    def live_in_order(self, block: str, index: int) -> tuple[str, ...]:
        """The same, by name."""
        key = (block, index)
        found = self._in_order.get(key)
        if found is None:
            found = self._in_order[key] = tuple(sorted(self.live_at(block, index)))
        return found

    def _simple_locals(self) -> Names:
        scalars = {
            name
            for name, alloca in self.allocas.items()
            if isinstance(alloca.type, IntType | PointerType) and bits_of(alloca.type) <= 64
        }
        for block in self.function.blocks:
            for instruction in block.instructions:
                scalars -= self._used_otherwise(instruction)
        return frozenset(scalars)

    def _named_by(self, intrinsic: str) -> Names:
        """The locals that calls of the intrinsic are about."""
        calls = (i for block in self.blocks.values() for i in block if is_call_of(i, intrinsic))
        return frozenset(name for call in calls for name in locals_of(call))

    def _ends_early(self, block: str) -> Names:
        """The locals whose life ends in the block while the function still has something else to do."""
        found: set[str] = set()
        for index, instruction in enumerate(self.blocks[block]):
            if is_call_of(instruction, LIFETIME_END) and not self._only_returns(block, index + 1):
                found |= locals_of(instruction)
        return frozenset(found)

    def _only_returns(self, block: str, index: int) -> bool:
        """Whether nothing happens from there on but that locals die and the function returns."""
        for _ in self.blocks:
            *before, last = self.blocks[block][index:]
            if not all(isinstance(i, LoadFrom | Phi) or is_call_of(i, LIFETIME_END) for i in before):
                return False
            if not isinstance(last, Branch) or last.condition is not None:
                return isinstance(last, Return)
            block, index = last.targets[0], 0
        return False

    def _kinds_of_loads(self) -> tuple[Names, Names]:
        """Results of loads of which only some bits are kept, to be combined with others; those only stored again."""
        instructions = [i for block in self.function.blocks for i in block.instructions]
        users: dict[str, list[Instruction]] = {}
        for instruction in instructions:
            incoming = (value for value, _ in instruction.incoming) if isinstance(instruction, Phi) else ()
            for operand in (*operands_of(instruction), *incoming):
                for name in _locals(operand):
                    users.setdefault(name, []).append(instruction)

        def only(name: str, op: str) -> list[str]:
            found = users.get(name, [])
            fits = found and all(isinstance(i, Compute) and i.op == op for i in found)
            return [result_of(i) for i in found] if fits else []

        loads = [i.result for i in instructions if isinstance(i, LoadFrom)]
        masked = (n for n in loads if (kept := only(n, "and")) and all(only(k, "or") for k in kept))
        copied = (n for n in loads if all(_only_stores(i, n) for i in users.get(n, [])))
        return frozenset(masked), frozenset(copied)

    def _used_otherwise(self, instruction: Instruction) -> set[str]:
        """Locals of which the instruction uses the address, or only a part, or in a volatile way."""
        match instruction:
            case LoadFrom(_, type, Local(name), _, volatile, _) if not volatile:
                return set() if self._is_whole(name, type) else {name}
            case StoreTo(type, value, Local(name), _, volatile, _) if not volatile:
                taken = {value.name} if isinstance(value, Local) else set()
                return taken if self._is_whole(name, type) else {*taken, name}
            case Call(callee=Global(called)) if called.startswith("llvm.lifetime"):
                return set()
            case Phi(incoming=incoming):
                return {value.name for value, _ in incoming if isinstance(value, Local)}
            case _:
                return locals_of(instruction)

    def _is_whole(self, name: str, type: Type) -> bool:
        alloca = self.allocas.get(name)
        if alloca is None or not isinstance(type, IntType | PointerType):
            return False
        return bits_of(alloca.type) == bits_of(type) or (type == BOOL and alloca.type == IntType(8))

    def _solve(self) -> dict[str, Names]:
        live: dict[str, Names] = {name: frozenset() for name in self.blocks}
        waiting = list(self.blocks)
        while waiting:
            name = waiting.pop()
            found = self._through(name, 0, self._live_out(name, live))
            if found != live[name]:
                live[name] = found
                waiting.extend(self.predecessors[name])
        return live

    def _live_out(self, name: str, live: dict[str, Names]) -> Names:
        out: set[str] = set()
        for target in successors(self.blocks[name][-1]):
            out |= live[target]
            for instruction in self.blocks[target]:
                if not isinstance(instruction, Phi):
                    break
                for value, origin in instruction.incoming:
                    if origin == name:
                        out |= _locals(value)
        return frozenset(out)

    def _backwards(self, block: str, index: int) -> Names:
        return self._through(block, index, self._live_out(block, self._live_in))

    def _through(self, block: str, index: int, after: Names) -> Names:
        live = set(after)
        for instruction in reversed(self.blocks[block][index:]):
            self._before(instruction, live)
        return frozenset(live.difference(self.allocas))

    def _before(self, instruction: Instruction, live: set[str]) -> None:
        live.discard(result_of(instruction))
        match instruction:
            case Phi():
                return
            case LoadFrom(pointer=Local(name)) if name in self.simple:
                live.add(CONTENT + name)
                return
            case StoreTo(value=value, pointer=Local(name)) if name in self.simple:
                live.discard(CONTENT + name)
                live |= _locals(value)
                return
            case Call(callee=Global(called), arguments=arguments) if called.startswith("llvm.lifetime"):
                for _, operand in arguments:
                    if isinstance(operand, Local):
                        live.discard(CONTENT + operand.name)
                return
        for operand in operands_of(instruction):
            live |= _locals(operand)


def is_call_of(instruction: Instruction, name: str) -> bool:
    """Whether it calls a function whose name begins so."""
    is_named = isinstance(instruction, Call) and isinstance(instruction.callee, Global)
    return is_named and instruction.callee.name.startswith(name)  # type: ignore[union-attr]


def locals_of(instruction: Instruction) -> set[str]:
    """The names that are operands themselves."""
    return {operand.name for operand in operands_of(instruction) if isinstance(operand, Local)}


def _only_stores(instruction: Instruction, name: str) -> bool:
    return isinstance(instruction, StoreTo) and instruction.value == Local(name) and instruction.pointer != Local(name)


def _locals(operand: Operand) -> set[str]:
    match operand:
        case Local(name):
            return {name}
        case AddressOf(_, base, indices):
            return set().union(_locals(base), *(_locals(i) for i in indices))
        case _:
            return set()
