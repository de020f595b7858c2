"""Options that make no sense, alone or together: refused before anything is searched, never quietly ignored."""

from __future__ import annotations


class WrongUsage(ValueError):
    """What is wrong with an option. `option`: its name in Python; `typed`: how it is typed, if that is known."""

    def __init__(self, option: str, problem: str, *, typed: str | None = None) -> None:
        super().__init__(f"{option}: {problem}")
        self.option = option
        self.problem = problem
        self.typed = typed
