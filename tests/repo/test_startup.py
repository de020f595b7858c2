"""Start-up is part of every answer: what a small check may not import, and what `import memfence` may not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import memfence

HEAVY = (
    "rich", "pydantic", "jinja2", "pysat", "hypothesis", "numpy", "asyncio", "email", "multiprocessing", "lark",
    "concurrent",
)  # fmt: skip

PROGRAM = """\
program tiny
vars x
procs
process P
init a
begin
a: x = 1; goto b
end
"""


def loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*sorted(name.split('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_the_package_imports_no_dependency() -> None:
    assert loaded_by("import memfence").isdisjoint({"typer", "dataclasses", *HEAVY})


def test_a_small_check_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "tiny.pst").write_text(PROGRAM)
    arguments = ["memfence", "check", str(tmp_path / "tiny.pst"), "--forbid", "x == 2"]
    code = (
        f"import sys\nsys.argv = {arguments!r}\nfrom memfence.cli.main import run\n"
        "try:\n    run()\nexcept SystemExit as end:\n    assert end.code == 0, end.code"
    )
    assert loaded_by(code).isdisjoint(HEAVY)


@pytest.mark.parametrize("name", memfence.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(memfence, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        getattr(memfence, "nonsense")  # noqa: B009


def test_the_public_fix_stays_a_function_after_its_first_call() -> None:
    """A submodule of the same name would replace it in the package as soon as it is imported."""
    import memfence
    from memfence.synthesis import synthesise

    assert synthesise is not memfence.fix
    assert callable(memfence.fix)
