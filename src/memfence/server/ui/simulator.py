"""Simulating by clicking: a card for each process, its next statements and its pending stores as buttons."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from memfence.server.ui.board import Board

Object = dict[str, Any]


class Simulator:
    """A walk of the board's program, drawn again after every choice."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.place = ui.column().classes("w-full").props('data-testid="simulator"')

    async def begin(self, choices: list[int]) -> None:
        """Draw the walk after these choices."""
        found = await self.board.walk(choices)
        self.place.clear()
        with self.place:
            problem = found.get("error") or found.get("usage") or found.get("limit")
            if problem:
                ui.label(str(problem)).classes("mf-mistake").mark("problem")
            else:
                self._draw(found)

    def _draw(self, found: Object) -> None:
        with ui.row().classes("items-center"):
            ui.label(f"step {found['steps']} under {self.board.model}").classes("font-bold").mark("step")
            ui.button("Undo", on_click=lambda: self.begin(self.board.choices[:-1])).props(
                'no-caps outline data-testid="step-undo"' + ("" if self.board.choices else " disable")
            )
            ui.button("Start again", on_click=lambda: self.begin([])).props("no-caps outline")
        ui.label(found["last"]).classes("mf-mono")
        ui.label(f"memory  {found['memory']}").classes("mf-mono").mark("memory")
        with ui.element("div").classes("mf-wide"):
            for number, process in enumerate(found["processes"]):
                self._draw_process(number, process, found["choices"])
        if found["end"]:
            ui.label(found["end"]).classes("font-bold").mark("end")
        for sentence in found["why"] if found["steps"] else ():
            ui.label(sentence.replace("`", "")).classes("text-sm").mark("why")

    def _draw_process(self, number: int, process: Object, choices: list[Object]) -> None:
        mine = [choice for choice in choices if choice["process"] == number]
        with ui.card().classes("gap-1").props(f'data-testid="process-{number}"'):
            ui.label(process["name"]).classes("font-bold")
            ui.label(process["text"]).classes("mf-mono")
            for choice in mine:
                colour = "deep-orange-9" if choice["commits"] else "primary"
                icon = "save_alt" if choice["commits"] else "play_arrow"
                chosen = [*self.board.choices, choice["number"]]
                ui.button(choice["text"], icon=icon, on_click=lambda _, c=chosen: self.begin(c)).props(
                    f"no-caps padding='4px 10px' color={colour}"
                ).classes("mf-mono").mark("commit" if choice["commits"] else "run")
            if not mine:
                ui.label("nothing to do now").classes("text-sm opacity-70")
