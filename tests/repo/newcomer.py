"""The way of a newcomer, step by step: what README and tutorial promise, done with a given `memfence`."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Someone in a folder with the examples, who calls `command` for memfence."""

    folder: Path
    command: tuple[str, ...]
    environment: dict[str, str]

    def memfence(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(*self.command, *arguments)

    def run(self, *command: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "COLUMNS": "100", **self.environment}
        return subprocess.run(
            command, cwd=self.folder, env=environment, input=text, capture_output=True, text=True, timeout=600
        )

    def check_promises_about_c(self) -> None:
        """From a file of C to a patch that applies, and holds."""
        example = "examples/c/musl_unlock.c"
        seen = self.memfence("check", example)
        assert (seen.returncode, seen.stderr) == (1, "")
        assert "At the end no thread can go on" in seen.stdout and "x86 only" in seen.stdout
        fixed = self.memfence("fix", example)
        assert "FIXED under tso (safety) with 1 fence" in fixed.stdout
        applied = self.run("patch", "-p1", text=self.memfence("fix", example, "--diff").stdout)
        assert applied.returncode == 0, applied.stdout + applied.stderr
        assert self.memfence("check", example).returncode == 0

    def check_promises(self) -> None:
        """See the bug, read the report, get the patch, apply it, see it hold, break it, see the error."""
        example = "examples/lost_wakeup.pml"
        seen = self.memfence("check", example, "--model", "tso")
        assert (seen.returncode, seen.stderr) == (1, "")
        assert "the load overtook the store" in " ".join(seen.stdout.split())

        fixed = self.memfence("fix", example, "--html", "report.html")
        assert fixed.returncode == 0, fixed.stderr
        assert "FIXED under tso (safety) with 2 fences" in fixed.stdout
        report = (self.folder / "report.html").read_text(encoding="utf-8")
        assert "FIXED with 2 fences" in report
        inserted = re.findall(r'class="line inserted"[^>]*><span class="no">\+</span><code>(.*?)</code>', report)
        assert [re.sub("<[^>]*>", "", line).strip() for line in inserted] == ["mfence();", "mfence();"]

        diff = self.memfence("fix", example, "--diff").stdout
        applied = self.run("patch", "-p1", text=diff)
        assert applied.returncode == 0, applied.stdout + applied.stderr
        assert self.memfence("check", example, "--model", "tso").returncode == 0

        path = self.folder / example
        path.write_text(path.read_text().replace("    mfence();\n", "", 1))
        assert self.memfence("check", example, "--model", "tso").returncode == 1

        path.write_text(path.read_text().replace("work = true", "wrok = true"))
        broken = self.memfence("check", example)
        assert broken.returncode == 3
        assert "error[MF101]" in broken.stderr and "did you mean `work`?" in broken.stderr
        assert "\n    " in self.memfence("explain", "MF101").stdout
