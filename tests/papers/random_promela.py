"""Random Promela models: two processes over three globals, with every kind of control flow nested in every other.

`random_model` is for counting states: a statement is a step, and an `atomic` has no loop. `random_program` has what
takes several of Spin's states and one of ours: an `init` that decides what to start, loops in `atomic` and `d_step`.
"""

from __future__ import annotations

from random import Random


def random_model(seed: int) -> str:
    """The text of a model; always the same one for the same seed."""
    return _Writer(Random(seed)).model()


def random_timeouts(seed: int) -> str:
    """A model in which some options and statements wait for `timeout`."""
    return _WaitingWriter(Random(seed)).model()


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.labels = 0

    def model(self) -> str:
        processes = []
        for name in ("P", "Q"):
            self.labels = 0
            processes.append(f"active proctype {name}() {{ byte l, m; {self.sequence(0, False)} }}")
        return "byte x, y, a[2];\n" + "\n".join(processes) + "\n"

    def sequence(self, depth: int, in_loop: bool) -> str:
        length = self.random.randint(1, 3 if depth else 5)
        return "; ".join(self.statement(depth, in_loop) for _ in range(length))

    def expression(self, depth: int = 0) -> str:
        if depth > 1 or self.random.random() < 0.5:
            return self.random.choice(["x", "y", "a[0]", "a[l % 2]", "l", "1", "2", "_pid", "0"])
        op = self.random.choice(["+", "-", "*", "==", "!=", "<", ">", "&&", "||"])
        return f"({self.expression(depth + 1)} {op} {self.expression(depth + 1)})"

    def condition(self) -> str:
        return f"{self.expression(1)} {self.random.choice(['==', '!=', '<', '>='])} {self.random.choice('012')}"

    def statement(self, depth: int, in_loop: bool) -> str:
        kind = self.random.random()
        if kind < 0.36:
            target = self.random.choice(["x", "y", "a[l % 2]", "a[1]", "l", "m"])
            return f"{target} = {self.expression()} % 3"
        if kind < 0.4:
            return self.random.choice(["l++; l = l % 3", "l = 1 - l", "skip", 'printf("a")'])
        if kind < 0.48:
            return f"({self.condition()})"
        if kind < 0.54 and in_loop:
            return "break"
        if kind < 0.6 and depth == 0:
            self.labels += 1
            return f"L{self.labels}: l = {self.expression()} % 2"
        if kind < 0.64 and self.labels:
            return f"goto L{self.random.randint(1, self.labels)}"
        if kind < 0.68 or depth >= 3:
            return f"atomic {{ x = {self.expression()} % 3; y = x }}"
        if kind < 0.72:
            return f"{{ byte t{depth}; t{depth} = x; {self.sequence(depth + 1, in_loop)} }}"
        if kind < 0.75:
            return f"for (m : 0 .. 1) {{ {self.sequence(depth + 1, True)} }}"
        return self.choice(depth, in_loop, loops=kind > 0.87)

    def choice(self, depth: int, in_loop: bool, *, loops: bool) -> str:
        inside = in_loop or loops
        options = []
        for _ in range(self.random.randint(1, 3)):
            first = self.condition() if self.random.random() < 0.75 else self.statement(depth + 1, in_loop)
            if "else" in first or ":" in first.split("=")[0]:  # an inner `else` beside others is refused; no labels
                first = self.condition()
            options.append(f":: {first} {self.random.choice(['->', ';'])} {self.sequence(depth + 1, inside)}")
        if self.random.random() < 0.5:
            options.append(f":: else -> {self.sequence(depth + 1, inside)}")
        return f"do {' '.join(options)} od" if loops else f"if {' '.join(options)} fi"


class _WaitingWriter(_Writer):
    def expression(self, depth: int = 0) -> str:
        return super().expression(depth).replace("_pid", "y")  # numbers differ: Spin's run has one more process

    def condition(self) -> str:
        kind = self.random.random()
        plain = super().condition()
        return "timeout" if kind < 0.25 else f"timeout && {plain}" if kind < 0.35 else plain


