"""Every command of the documentation does what its page shows. `UPDATE_DOCS=1` writes the output into the pages."""

from __future__ import annotations

import os
import re
from operator import attrgetter
from pathlib import Path

import pytest
from doc_commands import BLOCK, ROOT, Shell, agree, commands_of, pages, rewritten


@pytest.mark.parametrize("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    text = page.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(rewritten(text, shell), encoding="utf-8")
        return
    for block in BLOCK.findall(text):
        for command in filter(attrgetter("can_run"), commands_of(block)):
            printed = shell.run(command.text)
            assert agree(command.shown, printed), f"$ {command.text}\n" + "\n".join(printed)


def test_the_tutorial_leaves_everything_as_it_was(tmp_path: Path) -> None:
    shell = Shell(tmp_path)

    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in shell.folder.rglob("*") if path.is_file()}

    before, ran = files(), 0
    for block in BLOCK.findall((ROOT / "docs" / "guide" / "tutorial.md").read_text(encoding="utf-8")):
        for command in filter(attrgetter("can_run"), commands_of(block)):
            shell.run(command.text)
            ran += 1
    assert ran > 10
    assert files() == before


def test_commands_are_only_written_where_they_are_run() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        for language, body in re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
            if language != "console":
                assert not re.search(r"^\s*\$ memfence", body, re.MULTILINE), f"{page}: {body[:60]}"


@pytest.mark.parametrize(
    "shown, printed, expected",
    [
        (("a", "b"), ["a", "b"], True),
        (("a",), ["a", "b"], False),
        (("a", "..."), ["a", "b", "c"], True),
        (("...", "c"), ["a", "b", "c"], True),
        (("a", "...", "c"), ["a", "c"], False),
        (("took 0.10 s, 3 MB",), ["took 2.34 s, 99 MB"], True),
        ((), [], True),
    ],
)
def test_output_agrees_line_by_line(shown: tuple[str, ...], printed: list[str], expected: bool) -> None:
    assert agree(shown, printed) is expected
