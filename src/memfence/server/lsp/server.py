"""The language server itself: what the editor says, and what it gets back. Searches run in child processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from memfence.server.lsp import views
from memfence.server.lsp.documents import Document, Documents, Settings
from memfence.source import SourceText
from memfence.version import VERSION

PAUSE_SECONDS = 0.15
"""Typing goes on: a text is read when nobody has changed it for so long."""
HOVER_SECONDS = 5.0
"""A hover that takes longer shows nothing; the search goes on, and the next hover has its answer."""
Object = dict[str, Any]


class Session:
    """One editor. Every method is registered for what the protocol calls it, in `make_server`."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.documents = Documents()
        self._pauses: dict[str, asyncio.Task[None]] = {}

    def initialized(self, parameters: types.InitializeParams) -> None:
        """The editor says hello."""
        self.documents.settings = Settings.of(parameters.initialization_options)

    def configured(self, parameters: types.DidChangeConfigurationParams) -> None:
        """The user changed settings: what was found under the old ones is forgotten."""
        given = parameters.settings
        self.documents.settings = Settings.of(given.get("memfence", given) if isinstance(given, dict) else given)
        for document in self.documents.open.values():
            document.cancel()
            document.found.clear()

    def opened(self, parameters: types.DidOpenTextDocumentParams) -> None:
        item = parameters.text_document
        self.documents.close(item.uri)
        self.documents.open[item.uri] = Document(path_of(item.uri), item.text)
        self._read_soon(item.uri)

    def changed(self, parameters: types.DidChangeTextDocumentParams) -> None:
        address = parameters.text_document.uri
        if address in self.documents.open:
            self.documents.open[address].change(self.server.workspace.get_text_document(address).source)
            self._read_soon(address)

    def closed(self, parameters: types.DidCloseTextDocumentParams) -> None:
        self.documents.close(parameters.text_document.uri)
        self._publish(parameters.text_document.uri, [])

    def renamed(self, parameters: types.RenameFilesParams) -> None:
        """Cancel pending requests of renamed files."""
        for file in parameters.files:
            document = self.documents.open.get(file.old_uri)
            self.documents.close(file.old_uri)
            self._publish(file.old_uri, [])
            if document is not None and file.new_uri not in self.documents.open:
                self.documents.open[file.new_uri] = Document(path_of(file.new_uri), document.text)
                self._read_soon(file.new_uri)

    def _read_soon(self, address: str) -> None:
        earlier = self._pauses.pop(address, None)
        if earlier is not None:
            earlier.cancel()
        self._pauses[address] = asyncio.ensure_future(self._read(address))

    async def _read(self, address: str) -> None:
        await asyncio.sleep(PAUSE_SECONDS)
        document = self.documents.open.get(address)
        if document is not None:
            source = SourceText(document.path, document.text)
            answer = await self._wanted(address, "diagnose")
            if answer is not None and self.documents.open.get(address) is document and document.text == source.text:
                self._publish(address, views.diagnostics_of(source, address, answer))

    async def _wanted(self, address: str, verb: Any, progress: Any = None, **more: Any) -> Object | None:
        """The answer; None where the text changed, was closed, or the search was cancelled."""
        if address not in self.documents.open:
            return None
        try:
            return await self.documents.answer(address, verb, progress, **more)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise  # the editor took its question back
            return None

    def _publish(self, address: str, found: list[types.Diagnostic]) -> None:
        self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(address, found))

    def _source(self, address: str) -> SourceText | None:
        document = self.documents.open.get(address)
        return None if document is None else SourceText(document.path, document.text)

    async def code_lens(self, parameters: types.CodeLensParams) -> list[types.CodeLens]:
        address = parameters.text_document.uri
        source = self._source(address)
        answer = await self._wanted(address, "diagnose")
        if source is None or answer is None or "lines" not in answer:
            return []
        return views.lenses(source, address, answer["lines"])

    async def hover(self, parameters: types.HoverParams) -> types.Hover | None:
        address, place = parameters.text_document.uri, parameters.position
        source = self._source(address)
        if source is None:
            return None
        parts = [await self._need(address, place.line + 1), await self._values(address, source, place)]
        text = "\n\n".join(part for part in parts if part)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    async def _need(self, address: str, line: int) -> str:
        document = self.documents.open.get(address)
        if document is None or not is_fence_line(document.text, line):
            return ""
        return views.need_text(await self._in_time(address, "why") or {}, line)

    async def _values(self, address: str, source: SourceText, place: types.Position) -> str:
        word = views.word_at(source, place)
        return views.values_text(word, await self._in_time(address, "values") or {}) if word else ""

    async def _in_time(self, address: str, verb: str) -> Object | None:
        waiting = asyncio.ensure_future(self._wanted(address, verb))
        done, _ = await asyncio.wait([waiting], timeout=HOVER_SECONDS)
        return waiting.result() if done else None

    def code_action(self, parameters: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        """Insert the fences or memory orders that were found, or look for them."""
        address = parameters.text_document.uri
        document = self.documents.open.get(address)
        if document is None:
            return []
        edit, kind = self._edit(address, document.found.get("fix")), types.CodeActionKind.QuickFix
        if edit is not None:
            return [types.CodeAction("Insert the fix that memfence found", kind=kind, edit=edit)]
        command = types.Command("memfence: find a fix and insert it", "memfence.fix", arguments=[address, True])
        return [command]

    def _edit(self, address: str, answer: Object | None) -> types.WorkspaceEdit | None:
        source = self._source(address)
        if source is None or answer is None or answer.get("verdict") != "fixed" or not answer.get("patched"):
            return None
        changes = {address: views.edits_of(source, answer["patched"])} if answer["patched"] != source.text else {}
        return types.WorkspaceEdit(changes={**changes, **views.edits_elsewhere(source, answer.get("files", []))})

    async def check(self, address: str, *_: Any) -> Object | None:
        """The command of the code lens: the verdict, and a violation among the diagnostics."""
        source, answer = self._source(address), await self._wanted(address, "check")
        if source is None or answer is None:
            return None
        self._publish(address, views.diagnostics_of(source, address, answer))
        return self._told(answer)

    async def fix(self, address: str, apply: bool = False, *_: Any) -> Object | None:
        """Look for fences; with `apply`, ask the editor to insert them."""
        answer = await self._wanted(address, "fix")
        edit = self._edit(address, answer)
        if apply and edit is not None:
            await self.server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, "memfence: fix"))
        return self._told(answer)

    async def why(self, address: str, *_: Any) -> Object | None:
        """Which fences are needed."""
        return self._told(await self._wanted(address, "why"))

    def cancel(self, *addresses: str) -> int:
        """End the searches of these texts, or all."""
        if not addresses:
            return self.documents.cancel_all()
        return sum(self.documents.open[one].cancel() for one in addresses if one in self.documents.open)

    def _told(self, answer: Object | None) -> Object | None:
        """The answer without its page, said to the user in one line."""
        if answer is None:
            return None
        line = answer.get("line") or answer.get("error") or answer.get("usage") or answer.get("limit")
        if line:
            kind = types.MessageType.Info
            self.server.window_show_message(types.ShowMessageParams(kind, str(line)))
        return {name: value for name, value in answer.items() if name != "page"}

    def shutdown(self, *_: Any) -> None:
        """The editor ends: so does every search."""
        self.documents.cancel_all()


