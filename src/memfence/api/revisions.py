"""Files as they were in a revision: `HEAD~2:src/queue.c`, read by git, headers and all.

The whole tree of the revision is written into a temporary folder, since a program is more than its first file. Neither
the working tree nor the index of the user is touched.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.source import SourceText

MOST_SECONDS = 120


class Revisions:
    """Trees of revisions, each written once, for as long as the context lasts."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._trees: dict[str, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._stack.close()

    def path_of(self, revision: str, file: str) -> Path:
        """Where the file is, as it was in the revision. As for git, it is named from the top of the repository, or
        with `./` from here. InputError if there is no such file."""
        what = f"{revision}:{file}"
        top, tree = self._tree_of(revision, what)
        named = Path(os.path.normpath(Path.cwd() / file)) if file.startswith("./") else top / file
        if not named.is_relative_to(top) or not (tree / named.relative_to(top)).is_file():
            raise _unknown(what, f"the revision has no file `{file}`; git names files from the top of the repository")
        return tree / named.relative_to(top)

    def folder_of(self, revision: str, folder: str) -> str:
        """The folder of headers in the tree of the revision, where it lies in the repository; else as it is."""
        top, tree = self._tree_of(revision, f"{revision}:{folder}")
        place = Path(os.path.normpath(Path.cwd() / folder))
        return str(tree / place.relative_to(top)) if place.is_relative_to(top) else folder

    def _tree_of(self, revision: str, what: str) -> tuple[Path, Path]:
        """The top of the repository, and where its tree is as it was."""
        top = Path(_git(what, "rev-parse", "--show-toplevel"))
        commit = _git(what, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        if commit not in self._trees:
            self._trees[commit] = self._written(what, top, commit)
        return top, self._trees[commit]

    def _written(self, what: str, top: Path, commit: str) -> Path:
        tree = self._stack.enter_context(TemporaryDirectory(prefix="memfence-"))
        with TemporaryDirectory(prefix="memfence-") as beside:
            index = {"GIT_INDEX_FILE": str(Path(beside, "index"))}
            _git(what, "-C", str(top), "read-tree", commit, more=index)
            _git(what, "-C", str(top), "checkout-index", "--all", f"--prefix={tree}{os.sep}", more=index)
        return Path(tree)


def _git(what: str, *arguments: str, more: dict[str, str] | None = None) -> str:
    """What git prints; InputError where it refuses."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            check=True,
            env={**os.environ, **(more or {})},
        )
    except FileNotFoundError:
        raise _unknown(what, "git is not installed") from None
    except subprocess.TimeoutExpired:
        raise _unknown(what, f"git took longer than {MOST_SECONDS} s") from None
    except subprocess.CalledProcessError as refused:
        first = (refused.stderr or "").strip().partition("\n")[0].removeprefix("fatal: ")
        raise _unknown(what, first or "there is no such revision") from None
    return done.stdout.strip()


def _unknown(what: str, why: str) -> InputError:
    at = Label(SourceText(what, "").span(0, 0))
    return InputError([Diagnostic(Code.UNREADABLE, f"cannot read `{what}`: {why}", at)])
