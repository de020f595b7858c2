"""Options that make no sense, alone or together: refused before anything is searched, never quietly ignored."""

from __future__ import annotations


class WrongUsage(ValueError):
    """What is wrong with an option. `option` is its name in Python; the command line writes it as `--buffer-bound`."""

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"{option}: {problem}")
        self.option = option
        self.problem = problem
