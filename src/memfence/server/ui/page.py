"""The page itself: an editor, what is asked, and the answers. Everything that computes is a child process."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from nicegui import app, ui

from memfence.api.examples import example_files, examples_folder
from memfence.frontends.catalogue import editor_mode
from memfence.models.catalogue import NAMES
from memfence.server.ui.board import Board, Hall, packed, unpacked
from memfence.server.ui.folder import Folder, Outside
from memfence.server.ui.simulator import Simulator
from memfence.server.ui.this_machine import OnlyThisMachine
from memfence.tasks.criterion import Criterion

Object = dict[str, Any]
PAUSE_SECONDS = 0.4
"""The text is read when nobody has typed for so long."""
FIRST = "store_buffering.litmus"
BLUE, GREEN = "#1f55b5", "#1e7b3e"
"""Those of the reports; white text on them can be read."""
STYLE = """
.mf-side { min-width: min(320px, 100%); flex: 1 1 420px; max-width: 100%; }
.mf-wide { display: flex; flex-wrap: wrap; gap: 16px; width: 100%; }
.mf-columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(180px, 1fr)); gap: 12px; width: 100%; }
.mf-columns .q-btn { white-space: pre-line; }
.mf-columns .q-btn__content { justify-content: flex-start; text-align: left; }
.mf-graph { overflow: auto; max-height: 640px; width: 100%; }
.mf-graph svg { width: 100%; height: auto; }
.mf-report { width: 100%; height: 720px; border: 1px solid #cbd5e1; border-radius: 6px; }
.mf-mono { font-family: ui-monospace, monospace; font-size: 13px; white-space: pre-wrap; }
.mf-mistake { color: #b91c1c; white-space: pre-wrap; }
.mf-editor { height: clamp(260px, 55vh, 520px); }
"""


class Page:
    """What one visitor sees. Every visit has a board of its own, so tabs do not disturb each other."""

    def __init__(self, hall: Hall, start: tuple[str, str]) -> None:
        self.board = Board(hall, *start)
        self._typed = 0
        self._draw()
        client = ui.context.client
        client.on_disconnect(self._left)
        client.on_delete(self._left)
        ui.timer(0.1, self._read, once=True)

    async def _left(self) -> None:
        await self.board.leave()

    def _draw(self) -> None:
        ui.add_css(STYLE)
        ui.colors(primary=BLUE, positive=GREEN)
        ui.page_title("memfence")
        with ui.header().classes("items-center"):
            ui.label("memfence").classes("text-lg font-bold")
            ui.label("does it still work with store buffers?").classes("text-sm opacity-80")
        with ui.element("div").classes("mf-wide"):
            with ui.column().classes("mf-side"):
                self._draw_program()
            with ui.column().classes("mf-side"):
                self._draw_questions()
                self.result = (
                    ui.column().classes("w-full").props('role="region" aria-label="Answer" aria-live="polite"')
                )

    def _draw_program(self) -> None:
        names = [str(path.relative_to(examples_folder())) for path in example_files()]
        options = {f"example {name}": f"example: {name}" for name in names}
        options |= {f"file {name}": name for name in self.board.hall.folder.files()}
        with ui.row().classes("w-full items-center"):
            self.chooser = ui.select(options, label="Open", with_input=True, on_change=self._open).classes("grow")
            ui.button("Copy link", on_click=self._link).props('outline no-caps data-testid="link"')
        self.name = ui.label(self.board.name).classes("mf-mono").mark("name")
        self.editor = ui.codemirror(self.board.text, theme="vscodeLight", line_wrapping=True, on_change=self._edited)
        self.editor.classes("w-full border mf-editor").props('aria-label="Program"')
        self._colour()
        ui.label("Esc, then Tab, leaves the editor.").classes("text-xs opacity-70")
        self.mistakes = ui.column().classes("w-full mf-mono gap-0")

    def _draw_questions(self) -> None:
        board = self.board
        with ui.row().classes("w-full items-end"):
            models = ui.toggle(list(NAMES), value=board.model).bind_value(board, "model")
            models.props('aria-label="Memory model" padding="4px 10px"').style("flex-wrap: wrap")
            criteria = {"": "what the program states", **{one.value: one.value for one in Criterion}}
            ui.select(criteria, label="Criterion", value="").bind_value(board, "criterion").classes("w-48")
            ui.number("Seconds", value=board.seconds, min=1, max=600).bind_value(board, "seconds").classes("w-24")
        ui.input("Forbid (optional): P0@cs && P1@cs").bind_value(board, "forbid").classes("w-full mf-mono")
        verbs: dict[str, Callable[[], Awaitable[None]]] = {
            "Check": self._check, "Fix": self._fix, "Compare": self._compare,
            "Outcomes": self._outcomes, "States": self._graph, "Simulate": self._simulate,
        }  # fmt: skip
        with ui.row().classes("w-full items-center"):
            for word, verb in verbs.items():
                ui.button(word, on_click=verb).props(f'no-caps padding="6px 12px" data-testid="{word.lower()}"')
            self.cancel = ui.button("Cancel", on_click=self._cancel)
            self.cancel.props('no-caps outline padding="6px 12px" color=negative data-testid="cancel"').disable()
        self.progress = ui.label("").classes("mf-mono").props('role="status"').mark("progress")

    def _colour(self) -> None:
        self.editor.language = editor_mode(self.board.name) or None

    def _show(self, name: str, text: str) -> None:
        self.board.open(name, text)
        self.name.text = name
        self.editor.value = text
        self._colour()
        self.result.clear()

    async def _open(self, event: Any) -> None:
        kind, _, name = (event.value or "").partition(" ")
        try:
            folder = Folder(examples_folder()) if kind == "example" else self.board.hall.folder
            if name:
                text = folder.read(name)
                self.board.folder = folder
                await self.board.leave()
                self._show(name, text)
                await self._read()
        except (Outside, OSError, ValueError) as problem:
            ui.notify(str(problem), type="negative")

    async def _edited(self, event: Any) -> None:
        self.board.text = event.value or ""
        self._typed += 1
        typed = self._typed
        await asyncio.sleep(PAUSE_SECONDS)
        if typed == self._typed:
            await self._read()

    async def _read(self) -> None:
        text = self.board.text
        found = await self.board.read()
        if text != self.board.text:
            return
        self.mistakes.clear()
        with self.mistakes:
            for one in found.get("diagnostics", [])[:20]:
                hint = f"\n  {one['hint']}" if one.get("hint") else ""
                ui.label(f"line {one['line']}: {one['message']}{hint}").classes("mf-mistake").mark("mistake")

    def _link(self) -> None:
        part = packed(self.board.name, self.board.text)
        ui.run_javascript(f"history.replaceState(null, '', location.pathname + '?p={part}')")
        ui.run_javascript("navigator.clipboard && navigator.clipboard.writeText(location.href)")
        ui.notify("The address of this page holds the program now.")

    def _cancel(self) -> None:
        if self.board.is_searching:
            self.board.cancel()
            self.progress.text = "cancelled"

    async def _asked(self, verb: str) -> Object | None:
        """The answer, with progress shown meanwhile; mistakes and limits are shown here."""
        self.result.clear()
        self.progress.text = f"{verb}: searching"

        def tell(now: Object) -> None:
            self.progress.text = f"{verb}: {now['states']:,} states, {now['seconds']} s, {now['megabytes']} MB"

        self.cancel.enable()
        found = await self.board.ask(verb, tell)
        self.cancel.set_enabled(self.board.is_searching)
        if found is None:
            self.progress.text = "cancelled"
            return None
        self.progress.text = ""
        problem = found.get("error") or found.get("usage") or ("" if "verdict" in found else found.get("limit"))
        if problem:
            with self.result:
                ui.label(str(problem)).classes("mf-mistake").mark("problem")
            return None
        return found

    async def _check(self) -> None:
        found = await self._asked("check")
        if found is not None:
            with self.result:
                ui.label(found["line"]).classes("font-bold").mark("verdict")
                self._report(found["page"])

    async def _fix(self) -> None:
        text = self.board.text
        found = await self._asked("fix")
        if found is None:
            return
        with self.result:
            ui.label(found.get("line", found["verdict"])).classes("font-bold").mark("verdict")
            if found.get("patched") and found["verdict"] == "fixed":
                with ui.row():
                    ui.button("Apply the fix", on_click=lambda: self._exchange(text, found["patched"])).props(
                        'no-caps color=positive data-testid="apply"'
                    )
                    ui.button("Undo", on_click=lambda: self._exchange(found["patched"], text)).props(
                        'no-caps outline data-testid="undo"'
                    )
            if found.get("page"):
                self._report(found["page"])

    def _exchange(self, old: str, new: str) -> None:
        """Put the fixed text in the place of the one before, or back; never over what was typed since."""
        if self.board.text == old:
            self.editor.value = self.board.text = new
        elif self.board.text != new:
            ui.notify("The program has changed since: fix it again.", type="warning")

    async def _compare(self) -> None:
        found = await self._asked("compare")
        if found is not None:
            with self.result:
                self._report(found["page"])

    async def _outcomes(self) -> None:
        found = await self._asked("outcomes")
        if found is None:
            return
        known = {end["text"] for end in found["columns"][0]["ends"]}
        with self.result, ui.element("div").classes("mf-columns"):
            for column in found["columns"]:
                with ui.column().classes("gap-1").props(f'data-testid="outcomes-{column["model"]}"'):
                    more = "" if column["complete"] else f" (of the first {column['states']:,} states)"
                    ui.label(f"{column['model'].upper()}{more}").classes("font-bold")
                    for end in column["ends"]:
                        colour = "grey-8" if end["text"] in known else "deep-orange-9"
                        text = end["text"].replace("; ", "\n")
                        ui.button(
                            text, on_click=lambda _, c=column, e=end: self._simulate(c["model"], e["choices"])
                        ).props(f"flat dense no-caps color={colour}").classes("mf-mono")

    async def _graph(self) -> None:
        found = await self._asked("graph")
        if found is None:
            return
        with self.result:
            with ui.row().classes("w-full items-center"):
                ui.button("Save the picture", on_click=lambda: ui.download.content(found["svg"], "states.svg")).props(
                    'outline no-caps data-testid="save"'
                )
                ui.label("Point at a state to see what it holds, at a line to see the step.").classes("text-sm")
            with ui.element("div").classes("mf-graph").props('tabindex="0" aria-label="States"'):
                # fits the width, as long as the numbers can be read
                ui.html(found["svg"], sanitize=False).mark("graph").style(
                    f"width: clamp({found['width'] * 2 // 3}px, 100%, {found['width']}px)"
                )

    async def _simulate(self, model: str | None = None, choices: list[int] | None = None) -> None:
        self.board.cancel()
        self.result.clear()
        if isinstance(model, str):
            self.board.model = model
        self.board.every_step = choices is not None
        with self.result:
            await Simulator(self.board).begin(choices or [])

    def _report(self, html: str) -> None:
        """The report as it is written to files: it may run its own script, and nothing else."""
        frame = (
            ui.element("iframe").classes("mf-report").props('title="Report" sandbox="allow-scripts allow-downloads"')
        )
        frame.props["srcdoc"] = html


def serve(folder: Path, file: Path | None, port: int, token: str, *, show: bool) -> None:
    """Answer browsers on this machine that know the token, until interrupted. Every visit gets a page of its own."""
    inside, halls = Folder(folder), list[Hall]()
    start = (file.name, file.read_text(encoding="utf-8")) if file is not None else _first()

    async def visit(p: str = "") -> None:
        halls[:] = halls or [Hall(inside)]  # made when there is a loop that its semaphore can belong to
        Page(halls[0], unpacked(p) or start)

    app.on_startup(gc.freeze)  # what is loaded by now stays: looking through it again and again would hold up answers
    ui.page("/", title="memfence")(visit)
    app.add_middleware(OnlyThisMachine, token=token)
    shown = f"/{token}/" if show else False
    ui.run(host="127.0.0.1", port=port, reload=False, show=shown, title="memfence", show_welcome_message=False)


def _first() -> tuple[str, str]:
    path = examples_folder() / FIRST
    return (FIRST, path.read_text(encoding="utf-8")) if path.is_file() else ("program.pml", "")
