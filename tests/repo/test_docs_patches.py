"""Every patch of C in the documentation is checked under x86, rc11 and armv8, and its page says what it is for."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from doc_commands import ROOT

from support.c_compiler import needs_clang
from support.command_line import memfence

pytestmark = needs_clang

MODELS = ("x86", "rc11", "armv8")
COMMAND = re.compile(r"^.*?memfence fix (?P<arguments>[^\n|>]*examples/c/\w+\.c[^\n|>]*)", re.MULTILINE)
CLAIM = re.compile(r"The patch is for (?P<held>[\w, ]+?)(?: only: (?P<refuted>[\w, ]+) refute it)?[.:]")
PRINTED = ("--diff", "--quiet", "-q")
"""What only says how the answer is printed."""


def shown_patches() -> list[tuple[Path, str, str]]:
    """Page, arguments of `fix`, and the text of the page behind the command."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "guide").glob("*.md"))]
    found = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for match in COMMAND.finditer(text):
            found.append((page, match["arguments"].strip(), text[match.end() :]))
    return found


def named(words: str | None) -> set[str]:
    return set(re.findall(r"\w+", words or "")) - {"and"}


def verdicts(arguments: str, folder: Path) -> dict[str, str]:
    """What each model says of the example with the patch that the command writes."""
    shutil.copytree(ROOT / "examples" / "c", folder / "examples" / "c")
    words = [word for word in shlex.split(arguments) if word not in PRINTED]
    assert memfence("fix", *words, "--in-place", "-q", folder=folder).returncode == 0
    file = next(word for word in words if word.endswith(".c"))
    answer = memfence("check", file, "--model", ",".join(MODELS), "--json", folder=folder)
    return {one["model"]: one["verdict"] for one in json.loads(answer.stdout)["models"]}


@pytest.mark.parametrize(("page", "arguments", "after"), shown_patches(), ids=lambda value: str(value)[-40:])
def test_a_patch_in_the_documentation_is_good_for_what_the_page_says(
    page: Path, arguments: str, after: str, tmp_path: Path
) -> None:
    claim = CLAIM.search(after)
    assert claim is not None, f"{page.name} does not say which models `fix {arguments}` is for"
    found = verdicts(arguments, tmp_path)
    assert {found[model] for model in named(claim["held"])} <= {"holds", "holds_up_to"}, (page.name, found)
    assert named(claim["refuted"]) == {model for model in MODELS if found[model] == "violated"}, (page.name, found)


def test_there_are_patches_in_the_documentation() -> None:
    assert len(shown_patches()) >= 5
