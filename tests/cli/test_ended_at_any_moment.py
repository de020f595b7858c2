"""A time limit or Ctrl-C at any moment of a question for the SAT solver: one answer, one object, never a crash."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from random import Random

import pytest

from support.c_compiler import HAS_CLANG
from support.command_line import ROOT
from support.interruptible import start
from support.sampling import listed

pytestmark = pytest.mark.skipif(not HAS_CLANG, reason="neither ziglang nor clang is installed")
GENEROUS_SECONDS = 120.0
NEVER_DONE = "examples/c/mpmc_queue.c"
"""More executions than there is time for."""
VERDICTS = {0: {"holds", "fixed", "already_holds"}, 1: {"violated", "impossible"}, 4: {"unknown", "holds_up_to"}}


def command(verb: str, *options: str) -> list[str]:
    return [sys.executable, "-m", "memfence", verb, NEVER_DONE, "--model", "rc11", "--json", *options]


def assert_one_answer(code: int, output: str, errors: str) -> None:
    assert errors == ""
    assert json.loads(output)["verdict"] in VERDICTS[code]


@listed("seed", range(6), range(100, 300))
def test_time_that_is_up_at_any_moment_is_an_answer(seed: int) -> None:
    random = Random(seed)
    verb, seconds = random.choice(("check", "check", "fix")), 0.01 * 200 ** random.random()
    line = command(verb, "--timeout", f"{seconds:.3f}")
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=GENEROUS_SECONDS)
    assert_one_answer(done.returncode, done.stdout, done.stderr)
    assert done.returncode == 4 or verb == "fix"


@listed("seed", range(3), range(100, 200))
def test_an_interrupt_at_any_moment_is_an_answer(seed: int) -> None:
    random = Random(seed)
    process = start(command("check"), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(random.uniform(0.5, 4.0))
    process.send_signal(random.choice((signal.SIGINT, signal.SIGTERM)))
    output, errors = process.communicate(timeout=GENEROUS_SECONDS)
    assert_one_answer(process.returncode, output, errors)
