"""Files with names that compilers take for something else, and files that no report is written over."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.c_compiler import needs_clang
from support.command_line import ROOT, memfence

FAILS = "#include <assert.h>\nint main(void) { assert(0); return 0; }\n"


@needs_clang
@pytest.mark.parametrize(
    ("name", "options"), [("-x.c", ()), ("v.txt", ("--language", "c")), ("v", ("--language", "c"))]
)
def test_a_file_is_read_whatever_its_name(name: str, options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / name).write_text(FAILS)
    done = memfence("check", f"./{name}", *options, "-q", folder=tmp_path)
    assert done.returncode == 1 and "assert(0) fails" in done.stdout


@pytest.mark.parametrize("option", ["--html", "--sarif", "--junit", "--certificate"])
@pytest.mark.parametrize("name", ["part.h", "other.c", "other.pml"])
def test_no_report_is_written_over_a_part_of_a_program(option: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    done = memfence("check", ROOT / "examples/peterson.pml", option, name, folder=tmp_path)
    assert done.returncode == 2 and f"`{name}` is there already" in done.stderr
    assert (tmp_path / name).read_text() == "mine"


def test_a_fix_is_written_over_no_header(tmp_path: Path) -> None:
    (tmp_path / "part.hpp").write_text("mine")
    done = memfence("fix", ROOT / "examples/peterson.pml", "-o", "part.hpp", folder=tmp_path)
    assert done.returncode == 2 and (tmp_path / "part.hpp").read_text() == "mine"


def test_a_test_for_the_processor_is_written_over_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "lost_wakeup.c").write_text("mine")
    command = ("reproduce", ROOT / "examples/lost_wakeup.pml", "--emit", ".", "--seconds", "0.1", "-q")
    done = memfence(*command, folder=tmp_path)
    assert done.returncode == 2 and "it is there already" in done.stderr
    assert (tmp_path / "lost_wakeup.c").read_text() == "mine"
    (tmp_path / "lost_wakeup.c").unlink()
    assert memfence(*command, folder=tmp_path).returncode in (1, 4)
    assert memfence(*command, folder=tmp_path).returncode in (1, 4), "one of ours is written again"
