"""Every style of patch for C: it applies with `patch -p1`, gcc compiles it, and the patched file holds."""

from __future__ import annotations

import csv
import shutil
import subprocess
from pathlib import Path

import pytest

import memfence
from memfence.frontends.frontend import EditStyle
from memfence.models.spec import ModelName
from memfence.source import SourceText
from memfence.synthesis.result import FixResult, FixVerdict
from memfence.tasks.answer import Verdict
from memfence.tasks.usage import WrongUsage
from support.c_compiler import needs_clang

pytestmark = needs_clang

ROOT = Path(__file__).resolve().parents[3]
STYLES: tuple[EditStyle, ...] = ("fence", "store", "asm")
FENCES = {row["file"]: row["fences"] for row in csv.DictReader((ROOT / "examples/c/expected.csv").open())}
VIOLATED = sorted(name for name, fences in FENCES.items() if fences not in ("", "0"))
FEW = ("musl_unlock.c", "qemu_virtio_notify.c")
CASES = [
    pytest.param(name, style, marks=() if name in FEW else pytest.mark.slow) for name in VIOLATED for style in STYLES
]


def fixed(source: object, model: ModelName = "tso", **options: object) -> FixResult:
    result = memfence.fix(source, model=model, **options)  # type: ignore[arg-type]
    assert isinstance(result, FixResult)
    return result


@pytest.mark.parametrize(("name", "style"), CASES)
def test_the_patch_applies_compiles_and_holds(name: str, style: EditStyle, tmp_path: Path) -> None:
    if not (shutil.which("patch") and shutil.which("gcc")):
        pytest.skip("patch or gcc is not installed")
    shutil.copy(ROOT / "examples" / "c" / name, tmp_path / name)
    result = fixed(tmp_path / name, style=style)
    assert (result.verdict, result.chosen.count) == (FixVerdict.FIXED, int(FENCES[name]))
    folder = tmp_path / "project"
    path = folder / result.diff.splitlines()[0].removeprefix("--- a/")
    path.parent.mkdir(parents=True)
    shutil.copy(tmp_path / name, path)
    subprocess.run(["patch", "-p1"], input=result.diff, cwd=folder, text=True, check=True, capture_output=True)
    assert path.read_text() == result.patched
    command = ["gcc", "-std=gnu11", "-Wall", "-Werror=implicit-function-declaration", "-fsyntax-only", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    assert memfence.check(path, model="tso").verdict is Verdict.HOLDS


def lines_added(result: FixResult) -> list[str]:
    added = [line[1:].strip() for line in result.diff.splitlines() if line.startswith("+") and line[1:3] != "++"]
    return [line for line in added if not line.startswith("#include")]


@pytest.mark.parametrize(
    ("style", "added"),
    [
        ("fence", ["atomic_thread_fence(memory_order_seq_cst);"]),
        ("store", ["atomic_store_explicit(&used_index, 1, memory_order_seq_cst);"]),
        ("asm", ['__asm__ __volatile__("mfence" ::: "memory");']),
    ],
)
def test_each_style_writes_its_own_text(style: EditStyle, added: list[str]) -> None:
    assert lines_added(fixed(ROOT / "examples/c/qemu_virtio_notify.c", style=style)) == added


def test_a_store_that_is_not_atomic_gets_a_fence_in_any_style() -> None:
    result = fixed(ROOT / "examples/c/musl_unlock.c", style="store")
    assert [fence.style for fence in result.chosen.fences] == ["fence"]
    assert lines_added(result) == ["atomic_thread_fence(memory_order_seq_cst);"]


def store_buffering(one: str, two: str, head: str = "#include <stdatomic.h>", declared: str = "atomic_int") -> str:
    return f"""{head}
#include <assert.h>
#include <pthread.h>
static {declared} x, y;
static int r1, r2;
static void *one(void *u) {{
    {one}
    r1 = y;
    return 0;
}}
static void *two(void *u) {{
    {two}
    r2 = x;
    return 0;
}}
int main() {{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(r1 || r2);
    return 0;
}}
"""


@pytest.mark.parametrize(
    ("path", "text", "added"),
    [
        (
            "sb.cpp",
            store_buffering(
                "x.store(1, std::memory_order_relaxed);", "y.store(1, std::memory_order_release);",
                "#include <atomic>", "std::atomic<int>",
            ),
            ["x.store(1, std::memory_order_seq_cst);", "y.store(1, std::memory_order_seq_cst);"],
        ),
        (
            "sb.c",
            store_buffering(
                "__atomic_store_n(&x, 1, __ATOMIC_RELAXED);", "__atomic_store_n(&y, 1, __ATOMIC_RELEASE);", "", "int"
            ),
            ["__atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);", "__atomic_store_n(&y, 1, __ATOMIC_SEQ_CST);"],
        ),
    ],
)  # fmt: skip
def test_stores_of_all_families_become_stronger(path: str, text: str, added: list[str]) -> None:
    result = fixed(SourceText(path, text), style="store")
    assert result.verdict is FixVerdict.FIXED
    assert lines_added(result) == added
    assert "#include <atomic>\n#include <atomic>" not in (result.patched or "")


def test_one_place_that_is_inlined_twice_is_one_fence() -> None:
    text = store_buffering("announce(&x);", "announce(&y);").replace(
        "static void *one",
        "static void announce(atomic_int *flag)\n{\n"
        "    atomic_store_explicit(flag, 1, memory_order_relaxed);\n}\nstatic void *one",
        1,
    )
    result = fixed(SourceText("helper.c", text), style="store")
    assert (result.verdict, result.chosen.count, result.chosen.instances) == (FixVerdict.FIXED, 1, 2)
    assert lines_added(result) == ["atomic_store_explicit(flag, 1, memory_order_seq_cst);"]


def test_under_pso_a_release_fence_keeps_stores_in_order() -> None:
    text = store_buffering(
        "atomic_store_explicit(&x, 1, memory_order_relaxed);\n    atomic_store_explicit(&y, 1, memory_order_relaxed);",
        "r2 = y ? x : 1; (void)r1;",
    ).replace("    r1 = y;\n", "").replace("    r2 = x;\n", "").replace("r1 || r2", "r2")  # fmt: skip
    result = fixed(SourceText("mp.c", text), "pso")
    assert result.verdict is FixVerdict.FIXED
    assert lines_added(result) == ["atomic_thread_fence(memory_order_release);"]


def test_a_style_is_for_c_only() -> None:
    with pytest.raises(WrongUsage, match="style"):
        memfence.fix(ROOT / "examples" / "lost_wakeup.pml", style="asm")
