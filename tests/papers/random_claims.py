"""Small random models with labels that mean something, and random `never` claims: for the comparison with Spin."""

from __future__ import annotations

from random import Random

CONDITIONS = ("x == 0", "x == 1", "y == 0", "y > 0", "x != y", "P@accept_here", "np_", "true", "Q@there")


def random_processes(seed: int) -> str:
    """Two processes over two bits; labels begin with `accept`, `progress` and `end`, or do not.

    A third process goes on for ever: where nothing can happen any more, `pan -f` overlooks runs that are fair.
    """
    random = Random(f"claims {seed}")
    kinds = ("accept_here", "progress_1", "end_1", "other")

    def simple() -> str:
        return random.choice(["x = 1 - x", "y = x", "x == 1", "y == 0", "x = 0", "y = 1 - y", "x == y", "x = y"])

    def option() -> str:
        steps = [simple() for _ in range(random.randint(1, 2))]
        if random.random() < 0.5:
            steps.insert(random.randint(1, len(steps)), f"{random.choice(kinds)}: {random.choice([simple(), 'skip'])}")
        if random.random() < 0.2:
            steps.append("break")
        return " :: " + "; ".join(steps)

    def body(name: str) -> str:
        options = "".join(option() for _ in range(random.randint(1, 3)))
        label = f"{random.choice(kinds)}_0: " if random.random() < 0.3 else ""
        last = random.choice(["", "; x = 1", "; progress_2: y == 1", "; accept_2: goto again", "; end_2: goto again"])
        return f"again: {simple()}; {label}do{options} od{last}; {'there' if name == 'Q' else 'here'}: skip"

    lines = (f"active proctype {name}() {{ {_unique(body(name))} }}" for name in "PQ")
    return "\n".join(["bit x, y;", *lines, "active proctype Z() { bit z; do :: z = 1 - z od }", ""])


def _unique(text: str) -> str:
    """The text with labels that are used twice told apart; the first keeps its name."""
    words, seen = text.split(" "), dict[str, int]()
    for at, word in enumerate(words):
        if word.endswith(":") and word != "::":
            seen[word] = seen.get(word, 0) + 1
            if seen[word] > 1:
                words[at] = f"{word[:-1]}_{seen[word]}:"
    return " ".join(words)


def random_claim(seed: int, processes: str) -> str:
    """A claim of up to four places."""
    random = Random(f"claim {seed}")
    first = processes.splitlines()[1]
    known = [c for c in CONDITIONS if c != "P@accept_here" or "accept_here:" in first.split()]
    places = ["S0", "S1", "accept_S2", "accept_S3"][: random.randint(2, 4)]

    def option() -> str:
        condition = random.choice(known)
        match random.randrange(10):
            case 0:
                return f":: atomic {{ ({condition}) -> assert({random.choice(known)}) }}"
            case 1:
                return ":: break"
            case 2:
                return f":: {condition}; {random.choice(known)}"
            case 3:
                return f":: if :: {condition} :: {random.choice(known)} -> goto {random.choice(places)} fi"
            case _:
                return f":: ({condition}) -> goto {random.choice(places)}"

    def place(name: str) -> str:
        options = [option() for _ in range(random.randint(1, 3))]
        if random.random() < 0.3 and not any("if ::" in one for one in options):
            options.append(f":: else -> goto {random.choice(places)}")
        return f"{name}: do {' '.join(options)} od;"

    last = "0" if random.random() < 0.7 else "skip"  # mostly it does not come to its end
    return f"never {{ {' '.join(map(place, places))} {last} }}\n"