def random_program(seed: int) -> str:
    """The text of a program with `init`; inside `atomic` and `d_step` nothing blocks but the first statement."""
    return _ProgramWriter(Random(seed)).program()


class _ProgramWriter(_Writer):
    def program(self) -> str:
        body = "; ".join(self.part() for _ in range(self.random.randint(1, 3)))
        alone = self.random.random() < 0.6
        other = "" if alone else f"active proctype Q() {{ byte l, m; {self.part()} }}\n"
        return f"byte x, y, a[2];\n{other}proctype P(byte l) {{ byte m; {body} }}\n{self.init(alone)}"

    def expression(self, depth: int = 0) -> str:
        return super().expression(depth).replace("_pid", "y")  # numbers differ: Spin's run has one more process

    def init(self, alone: bool) -> str:
        """`alone`: no other process sees what it does first. Spin refuses a `break` that leads to a `d_step`."""
        count = self.random.randint(0, 2)
        chosen = f"if :: i == {count} -> {self.random.choice(['break', '{ skip; break }'])} :: else -> skip fi"
        start = self.random.choice(["run P(i)", "{ byte k = i + 1; run P(k) }", "{ byte t = 2; run P(t + i) }; byte s"])
        loop = self.random.choice(
            [
                f"for (i : 0 .. 3) {{ {chosen}; {start} }}",
                f"do :: i < 4 -> {chosen}; {start}; i++ :: else -> break od",
                f"do :: i == {count} -> break :: i != {count} -> {start}; i++ od",
            ]
        )
        parts = [self.random.choice([loop, f"atomic {{ {loop} }}"])]
        if alone and self.random.random() < 0.5:
            parts.insert(0, self.random.choice(["x = 2", "{ byte t = 1; a[t] = t }", "y = i + 1"]))
        if self.random.random() < 0.6:
            parts.append(self.random.choice(["byte t = x; y = t", "x = i", "a[0] = 2", f"skip; {self.part()}"]))
        return f"init {{ byte i, l = 1, m; {'; '.join(parts)} }}\n"

    def part(self) -> str:
        kind = self.random.random()
        if kind < 0.3:
            return f"d_step {{ {self.first()}{self.straight()} }}"
        if kind < 0.6:
            return f"atomic {{ {self.first()}{self.straight()} }}"
        if kind < 0.7:
            return f"assert({self.condition()} || {self.condition()})"
        if kind < 0.8:
            inside = self.random.choice(["d_step", "atomic"])
            return f"if :: {inside} {{ {self.condition()} -> {self.straight()} }} :: {self.assignment()} fi"
        return self.assignment()

    def first(self) -> str:
        return f"{self.condition()} -> " if self.random.random() < 0.5 else ""

    def assignment(self) -> str:
        target = self.random.choice(["x", "y", "a[l % 2]", "a[1]", "l"])
        return f"{target} = {self.expression()} % 3"

    def straight(self) -> str:
        """Statements that neither block nor run for ever."""
        return "; ".join(self.straight_statement() for _ in range(self.random.randint(1, 2)))

    def straight_statement(self) -> str:
        kind = self.random.random()
        if kind < 0.3:
            return self.assignment()
        if kind < 0.4:
            return f"select (l : {self.random.randint(0, 1)} .. 2)"
        options = [self.straight_option() for _ in range(self.random.randint(1, 3))]
        if kind < 0.7:
            return f"if {' '.join(options)} :: else -> {self.assignment()} fi"
        leave = f"if :: {self.condition()} -> break :: else fi"
        more = f"{self.assignment()}; {leave}" if self.random.random() < 0.5 else self.assignment()
        early = f":: {self.condition()} -> {self.assignment()}; break " if self.random.random() < 0.5 else ""
        return f"m = 0; do :: m < 2 -> m++; {more} {early}:: else -> break od; skip"

    def straight_option(self) -> str:
        first = self.condition() if self.random.random() < 0.8 else self.assignment()
        return f":: {first} -> {self.assignment()}"
