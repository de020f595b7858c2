"""Diffs: what `git apply` and `patch` take, whatever the line ends."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from memfence.source import SourceText
from memfence.synthesis.patch import diff_path, unified


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nb\nfence\nc\n"),
        ("a\nb", "a\nfence\nb"),
        ("a\nb", "a\nb\nfence"),
        ("a\r\nb\r\n", "a\r\nfence\r\nb\r\n"),
        ("a\x0cb\n\x85c\n", "a\x0cb\nfence\n\x85c\n"),
    ],
)
def test_git_turns_the_old_text_into_the_new_one(old: str, new: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pml"
    path.write_bytes(old.encode())
    diff = unified(SourceText("x.pml", old), new)
    subprocess.run(["git", "apply", "-"], input=diff.encode(), cwd=tmp_path, check=True)
    assert path.read_bytes() == new.encode()


def test_no_change_is_no_diff() -> None:
    assert unified(SourceText("x.pml", "a\n"), "a\n") == ""


@pytest.mark.parametrize(
    ("path", "shown"),
    [("a/b.pml", "a/b.pml"), ("/tmp/b.pml", "tmp/b.pml"), ("../x/./b.pml", "x/b.pml"), ("./b.pml", "b.pml")],
)
def test_the_path_of_a_diff_is_relative_and_goes_down_only(path: str, shown: str) -> None:
    assert diff_path(path) == shown
