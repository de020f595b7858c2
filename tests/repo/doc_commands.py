"""Commands of the documentation: found in ```console blocks, run in a copy of the examples, compared with the page.

Where the corpus is present it is there as `corpus`; where it is not, commands that name it are skipped.
In a block, a line that starts with `$ ` is a command and the lines below it are what it prints. Times and megabytes may
differ. A line `...` stands for any number of lines. `echo $?` prints the exit code of the command before it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import memfence
from support.c_compiler import HAS_CLANG
from support.command_line import memfence_shown
from support.corpus import CORPUS

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL_WORK = re.compile(r"[|&;<>$`*?~]")
"""What needs a shell. Any other command runs within this process, without the time to start one."""
ANY_LINES = "..."
VARYING = (
    (re.compile(r"\d+\.\d+ s\b"), "0.00 s"),
    (re.compile(r"\b\d+ MB\b"), "0 MB"),
    (re.compile(r'"(seconds|peak_mb)": [\d.e-]+'), r'"\1": 0'),
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command and the lines that the page shows below it."""

    text: str
    shown: tuple[str, ...]

    @property
    def can_run(self) -> bool:
        has_input = CORPUS.is_dir() or " corpus/" not in self.text
        return has_input and (HAS_CLANG or "examples/c/" not in self.text)


def pages() -> list[Path]:
    """README and everything in docs, where there is a command to run."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in found if BLOCK.search(path.read_text(encoding="utf-8"))]


def commands_of(block: str) -> list[Command]:
    """The commands of a block; a command ends with its line, or with a line without a backslash at its end."""
    found: list[tuple[str, list[str]]] = []
    continued = False
    for line in block.splitlines():
        if continued:
            found[-1] = (f"{found[-1][0]}\n{line}", found[-1][1])
            continued = line.endswith("\\")
        elif line.startswith("$ "):
            found.append((line[2:], []))
            continued = line.endswith("\\")
        else:
            assert found, f"output before the first command: {line!r}"
            found[-1][1].append(line)
    return [Command(text, tuple(shown)) for text, shown in found]


class Shell:
    """Runs commands in a folder that starts with a copy of the examples, with `memfence` on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.last_exit_code = 0
        shutil.copytree(ROOT / "examples", self.folder / "examples")
        if CORPUS.is_dir():
            (self.folder / "corpus").symlink_to(CORPUS)
        programs = folder / "bin"
        programs.mkdir()
        for name, module in (("memfence", "memfence"), ("memfence-hook", "memfence.cli.hook")):
            call = f'-c "from {module} import run; run()"' if module != "memfence" else "-m memfence"
            (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {call} "$@"\n')
            (programs / name).chmod(0o755)
        path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        home = str(Path(memfence.__file__).parents[1])
        self.settings = {"COLUMNS": "100", "NO_COLOR": "1"}
        self.environment = {**os.environ, **self.settings, "PATH": path, "PYTHONPATH": home}

    def run(self, command: str) -> list[str]:
        if command == "echo $?":
            return [str(self.last_exit_code)]
        if command.startswith("memfence ") and not SHELL_WORK.search(command):
            return self.shown(memfence_shown(*shlex.split(command)[1:], folder=self.folder, environment=self.settings))
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.folder, env=self.environment, text=True, timeout=300,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return self.shown(done)

    def shown(self, done: subprocess.CompletedProcess[str]) -> list[str]:
        self.last_exit_code = done.returncode
        return [line.rstrip() for line in done.stdout.rstrip("\n").splitlines()]


def agree(shown: tuple[str, ...], printed: list[str]) -> bool:
    """Whether the page shows what was printed."""
    pattern = "\n".join("(?:.*\n)*?.*" if line == ANY_LINES else re.escape(constant(line).rstrip()) for line in shown)
    return re.fullmatch(pattern, "\n".join(map(constant, printed))) is not None


def constant(line: str) -> str:
    """The line without what differs from run to run."""
    for pattern, instead in VARYING:
        line = pattern.sub(instead, line)
    return line


def rewritten(text: str, shell: Shell) -> str:
    """The page with the output that the commands really print, where it is not what the page shows."""

    def block(match: re.Match[str]) -> str:
        lines: list[str] = []
        for command in commands_of(match[1]):
            printed = shell.run(command.text) if command.can_run else list(command.shown)
            lines.append(f"$ {command.text}")
            lines += command.shown if agree(command.shown, printed) else printed
        return "```console\n" + "".join(f"{line}\n" for line in lines) + "```"

    return BLOCK.sub(block, text)
