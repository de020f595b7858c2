"""Whatever the user asked for is written by `output_files`; who else writes, makes or removes has a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "src" / "memfence"

CHANGES = frozenset((
    "write_text", "write_bytes", "unlink", "rename", "rmtree", "rmdir", "mkdir", "makedirs", "touch", "symlink_to",
    "hardlink_to", "truncate", "ftruncate", "remove", "removedirs", "move", "copyfile", "copytree", "copy2", "chmod",
))  # fmt: skip
OF_LISTS = frozenset(("remove",))
"""Also a method of lists and sets: counted only of `os` and `shutil`."""
WRITING_MODES = frozenset("wax+")

ALLOWED = {
    "output_files.py": "this is the place",
    "api/typing.py": "`make golden` writes sources of memfence",
    "api/certify.py": "removes its own temporary file",
    "engines/cluster/checkpoints.py": "in a temporary folder of its own",
    "frontends/c/clang.py": "in a temporary folder of its own",
    "frontends/parsing/generate.py": "`make tables` writes sources of memfence",
    "binary/build.py": "in a temporary folder of its own",
    "binary/elsewhere.py": "in a temporary folder of its own",
    "binary/rust_build.py": "in a temporary folder of its own",
    "cache_folder.py": "the cache of compiled texts, written beside and renamed",
    "binary/toolchain.py": "the cache of the runtime, built beside and renamed",
    "clients/serial.py": "in a temporary folder of its own",
    "report/contract/schema.py": "`make golden` writes the schemas that memfence ships",
    "server/worker.py": "asks the kernel for a lower priority",
    "silicon/costs.py": "in a temporary folder of its own",
    "silicon/variants.py": "in a temporary folder of its own",
    "synthesis/run_fences.py": "in a temporary folder of its own",
}


def changes(path: Path) -> Iterator[str]:
    """Calls that write, make or remove files."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            name = called.rpartition(".")[2]
            is_of_list = name in OF_LISTS and called.partition(".")[0] not in ("os", "shutil")
            if (name in CHANGES and not is_of_list) or (name in ("open", "fdopen") and _writes(node)):
                yield f"{called}, line {node.lineno}"


def _writes(call: ast.Call) -> bool:
    texts = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    texts += [word.value.value for word in call.keywords if word.arg == "mode" and isinstance(word.value, ast.Constant)]
    modes = [text for text in texts if isinstance(text, str) and len(text) <= 3 and set(text) <= set("rwaxbt+")]
    flags = " ".join(ast.unparse(argument) for argument in call.args)
    return any(WRITING_MODES & set(mode) for mode in modes) or "O_CREAT" in flags or "O_TRUNC" in flags


def test_nobody_else_writes_files() -> None:
    found = {path.relative_to(ROOT).as_posix(): list(changes(path)) for path in sorted(ROOT.rglob("*.py"))}
    others = {name: calls for name, calls in found.items() if calls and name not in ALLOWED}
    assert others == {}


def test_every_reason_is_still_needed() -> None:
    assert [name for name in ALLOWED if not list(changes(ROOT / name))] == []


def test_planted_writes_are_seen(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(
        "path.write_text('x')\nopen(name, 'w')\npath.open('ab')\npath.open(mode='x')\nos.remove(name)\n"
        "shutil.rmtree(name)\nos.open(name, os.O_WRONLY | os.O_CREAT)\n"
        "some_list.remove(3)\nopen(name)\npath.open('rb')\n"
    )
    assert len(list(changes(planted))) == 7
