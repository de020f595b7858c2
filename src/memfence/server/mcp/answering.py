"""An answer to a tool's call: the question goes to a confined child process with limits of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memfence.records import Record
from memfence.server.child import Question, ask
from memfence.server.mcp.catalogue import BY_NAME
from memfence.server.ui.folder import Folder, Outside

Object = dict[str, Any]
USUAL_SECONDS = 30.0
MOST_MEGABYTES = 1_000


class ToolAnswer(Record):
    """`text`: for reading; `data`: what `--json` prints, if there is such an object. `is_error`: there is no answer."""

    text: str
    data: Object | None = None
    is_error: bool = False


async def answered(name: str, arguments: Object, root: Path) -> ToolAnswer:
    """What the tool says. Nothing outside of the folder is read, and nothing is written."""
    tool = BY_NAME.get(name)
    if tool is None:
        return ToolAnswer(f"there is no tool `{name}`; there are {', '.join(BY_NAME)}", is_error=True)
    unknown = [one for one in arguments if one not in tool.arguments]
    missing = [one for one in tool.needed if one not in arguments]
    if unknown or missing:
        what = f"`{unknown[0]}` is no argument of it" if unknown else f"`{missing[0]}` is missing"
        return ToolAnswer(f"{name}: {what}; it takes {', '.join(tool.arguments)}", is_error=True)
    if name == "explain":
        return _explained(str(arguments["code"]))
    folder = Folder(root)
    try:
        files = [str(file) for file in arguments.get("files") or [arguments.get("file", "")]]
        texts = [folder.read(file) for file in files]
    except Outside as outside:
        return ToolAnswer(str(outside), is_error=True)
    except (OSError, ValueError) as problem:
        return ToolAnswer(f"cannot be read: {getattr(problem, 'strerror', None) or problem}", is_error=True)
    paths = [str(folder.path(file).relative_to(folder.root)) for file in files]
    options = {key: value for key, value in arguments.items() if key not in ("file", "files", "timeout_seconds")}
    question = Question(
        verb="tell",
        path=paths[0],
        text=texts[0],
        options={**options, "tool": name, "files": paths},
        timeout_seconds=float(arguments.get("timeout_seconds") or USUAL_SECONDS),
        memory_megabytes=MOST_MEGABYTES,
        folder=str(folder.root),
        is_confined=True,
    )
    return _of(await ask(question))


def _of(found: Object) -> ToolAnswer:
    if "diagnostics" in found:
        lines = [f"{one['code']} {one['file']}:{one['line']}: {one['message']}" for one in found["diagnostics"]]
        return ToolAnswer("\n".join(lines), found, is_error=True)
    if "limit" in found and "data" not in found:
        return ToolAnswer(f"unknown: {found['limit']}", found)
    if "usage" in found:
        return ToolAnswer(found["usage"], found, is_error=True)
    return ToolAnswer(found["text"], found["data"])


def _explained(code: str) -> ToolAnswer:
    from memfence.codes import Code
    from memfence.explanations import explanation

    found = next((known for known in Code if known.id == code.upper()), None)
    if found is None:
        return ToolAnswer(f"there is no code `{code}`", is_error=True)
    return ToolAnswer(f"{found.id}: {found.summary}\n\n{explanation(found)}")
