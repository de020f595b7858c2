"""Rust by `memfence run`: its standard library is known, failures have messages, and places are the user's."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import memfence
from memfence.api.run import replay, schedules
from memfence.binary.build import Sources, build_program
from memfence.binary.rust_assembler import with_rust_hooks
from memfence.binary.rust_toolchain import find_rust
from memfence.codes import Code
from memfence.diagnostics import InputError
from support.rust import needs_rust

KINDS = Path(__file__).with_name("every_kind.rs")
HOLD = (
    "store_buffering_sc", "fences", "message_passing", "spin_lock", "mutex", "scope", "rw_lock", "once", "park",
    "barrier", "thread_locals", "thread_local_of_another", "prints", "leak",
)  # fmt: skip
FAIL = {
    "lost_update": "an update is lost",
    "try_lock_fails": "somebody has it",
    "wait_without_loop": "woken for no reason",
    "panics_elsewhere": "index out of bounds: the len is 1 but the index is 1",
    "exits": "exit(3) is called",
    "use_after_free": "a store to memory that was freed",
    "double_drop": "free of a block that was freed before",
}


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One executable: compiling it takes longer than exploring it."""
    yield build_program(Sources(files=(str(KINDS),), edition="2021"), tmp_path_factory.mktemp("kinds"))


@needs_rust
@pytest.mark.parametrize("name", HOLD)
def test_every_execution_of_a_right_program_is_run(kinds: Path, name: str) -> None:
    result = memfence.run(kinds, arguments=(name,), timeout_seconds=60)
    assert (result.verdict.value, result.races) == ("holds", ()), result.findings


@needs_rust
@pytest.mark.parametrize("name", FAIL)
def test_a_failure_has_its_message_and_a_place_in_the_program(kinds: Path, name: str) -> None:
    result = memfence.run(kinds, arguments=(name,), timeout_seconds=60)
    failure = next(one for one in result.findings if one.kind == "failure")
    assert result.verdict.value == "violated"
    assert FAIL[name] in failure.message
    places = {step.place.path for step in failure.steps if step.place.line}
    assert any(path.endswith("every_kind.rs") for path in places)


@needs_rust
def test_stores_that_wait_in_buffers_are_found_and_confirmed(kinds: Path) -> None:
    result = memfence.run(kinds, arguments=("store_buffering",), timeout_seconds=60)
    assert result.verdict.value == "violated" and result.counts.borderline
    shown = [one.confirmation for one in result.findings if one.confirmation is not None]
    assert any("both read 0" in one.message for one in shown)
    names = {step.variable for one in result.findings for step in one.steps}
    assert {"every_kind::X", "every_kind::Y"} <= names


@needs_rust
@pytest.mark.parametrize(
    ("name", "kind"), [("deadlock", "deadlock"), ("lost_wake_up", "lost wake-up"), ("park_for_ever", "lost wake-up")]
)
def test_whoever_waits_for_ever_is_found(kinds: Path, name: str, kind: str) -> None:
    result = memfence.run(kinds, arguments=(name,), timeout_seconds=60)
    assert result.verdict.value == "violated" and {one.kind for one in result.findings} == {kind}


@needs_rust
@pytest.mark.parametrize("name", ["condvar", "channel"])
def test_nothing_goes_wrong_where_threads_talk(kinds: Path, name: str) -> None:
    result = memfence.run(kinds, arguments=(name,), timeout_seconds=60)
    assert result.verdict.value in ("holds", "holds_up_to") and not result.findings


@needs_rust
def test_a_race_is_seen_and_a_lock_is_none(kinds: Path) -> None:
    assert memfence.run(kinds, arguments=("lost_update",), timeout_seconds=60).races


@needs_rust
def test_small_integers_are_no_addresses(kinds: Path) -> None:
    result = memfence.run(kinds, arguments=("store_buffering",), timeout_seconds=60)
    small = [step for one in result.findings for step in one.steps if step.value is not None and 0 <= step.value < 100]
    assert small and not any(step.points_to for step in small)


@needs_rust
def test_a_schedule_does_the_same_again(kinds: Path, tmp_path: Path) -> None:
    result = memfence.run(kinds, arguments=("lost_update",), timeout_seconds=60)
    name, text = next(iter(schedules(result)))
    saved = tmp_path / name
    saved.write_text(text)
    for _ in range(3):
        assert replay([kinds], saved).verdict.value == "violated"


@needs_rust
def test_the_program_also_just_runs(kinds: Path) -> None:
    for name in ("mutex", "rw_lock", "scope", "condvar", "channel", "thread_local_of_another"):
        assert subprocess.run([kinds, name], timeout=60, check=False).returncode == 0
    assert subprocess.run([kinds, "panics_elsewhere"], timeout=60, check=False, stderr=subprocess.PIPE).returncode != 0


@needs_rust
def test_rustc_says_where_a_program_is_wrong(tmp_path: Path) -> None:
    text = tmp_path / "wrong.rs"
    text.write_text('fn main() {\n    let x: i32 = "a";\n    missing();\n}\n')
    with pytest.raises(InputError) as refused:
        memfence.run(text)
    found = {(one.code, one.at.span.line, one.message) for one in refused.value.diagnostics}
    assert (Code.COMPILER, 3, "cannot find function `missing` in this scope") in found


def test_a_missing_rustc_is_an_error_that_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMFENCE_RUSTC", "no-such-rustc")
    find_rust.cache_clear()
    text = tmp_path / "program.rs"
    text.write_text("fn main() {}\n")
    with pytest.raises(InputError) as refused:
        memfence.run(text)
    find_rust.cache_clear()
    (told,) = refused.value.diagnostics
    assert told.code is Code.NO_COMPILER and "rustup" in (told.hint or "") and "no-such-rustc" in told.message


@pytest.mark.parametrize(
    ("option", "value", "file"),
    [("edition", "2021", "a.c"), ("cfg", ("x",), "a.c"), ("macros", ("X",), "a.rs"), ("std", "c11", "a.rs")],
)
def test_options_of_the_other_language_are_refused(tmp_path: Path, option: str, value: object, file: str) -> None:
    text = tmp_path / file
    text.write_text("fn main() {}\n" if file.endswith(".rs") else "int main(void) { return 0; }\n")
    with pytest.raises(ValueError, match="rustc"):
        memfence.run(text, **{option: value})  # type: ignore[arg-type]


def test_inline_assembler_that_touches_memory_is_refused() -> None:
    head = '\t.file\t1 "/home/x" "main.rs"\nuser:\n\t.cfi_startproc\n\t.loc\t1 3 5\n\t#APP\n'
    assert with_rust_hooks(head + "\tmovq\t%rax, (%rdi)\n\t#NO_APP\n")[1]
    assert not with_rust_hooks(head + "\tcpuid\n\t#NO_APP\n\tmovq\t%rax, (%rdi)\n")[1]


def test_thread_local_variables_are_those_of_the_fiber() -> None:
    text, _ = with_rust_hooks("f:\n\tcmpq\t$0, %fs:OWN@TPOFF+8\n")
    assert "cmpq\t$0, %fs:OWN@TPOFF+8(%rax)" in text and "memfence_variables" in text
    assert "%fs:OWN@TPOFF(%rcx), %rax" in with_rust_hooks("f:\n\tmovq\t%fs:OWN@TPOFF, %rax\n")[0]
