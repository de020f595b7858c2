"""What users of C see for options and files that cannot be used: `commands/`; UPDATE_GOLDEN=1 writes it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.c_compiler import needs_clang
from support.command_line import memfence

pytestmark = needs_clang
FOLDER = Path(__file__).with_name("commands")
FILES: dict[str, bytes] = {
    "main.c": b'#include "part.h"\n\nint main(void)\n{\n    return VALUE;\n}\n',
    "part.h": b"/* no VALUE */\n",
    "latin1.c": b"/* caf\xe9 */\nint main(void) { return 0; }\n",
    "text.bc": b"this is no bitcode\n",
    "cut.bc": b"BC\xc0\xde\x35\x14",
    "program.txt": b"not a program\n",
}
CASES: dict[str, tuple[str, ...]] = {
    "dead_clang": ("main.c", "--clang", "/no/such/clang"),
    "clang_is_a_text": ("main.c", "--clang", "./program.txt"),
    "clang_that_fails": ("main.c", "--clang", "/bin/false"),
    "wrong_macro": ("main.c", "-D", "1VALUE=3"),
    "missing_macro": ("main.c",),
    "macro_of_another_type": ("main.c", "-D", 'VALUE="text" + 1.5'),
    "unknown_standard": ("main.c", "-D", "VALUE=0", "--std", "c3"),
    "wrong_entry": ("main.c", "-D", "VALUE=0", "--entry", "start"),
    "no_such_file": ("absent.c",),
    "a_folder": (".",),
    "not_utf8": ("latin1.c",),
    "no_bitcode": ("text.bc",),
    "cut_bitcode": ("cut.bc",),
}


@pytest.mark.parametrize("name", CASES)
def test_the_command_is_refused_with_a_place_and_exit_code_3(name: str, tmp_path: Path) -> None:
    for file, content in FILES.items():
        (tmp_path / file).write_bytes(content)
    done = memfence("check", *CASES[name], folder=tmp_path)
    expected = FOLDER / f"{name}.expected"
    if os.environ.get("UPDATE_GOLDEN"):
        expected.write_text(done.stderr, encoding="utf-8")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == expected.read_text(encoding="utf-8")


def test_no_expected_file_is_left_without_its_case() -> None:
    assert {path.stem for path in FOLDER.glob("*.expected")} == set(CASES)
