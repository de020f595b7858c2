"""With `--cluster` a library may end the process at any moment: still there is one answer, and it is no verdict."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memfence.cli.exit_codes import Exit
from support.command_line import ROOT
from support.interruptible import start

pytestmark = pytest.mark.skipif(not hasattr(signal, "sigwaitinfo"), reason="the system has no sigwaitinfo")
GENEROUS_SECONDS = 60.0
EXAMPLE = "examples/lost_wakeup.pml"
LINE = ("check", EXAMPLE, "--cluster", "local:2")


def command(instead_of_a_check: str, *arguments: str) -> list[str]:
    """`memfence`, where the check does this. Ray is not needed for it."""
    code = f"""
import os, signal, sys, threading, time
import memfence.api.check as checking
from memfence.cli.start import run
real = checking.asked
def asked(source, options, keywords, **others):
    del keywords["cluster"]
    {instead_of_a_check}
    return real(source, options, keywords, **others)
checking.asked = asked
run()
"""
    return [sys.executable, "-c", code, *(arguments or LINE)]


def run(instead_of_a_check: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = command(instead_of_a_check, *arguments)
    return subprocess.run(line, capture_output=True, text=True, cwd=ROOT, timeout=GENEROUS_SECONDS)


ENDS = [
    *(f"os._exit({code})" for code in (0, 1, 2, 3, 70)),
    *(f"os.kill(os.getpid(), signal.{name})" for name in ("SIGKILL", "SIGSEGV", "SIGABRT")),
]


@pytest.mark.parametrize("end", ENDS)
def test_a_process_that_is_ended_from_within_gives_no_verdict(end: str) -> None:
    done = run(end)
    assert (done.returncode, done.stdout) == (Exit.UNKNOWN, "")
    assert "UNKNOWN: the connection to the cluster was lost" in done.stderr


@pytest.mark.parametrize("end", ENDS)
def test_nor_does_it_leave_out_the_object(end: str) -> None:
    done = run(end, *LINE, "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["verdict"]) == (Exit.UNKNOWN, "unknown")
    assert "the connection to the cluster was lost" in told["limit"]


@pytest.mark.parametrize(
    "line, code",
    [
        (LINE, Exit.VIOLATED),
        ((*LINE, "--model", "sc"), Exit.HOLDS),
        ((*LINE, "--nonsense"), Exit.USAGE),
        (("check", "--cluster=local", "no_such_file.pml"), Exit.BAD_INPUT),
    ],
)
def test_an_answer_stays_what_it_is(line: tuple[str, ...], code: Exit) -> None:
    done = run("pass", *line)
    assert done.returncode == code, done.stderr
    assert "the connection to the cluster was lost" not in done.stderr


def test_what_a_library_prints_is_no_part_of_the_answer() -> None:
    speaking = "; ".join(
        (
            "speaker = threading.Thread(target=lambda: print('(raylet) is terminated'))",
            "speaker.start()",
            "speaker.join()",
        )
    )
    done = run(speaking, *LINE, "--json")
    assert json.loads(done.stdout)["verdict"] == "violated"
    assert "(raylet) is terminated" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_command(number: signal.Signals, tmp_path: Path) -> None:
    marker = tmp_path / "searching"
    waiting = f"open({str(marker)!r}, 'x').close(); time.sleep({GENEROUS_SECONDS})"
    process = start(command(waiting), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(marker, process)
    process.send_signal(number)
    output, errors = process.communicate(timeout=GENEROUS_SECONDS)
    assert (process.returncode, output, errors) == (Exit.UNKNOWN, "", "UNKNOWN: interrupted\n")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells a child that its parent has ended")
def test_nothing_goes_on_when_the_command_is_killed(tmp_path: Path) -> None:
    marker = tmp_path / "searching"
    waiting = (
        f"open({str(marker)!r} + '.new', 'w').write(str(os.getpid())); os.rename({str(marker)!r} + '.new', "
        f"{str(marker)!r}); time.sleep({GENEROUS_SECONDS})"
    )
    process = start(command(waiting), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(marker, process)
    child = int(marker.read_text())
    assert child != process.pid
    process.kill()
    process.wait()
    until = time.monotonic() + GENEROUS_SECONDS
    while runs(child):
        assert time.monotonic() < until
        time.sleep(0.02)


def wait_for(marker: Path, process: subprocess.Popen[str]) -> None:
    while not marker.exists():
        assert process.poll() is None
        time.sleep(0.02)


def runs(child: int) -> bool:
    """Whether the process is there, and is not just waiting for somebody to notice its end."""
    try:
        os.kill(child, 0)
        return "\nState:\tZ" not in Path(f"/proc/{child}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False