FENCES = ("fence", "barrier", "atomic", "xchg", "lock", "sync", "FENCE", "LOCK")


def is_fence_line(text: str, line: int) -> bool:
    """Whether the line may hold something that orders accesses."""
    lines = text.split("\n")
    return 1 <= line <= len(lines) and any(word in lines[line - 1] for word in FENCES)


def path_of(address: str) -> str:
    """The path of a file's address; another address as it is."""
    parts = urlparse(address)
    return str(Path(unquote(parts.path))) if parts.scheme == "file" else address


def _as_function(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method as a function: pygls writes on what is registered, which methods do not allow."""
    if asyncio.iscoroutinefunction(method):

        async def wait(*arguments: Any) -> Any:
            return await method(*arguments)

        return wait

    def call(*arguments: Any) -> Any:
        return method(*arguments)

    return call


def make_server() -> Any:
    """The server with everything registered, ready to start."""
    server = LanguageServer("memfence", VERSION)
    session = Session(server)
    features: dict[str, Any] = {
        types.INITIALIZE: session.initialized,
        types.WORKSPACE_DID_CHANGE_CONFIGURATION: session.configured,
        types.TEXT_DOCUMENT_DID_OPEN: session.opened,
        types.TEXT_DOCUMENT_DID_CHANGE: session.changed,
        types.TEXT_DOCUMENT_DID_CLOSE: session.closed,
        types.TEXT_DOCUMENT_CODE_LENS: session.code_lens,
        types.TEXT_DOCUMENT_HOVER: session.hover,
        types.TEXT_DOCUMENT_CODE_ACTION: session.code_action,
        types.SHUTDOWN: session.shutdown,
    }
    for name, method in features.items():
        server.feature(name)(_as_function(method))
    any_file = types.FileOperationFilter(types.FileOperationPattern("**/*"))
    renames = types.FileOperationRegistrationOptions([any_file])
    server.feature(types.WORKSPACE_DID_RENAME_FILES, renames)(_as_function(session.renamed))
    commands = {f"memfence.{word}": getattr(session, word) for word in ("check", "fix", "why", "cancel")}
    for name, command in commands.items():
        server.command(name)(_as_function(command))
    # pygls forgets the command when its request is cancelled, and lets it run on
    server.protocol.fm.add_builtin_feature(types.WORKSPACE_EXECUTE_COMMAND, partial(_execute, commands))
    return server


async def _execute(commands: dict[str, Callable[..., Any]], parameters: types.ExecuteCommandParams) -> Any:
    """Carry out a command; a request that is taken back ends it."""
    if parameters.command not in commands:
        raise ValueError(f"there is no command {parameters.command!r}")
    found = commands[parameters.command](*(parameters.arguments or ()))
    return await found if asyncio.iscoroutine(found) else found
