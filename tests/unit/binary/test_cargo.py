"""`cargo memfence test`: each test of a crate is explored by itself, and `memfence rustc` is rustc otherwise."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memfence.binary import rust_driver
from memfence.binary.rust_toolchain import RustToolchain
from support.rust import needs_rust

SCRIPT = Path(__file__).parents[3] / "contrib" / "cargo" / "cargo-memfence"
MANIFEST = '[package]\nname = "slots"\nversion = "0.1.0"\nedition = "2021"\n'
CRATE = """
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

pub struct Slot { value: AtomicUsize, is_full: AtomicBool }
impl Slot {
    pub const fn new() -> Self { Slot { value: AtomicUsize::new(0), is_full: AtomicBool::new(false) } }
    pub fn publish(&self, value: usize) { self.value.store(value, Relaxed); self.is_full.store(true, Release); }
    pub fn publish_early(&self, value: usize) { self.is_full.store(true, Release); self.value.store(value, Relaxed); }
    pub fn take(&self) -> Option<usize> { self.is_full.load(Acquire).then(|| self.value.load(Relaxed)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use std::thread;

    fn race(publish: fn(&Slot, usize)) {
        let slot = Arc::new(Slot::new());
        let other = slot.clone();
        let a = thread::spawn(move || publish(&other, 7));
        assert!(matches!(slot.take(), None | Some(7)), "not what was published");
        a.join().unwrap();
    }
    #[test] fn published() { race(Slot::publish) }
    #[test] fn published_too_early() { race(Slot::publish_early) }
    #[test] fn alone() { assert_eq!(Slot::new().take(), None) }
    #[test] fn counted() {
        static TOTAL: Mutex<i32> = Mutex::new(0);
        thread::scope(|s| { s.spawn(|| *TOTAL.lock().unwrap() += 1); *TOTAL.lock().unwrap() += 1; });
        assert_eq!(*TOTAL.lock().unwrap(), 2);
    }
    #[test] fn added() {
        static TOTAL: AtomicUsize = AtomicUsize::new(0);
        let a = thread::spawn(|| TOTAL.fetch_add(1, Relaxed));
        TOTAL.fetch_add(1, Relaxed);
        a.join().unwrap();
        assert_eq!(TOTAL.load(Relaxed), 2);
    }
    #[test] #[ignore] fn never_asked_for() { panic!() }
    #[test] #[should_panic] fn meant_to_panic() { panic!() }
}
"""
EXPECTED = {
    "tests::published": "holds",
    "tests::published_too_early": "violated",
    "tests::alone": "holds",
    "tests::counted": "holds",
    "tests::added": "holds",
    "tests::meant_to_panic": "unknown",
}


@needs_rust
@pytest.mark.skipif(shutil.which("cargo") is None, reason="there is no cargo")
def test_each_test_of_a_crate_is_explored(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text(MANIFEST)
    (tmp_path / "src" / "lib.rs").write_text(CRATE)
    here = {**os.environ, "MEMFENCE": f"{Path(sys.executable).parent}/memfence", "CARGO_TARGET_DIR": f"{tmp_path}/made"}
    command = [sys.executable, str(SCRIPT), "memfence", "test", "--timeout", "60", "--json", "--save", "found"]
    done = subprocess.run(command, cwd=tmp_path, env=here, capture_output=True, text=True, timeout=500, check=False)
    told = json.loads(done.stdout)
    assert {one["test"]: one["verdict"] for one in told["tests"]} == EXPECTED
    assert (done.returncode, told["verdict"]) == (1, "violated")
    (program,) = (path for path in (tmp_path / "made").glob("*/debug/deps/slots-*") if path.suffix == "")
    (schedule,) = (tmp_path / "found" / "tests-published_too_early").iterdir()
    again = [here["MEMFENCE"], "run", str(program), "--replay", str(schedule), "--quiet"]
    for _ in range(3):
        assert subprocess.run(again, stdout=subprocess.PIPE, timeout=60, check=False).returncode == 1


def test_what_runs_during_a_build_is_left_to_rustc(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def plain(rust: RustToolchain, words: list[str]) -> int:
        done.append("plain")
        return 0

    def whole(rust: RustToolchain, words: list[str], folder: Path, *, shows: bool) -> subprocess.CompletedProcess[str]:
        done.append("whole")
        assert not any("incremental" in word or word == "-Clto=thin" for word in words)
        return subprocess.CompletedProcess([], 0)

    def instrumented(rust: RustToolchain, words: list[str], *, shows: bool) -> subprocess.CompletedProcess[str]:
        done.append("instrumented")
        assert "-Zsanitizer=thread" in words
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr(rust_driver, "find_rust", lambda: RustToolchain("rustc", "lld", "1.95.0"))
    monkeypatch.setattr(rust_driver, "_as_it_is", plain)
    monkeypatch.setattr(rust_driver, "compile_whole", whole)
    monkeypatch.setattr(rust_driver, "run_rustc", instrumented)
    for words in (
        "-vV",
        "- --print=cfg",
        "--crate-name build_script_build --crate-type bin build.rs",
        "--crate-type proc-macro lib.rs",
        "--crate-type bin -C incremental=x -Clto=thin --emit=dep-info,link main.rs",
        "--test -C incremental=x lib.rs",
        "main.rs",
        "--crate-type lib --emit=dep-info,metadata,link lib.rs",
        "--crate-type bin --emit=dep-info,metadata main.rs",
    ):
        rust_driver.drive_rust(words.split())
    assert done == ["plain"] * 4 + ["whole"] * 3 + ["instrumented"] * 2
