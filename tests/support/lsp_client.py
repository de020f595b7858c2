"""A real client of the Language Server Protocol (pygls'), talking to `memfence lsp` over its standard streams."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

LONG = 60.0


class Editor:
    """What an editor does, in short words. `shown[address]` are the diagnostics that it shows."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.shown: dict[str, list[types.Diagnostic]] = {}
        self.messages: list[str] = []
        self.edits: list[types.WorkspaceEdit] = []
        self._version = 0
        self._news = asyncio.Event()
        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda found: self._publish(found))
        client.feature(types.WINDOW_SHOW_MESSAGE)(lambda one: self.messages.append(one.message))
        client.feature(types.WORKSPACE_APPLY_EDIT)(lambda asked: self._apply(asked))

    def _publish(self, found: types.PublishDiagnosticsParams) -> None:
        self.shown[found.uri] = list(found.diagnostics)
        self._news.set()

    def _apply(self, asked: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        self.edits.append(asked.edit)
        return types.ApplyWorkspaceEditResult(applied=True)

    def open(self, path: Path | str, text: str) -> str:
        address = Path(path).absolute().as_uri()
        item = types.TextDocumentItem(address, "text", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return address

    def change(self, address: str, text: str, at: types.Range | None = None) -> None:
        self._version += 1
        change: Any = types.TextDocumentContentChangeWholeDocument(text)
        if at is not None:
            change = types.TextDocumentContentChangePartial(at, text)
        name = types.VersionedTextDocumentIdentifier(self._version, address)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(name, [change]))

    def close(self, address: str) -> None:
        name = types.TextDocumentIdentifier(address)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(name))

    async def diagnostics(self, address: str, wanted: Callable[[list[types.Diagnostic]], bool] = lambda _: True) -> Any:
        """The next diagnostics that are as wanted."""
        async with asyncio.timeout(LONG):
            while address not in self.shown or not wanted(self.shown[address]):
                self._news.clear()
                await self._news.wait()
        return self.shown.pop(address)

    async def command(self, name: str, *arguments: Any) -> Any:
        asked = types.ExecuteCommandParams(f"memfence.{name}", list(arguments))
        async with asyncio.timeout(LONG):
            return await self.client.workspace_execute_command_async(asked)

    async def hover(self, address: str, line: int, column: int) -> str:
        place = types.Position(line - 1, column - 1)
        asked = types.HoverParams(types.TextDocumentIdentifier(address), place)
        async with asyncio.timeout(LONG):
            found = await self.client.text_document_hover_async(asked)
        return "" if found is None else found.contents.value

    async def lenses(self, address: str) -> list[types.CodeLens]:
        asked = types.CodeLensParams(types.TextDocumentIdentifier(address))
        async with asyncio.timeout(LONG):
            return await self.client.text_document_code_lens_async(asked) or []

    async def actions(self, address: str) -> list[types.CodeAction]:
        nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
        context = types.CodeActionContext([])
        asked = types.CodeActionParams(types.TextDocumentIdentifier(address), nowhere, context)
        async with asyncio.timeout(LONG):
            return await self.client.text_document_code_action_async(asked) or []


def edited(text: str, edit: types.WorkspaceEdit, address: str) -> str:
    """The text after the edit, which is of whole lines, or of all of it."""
    (change,) = (edit.changes or {})[address]
    lines = text.split("\n")
    start, end = change.range.start, change.range.end
    before = "\n".join(lines[: start.line]) + ("\n" if start.line else "")
    after = "" if end.character else "\n".join(lines[end.line :])
    return before + change.new_text + after


@asynccontextmanager
async def editor(**settings: Any) -> AsyncIterator[Editor]:
    """An editor with its server; both end with the block."""
    client = LanguageClient("test", "1")
    opened = Editor(client)
    await client.start_io(sys.executable, "-m", "memfence", "lsp")
    try:
        capabilities = types.ClientCapabilities()
        await client.initialize_async(types.InitializeParams(capabilities, initialization_options=settings))
        client.initialized(types.InitializedParams())
        yield opened
        async with asyncio.timeout(LONG):
            await client.shutdown_async(None)
    finally:
        client.exit(None)
        await client.stop()
