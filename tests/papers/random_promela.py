"""Random Promela models: two processes over three globals, with every kind of control flow nested in every other."""

from __future__ import annotations

from random import Random


def random_model(seed: int) -> str:
    """The text of a model; always the same one for the same seed."""
    return _Writer(Random(seed)).model()


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
