"""A simulation: a walk under commands, with what was undone and where random steps stop."""

from __future__ import annotations

from random import Random
from typing import Literal, assert_never

from memfence.models.state import State
from memfence.models.steps import evaluate_in
from memfence.program.expressions import EvaluationError, Expr
from memfence.program.text.properties import parse_expression
from memfence.records import Record
from memfence.simulation.commands import Choose, Command
from memfence.simulation.nearest import walk_to
from memfence.simulation.walk import NotPossible, Walk

FEW_STEPS = 10
Show = Literal["state", "table", "why", "help", "save", "html", "note", "quit"]


class Reply(Record):
    """What to show after a command: the new state, or what was asked for; `path` is where a file goes."""

    show: Show
    note: str = ""
    path: str = ""


class Simulation:
    """Carries out commands on a walk. NotPossible for what cannot be done now: then nothing has changed."""

    def __init__(self, walk: Walk, seed: int = 0) -> None:
        self.walk = walk
        self.breakpoints: list[tuple[str, Expr]] = []
        self._random = Random(seed)
        self._earlier: list[Walk] = []
        self._furthest = walk

    def do(self, command: Choose | Command) -> Reply:
        """Carry out `command`. InputError for an expression that is none."""
        if isinstance(command, Choose):
            return self._choose(command.numbers)
        match command.word:
            case "undo":
                return self._undo(command.number or 1)
            case "jump":
                return self._jump(command.number or 0)
            case "random":
                return self._go_random(FEW_STEPS if command.number is None else command.number)
            case "break":
                self.breakpoints.append((command.text, self._expression(command.text)))
                return Reply("note", f"random steps stop where {command.text} holds")
            case "until":
                return self._until(command.text)
            case "save" | "html":
                return Reply(command.word, path=command.text)
            case "table" | "state" | "why" | "help" | "quit":
                return Reply(command.word)
            case _:
                assert_never(command.word)

    def _expression(self, text: str) -> Expr:
        return parse_expression(text, self.walk.program, "expression")

    def _move(self, walk: Walk) -> None:
        self._earlier.append(self.walk)
        self.walk = walk
        if self._furthest.taken[: len(walk.taken)] != walk.taken:
            self._furthest = walk

    def _choose(self, numbers: tuple[int, ...]) -> Reply:
        walks = [self.walk]
        for number in numbers:
            walks.append(walks[-1].choose(number))
        for walk in walks[1:]:
            self._move(walk)
        return Reply("state")

    def _undo(self, count: int) -> Reply:
        if count > len(self._earlier):
            raise NotPossible(f"only {len(self._earlier)} choices were made")
        if count:
            self.walk = self._earlier[-count]
            del self._earlier[-count:]
        return Reply("state")

    def _jump(self, position: int) -> Reply:
        """Within the walk, or forward again into what was undone."""
        self._move(self._furthest.back_to(position))
        return Reply("state")

    def _go_random(self, steps: int) -> Reply:
        reached: list[str] = []

        def stops(state: State) -> bool:
            reached[:] = [text for text, expression in self.breakpoints if self._holds(expression, state)]
            return bool(reached)

        self._move(self.walk.at_random(self._random, steps, stops))
        return Reply("state", f"stopped: {reached[0]} holds" if reached else "")

    def _holds(self, expression: Expr, state: State) -> bool:
        try:
            return bool(evaluate_in(self.walk.program, state, 0, expression))
        except EvaluationError:
            return False  # an index out of range: nothing is true of what does not exist

    def _until(self, text: str) -> Reply:
        expression = self._expression(text)
        sought = walk_to(self.walk, lambda state: self._holds(expression, state))
        if sought.walk is None and sought.complete:
            raise NotPossible(f"no run from here leads to {text} ({sought.states} states, all of them)")
        if sought.walk is None:
            raise NotPossible(f"{text} does not hold in the nearest {sought.states} states; go nearer first")
        before = len(self.walk.taken)
        self._move(sought.walk)
        return Reply("state", f"{len(sought.walk.taken) - before} steps to {text}")
