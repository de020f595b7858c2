"""One way through a thread, from a location to the next: instructions run while what they do is known.

The way ends where it accesses shared memory, meets other ways, or the thread ends. Where it depends on something that
is not known, it forks: each fork is a way of its own, with a guard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

from memfence.codes import Code
from memfence.frontends.c.llvm.instructions import Call, GlobalVariable, Instruction, Phi
from memfence.frontends.c.llvm.link import Symbol
from memfence.frontends.c.llvm.metadata import DebugInfo, Place
from memfence.frontends.c.llvm.types import ArrayType, FloatType, IntType, StructType, Type, size_of
from memfence.frontends.c.llvm.values import AddressOf, Aggregate, Converted, Global, Local, Number, Operand, Real, Zero
from memfence.frontends.c.llvm.values import Undefined as NoValue
from memfence.frontends.c.machine.arithmetic import negation
from memfence.frontends.c.machine.constants import NotConstant, is_before_its_array
from memfence.frontends.c.machine.memory import UNIT, Home, Object
from memfence.frontends.c.machine.packing import WIDEST, plain, replaced
from memfence.frontends.c.machine.private import Unsettled
from memfence.frontends.c.machine.process import SCRATCH, Location, Process
from memfence.frontends.c.machine.refine import refined
from memfence.frontends.c.machine.refusal import Refused
from memfence.frontends.c.machine.residual import Check, Guard, Op
from memfence.frontends.c.machine.state import Frame, State
from memfence.frontends.c.machine.undefined import OUTSIDE, Undefined
from memfence.frontends.c.machine.value_sets import UNWRITTEN
from memfence.frontends.c.machine.values import UNDEFINED, ZERO, Integer, Known, Packed, Parts, Scalar, Unknown, Value
from memfence.frontends.c.machine.world import Restart, World
from memfence.program.expressions import FALSE, Binary, Const, Expr

MOST_INSTRUCTIONS = 200_000
"""Instructions of one way before it is given up."""
LONG = 3_000
"""Instructions of one way without a choice before it meets others all the same."""

Execute = Callable[["Path", Instruction], None]


class Path:
    """`ops` are the guards and checks met so far; `ended`: this way is complete."""

    def __init__(self, process: Process, location: Location, state: State, execute: Execute) -> None:
        self.process = process
        self.world: World = process.world
        self.location = location
        self.state = state
        self.ops: list[Op] = []
        self.ended = False
        self.place: Place | None = location.place
        self.execute = execute
        self.forks: list[Path] = []
        self.scratches = 0
        self.length = 0

    def run(self) -> None:
        """Follow this way and all its forks to their ends."""
        waiting = [self]
        while waiting:
            path = waiting.pop()
            path.forks = waiting
            state, debug, execute = path.state, self.world.linked.debug, self.execute
            for _ in range(MOST_INSTRUCTIONS):
                if path.ended:
                    break
                frame = state.frames[-1]
                instruction = frame.facts.blocks[frame.block][frame.index]
                frame.index += 1
                path.length += 1
                others = len(waiting)
                path.place = debug[frame.symbol.module].place(instruction.place) or path.place
                try:
                    execute(path, instruction)
                except Unsettled as error:
                    del waiting[others:]  # all of it is done again
                    path._settle(error.value)
                except Undefined as error:
                    path.fail(str(error))
            else:
                path._give_up()

    def _settle(self, value: Unknown) -> None:
        """Do the instruction again, once where somebody has written what was copied, and once where nobody has."""
        unwritten = Binary("==", value.expr, Const(UNWRITTEN))
        written = Unknown(value.expr, value.values.without(UNWRITTEN))
        for guard, content in ((negation(unwritten), written), (unwritten, UNDEFINED)):
            copy = self.fork(guard)
            if copy is not None:
                copy.state.top.index -= 1
                copy._replace(value.expr, content)
        self.ended = True

    def fork_with(self, value: Unknown, number: int) -> Path | None:
        """The fork in which the value is this number, wherever it is kept."""
        copy = self.fork(Binary("==", value.expr, Const(number)))
        if copy is not None:
            copy._replace(value.expr, Known(number))
        return copy

    def _replace(self, expr: Expr, by: Scalar) -> None:
        for frame in self.state.frames:
            frame.env = {name: replaced(value, expr, by) for name, value in frame.env.items()}
        cells = self.state.cells
        self.state.cells = {at: (size, replaced(value, expr, by)) for at, (size, value) in cells.items()}

    def _give_up(self) -> None:
        """What runs that long before the first thread starts may be an endless loop: let its ways meet."""
        if not self.world.meets_early:
            self.world.meets_early = True
            raise Restart("a loop before the first thread does not end")
        raise Refused(Code.TOO_LARGE, "the program computes too long before its first thread starts", self.place)

    def debug_of(self, frame: Frame) -> DebugInfo:
        return self.world.linked.debug[frame.symbol.module]

    # Forks and ends.

    def fork(self, guard: Expr | None = None) -> Path | None:
        """A copy of this way that goes on by itself where `guard` is true; None where it never is."""
        copy = Path(self.process, self.location, self.state.copy(), self.execute)
        copy.ops = list(self.ops)
        copy.place = self.place
        copy.scratches = self.scratches
        copy.forks = self.forks
        if guard is not None and not copy.assume(guard):
            return None
        self.forks.append(copy)
        return copy

    def assume(self, guard: Expr) -> bool:
        """Go on only where the guard is true; False where it never is."""
        self.ops.append(Guard(guard))
        return refined(self.state, guard)

    def emit(self, ops: Sequence[Op] = (), *, locked: bool = False, remark: str = "", is_update: bool = False) -> None:
        """End this way with a step that does `ops`, into the location of the state reached."""
        target, moves = self.process.arrive(self.state, self.place)
        self._step(target, ops, moves, locked, remark, is_update)

    def _step(
        self,
        target: int,
        ops: Sequence[Op],
        moves: list[tuple[int, Scalar]],
        locked: bool,
        remark: str = "",
        is_update: bool = False,
    ) -> None:
        place, stack, function = self.shown_place, self.stack, self._shown_function()
        self.process.step(
            self.location.number, target, [*self.ops, *ops], moves, locked, place, function, stack, remark, is_update
        )
        self.ended = True

    def _shown_function(self) -> str:
        """The user's function that is running, where there is one: what a library does is done by it."""
        frames = self.state.frames
        if not frames:
            return ""
        places = [*(self.debug_of(f).place(g.call.place) if g.call else None for f, g in pairwise(frames)), self.place]
        own = [frame for frame, place in zip(frames, places, strict=True) if place is not None and not is_system(place)]
        return self.world.linked.title((own or frames)[-1].symbol)

    @property
    def stack(self) -> tuple[Place, ...]:
        """The places of the open calls, outermost first."""
        calls = (self.debug_of(f).place(g.call.place) for f, g in pairwise(self.state.frames) if g.call)
        return tuple(place for place in calls if place is not None)

    @property
    def shown_place(self) -> Place | None:
        """The present place; inside the library, the user's line that led there."""
        if self.place is None or not is_system(self.place):
            return self.place
        return next((place for place in reversed(self.stack) if not is_system(place)), self.place)

    def stop(self, kind: str, ops: Sequence[Op] = (), *, locked: bool = False) -> None:
        """End the thread here: `kind` is "end", "exit", "quit", "blocked", "error" or "bound"."""
        self._step(self.process.special(kind, self.place), ops, [], locked)

    def fail(self, text: str) -> None:
        """The program is wrong here."""
        self.stop("error", [Check(FALSE, text)])

    def check(self, condition: Expr, text: str) -> None:
        """The program is wrong here where the condition is false."""
        failing = self.fork(negation(condition))
        if failing is not None:
            failing.fail(text)
            self.forks.remove(failing)
        if not self.assume(condition):
            self.ended = True

    def scratch(self) -> int:
        """A register that lasts for one step."""
        self.scratches += 1
        return SCRATCH + self.scratches - 1

    def refuse(self, code: Code, message: str, hint: str | None = None, label: str = "") -> Refused:
        shown = self.shown_place
        return Refused(code, message, shown, hint, label, None if shown == self.place else self.place)

    # Values.

    def scalar(self, type: Type, operand: Operand) -> Scalar:
        """The operand as one number, at most 64 bits wide unless it is known."""
        found = self.integer(type, operand)
        if isinstance(found, Packed):
            if self.bits_of(type) > WIDEST:
                raise self.refuse(Code.UNSUPPORTED, LONG_INTEGER, LONG_HINT)
            return plain(found)
        return found

    def integer(self, type: Type, operand: Operand) -> Integer:
        """The operand as an integer, of any width and in any number of pieces."""
        found = self.value(type, operand)
        if isinstance(found, Parts):
            raise self.refuse(Code.UNSUPPORTED, "a whole struct is used as a number")
        return found

    def value(self, type: Type, operand: Operand) -> Value:
        frame = self.state.top
        if operand.__class__ is Number and type.__class__ is not FloatType:
            return _number(operand.value)
        match operand:
            case Local(name):
                if name in frame.facts.allocas:
                    return Known(self.local_object(name))
                return frame.env.get(name, ZERO)
            case Real():
                raise self.refuse(Code.UNSUPPORTED, "floating-point numbers are not supported", FLOAT_HINT)
            case Global() | AddressOf() | Converted() if (copy := self._own_copy(operand)) is not None:
                return Known(copy)
            case Global(name):
                return Known(self.address_of(name))
            case Zero() | NoValue() if isinstance(type, StructType | ArrayType):
                return self._whole(type, ZERO if isinstance(operand, Zero) else UNDEFINED)
            case NoValue() if not isinstance(type, FloatType):
                return UNDEFINED
            case Aggregate(elements):
                return Parts(tuple(self.value(t, e) for t, e in elements))
        if isinstance(type, FloatType):
            raise self.refuse(Code.UNSUPPORTED, "floating-point numbers are not supported", FLOAT_HINT)
        if is_before_its_array(operand) and not self.world.options.as_compiled:
            raise Undefined(OUTSIDE)
        try:
            return Known(self.world.constants.number(frame.symbol.module, operand))
        except NotConstant as error:
            raise self.refuse(Code.UNSUPPORTED, f"memfence does not follow {error}") from None

    def _whole(self, type: Type, item: Known) -> Value:
        """A value of the type that has `item` everywhere."""
        if isinstance(type, StructType):
            return Parts(tuple(self._whole(f, item) for f in type.fields))
        if isinstance(type, ArrayType):
            return Parts(tuple(self._whole(type.element, item) for _ in range(type.count)))
        return item

    def _own_copy(self, operand: Operand) -> int | None:
        """The address in the copy of the thread that runs, if the constant is one of a thread-local variable."""
        base, module = operand, self.state.top.symbol.module
        while isinstance(base, AddressOf | Converted):
            base = base.base if isinstance(base, AddressOf) else base.operand
        if self.process.number == 0 or not isinstance(base, Global):
            return None
        symbol = self.world.linked.find(module, base.name)
        if symbol is None or not isinstance(symbol.definition, GlobalVariable) or not symbol.definition.thread_local:
            return None
        first = self.world.constants.place(symbol)
        copy = self._copy_of(first, symbol.definition)
        return copy.start + self.world.constants.number(module, operand) - first.start

    def _copy_of(self, first: Object, variable: GlobalVariable) -> Object:
        """The thread's own copy of what the main thread has as `first`."""
        number, space = self.process.number, self.world.space
        name, alignment = f"{self.process.thread.name}:{first.name}", max(variable.alignment, UNIT)
        key = ("thread-local", number, first.start)
        copy = space.place(key, first.size, name, "thread-local", first.debug, first.type, number, alignment=alignment)
        if first.start in space.images:
            space.images.setdefault(copy.start, bytearray(space.images[first.start]))
        return copy

    def address_of(self, name: str) -> int:
        try:
            return self.world.constants.address_of(self.state.top.symbol.module, name)
        except NotConstant as error:
            raise self.refuse(Code.UNKNOWN_VARIABLE, str(error)) from None

    def local_object(self, name: str, depth: int | None = None) -> int:
        """The address of a local variable of the innermost call."""
        depth = len(self.state.frames) - 1 if depth is None else depth
        frame = self.state.frames[depth]
        alloca = frame.facts.allocas[name]
        key = ("stack", self.process.number, depth, frame.symbol.module, frame.symbol.name, name)
        found = self.world.space.find(key)
        if found is not None:
            return found.start
        count = self.scalar(IntType(64), alloca.count)
        if not isinstance(count, Known):
            raise self.refuse(Code.UNSUPPORTED, "an array on the stack whose length is not known", VLA_HINT)
        debug = self.debug_of(frame)
        variable = debug.variable(frame.facts.function.declared.get(name, -1))
        title = f"{self.world.linked.title(frame.symbol)}.{variable.name if variable else name}"
        if self.process.number:
            title = f"{self.process.thread.name}:{title}"
        size = size_of(alloca.type) * count.value
        type = variable.type if variable else 0
        alignment = max(alloca.alignment, UNIT)
        in_block = variable is not None and variable.in_block
        home = Home(depth, frame.symbol.module, frame.symbol.name, name, in_block)
        owner = self.process.number
        return self.world.space.place(key, size, title, "stack", debug, type, owner, home, alignment=alignment).start

    def variable_name(self, name: str) -> str:
        """How the user calls a local of the innermost call."""
        frame = self.state.top
        variable = self.debug_of(frame).variable(frame.facts.function.declared.get(name, -1))
        return f"{self.world.linked.title(frame.symbol)}.{variable.name if variable else name}"

    def bits_of(self, type: Type) -> int:
        if isinstance(type, FloatType):
            raise self.refuse(Code.UNSUPPORTED, "floating-point numbers are not supported", FLOAT_HINT)
        return type.bits if isinstance(type, IntType) else 64

    # Control.

    def set(self, name: str, value: Value) -> None:
        if name:
            self.state.top.env[name] = value

    def enter(self, block: str, *, meet: bool = True) -> None:
        """Go to a block of the same function; ways `meet` at its start if several lead there."""
        frame = self.state.top
        origin = frame.block
        found: list[tuple[str, Value]] = []
        index = 0
        for instruction in frame.facts.blocks[block]:
            if not isinstance(instruction, Phi):
                break
            index += 1
            for operand, source in instruction.incoming:
                if source == origin:
                    found.append((instruction.result, self.value(instruction.type, operand)))
        frame.env.update(found)
        frame.block, frame.index = block, index
        if meet and frame.facts.is_merge(block) and self._meets():
            self.emit()

    def _meets(self) -> bool:
        """Whether other ways may come here: not while this one has had no choice since its location, unless that was
        long ago (an endless loop meets itself)."""
        if not self.ops and self.length < LONG:
            return False
        return self.state.started or bool(self.ops or self.location.slots) or self.world.meets_early

    def call(self, symbol: Symbol, arguments: Sequence[Value], call: Call | None, atomic: bool = False) -> None:
        """Open a call of a defined function."""
        same = sum(f.symbol.name == symbol.name and f.symbol.module == symbol.module for f in self.state.frames)
        most = self.world.options.recursion_bound if self.state.started else 500
        if same >= most:
            self.world.note(
                f"at most {most} open calls of `{self.world.linked.title(symbol)}` (--recursion-bound)", is_cut=True
            )
            self.stop("bound")
            return
        facts = self.world.facts(symbol)
        names = [name for _, name in facts.function.parameters]
        env = dict(zip(names, arguments, strict=False))
        self.state.frames.append(Frame(symbol, facts, facts.entry, 0, env, call, atomic))


@lru_cache(4096)
def _number(value: int) -> Known:
    return Known(value)


def is_system(place: Place) -> bool:
    """Whether the place is in a header of the compiler or the system."""
    return any(part in place.path for part in SYSTEM)


SYSTEM = ("/ziglang/lib/", "/usr/include/", "/usr/lib/", "/usr/local/include/", "/include/c++/")
FLOAT_HINT = "memfence follows integers and pointers: keep floating point out of the code under test, or use integers"
LONG_INTEGER = "an integer of more than 64 bits that is not known before the program runs is computed with"
LONG_HINT = "such integers may be copied, compared for equality and taken apart by constants"
VLA_HINT = "give the array a constant length"
