"""Real libraries as they are installed, through small clients: a verdict by every door, and one order or fence less.

    python benchmarks/libraries.py [--match TEXT] [--timeout SECONDS] [--markdown]

A row for each module whose Debian package is installed: `check` under x86, rc11 and armv8, `run` under x86, then the
same doors with the library weakened in one place, up to the first that finds it. The headers stay where they are; a
weakened one is in a folder of its own, in front of them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from library_table import MODULES, Module

CLIENTS = Path(__file__).with_name("clients")
DOORS = (("check", "x86"), ("check", "rc11"), ("check", "armv8"), ("run", "x86"))
SYSTEM = tuple(f"/usr/include/{name}" for name in ("", "x86_64-linux-gnu/", "dpdk/", "x86_64-linux-gnu/dpdk/"))
DECIDED = ("holds", "holds_up_to", "violated")


def version(package: str) -> str | None:
    """Of the installed package; None where there is none."""
    if shutil.which("dpkg-query") is None:
        return None
    asked = ["dpkg-query", "-W", "-f", "${Status} ${Version}", package]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.split()[-1] if done.returncode == 0 and " installed " in done.stdout else None


def headers(package: str) -> Iterator[tuple[Path, str]]:
    """The package's headers, and how they are included."""
    listed = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=True).stdout.split("\n")
    for name in listed:
        folder = max((one for one in SYSTEM if name.startswith(one)), key=len, default=None)
        if folder is not None and Path(name).is_file():
            yield Path(name), name.removeprefix(folder)


def weakened(module: Module, folder: Path) -> bool:
    """All headers of the package in the folder, with one text replaced; whether the text is there."""
    header, before, after = module.weaker
    found = False
    for path, name in headers(module.package):
        text = path.read_text(errors="replace")
        start = text.find(module.near) if name == header else -1
        place = text.find(before, start) if start >= 0 else -1
        if place >= 0:
            text, found = text[:place] + after + text[place + len(before) :], True
        to = folder / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text)
    return found


def ask(module: Module, door: tuple[str, str], seconds: float, folder: Path | None = None) -> tuple[str, float, str]:
    """The verdict, the seconds that it took, and why there is none."""
    verb, model = door
    line = [sys.executable, "-m", "memfence", verb, str(CLIENTS / module.client), "--model", model, "--json"]
    line += ["--timeout", str(seconds), *(["-I", str(folder)] if folder else [])]
    line += [part for one in module.include for part in ("-I", one)]
    macros = [f"{name}={value}" for name, value in module.macros.items()]
    macros += module.portable if model != "x86" else ()
    line += [part for one in macros for part in ("-D", one)]
    if verb == "run":
        line += [part for one in module.flags for part in ("--flag", one)]
    begin = time.monotonic()
    try:
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=3 * seconds + 30)
    except subprocess.TimeoutExpired:
        return "hang", time.monotonic() - begin, ""
    took = time.monotonic() - begin
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        return "no answer", took, done.stderr[-200:]
    return answer.get("verdict") or "refused", took, reason(answer)


def reason(answer: dict[str, object]) -> str:
    """What was refused, or what goes wrong."""
    for key in ("errors", "models", "findings"):
        for one in answer.get(key) or ():  # type: ignore[attr-defined]
            return str(one.get("message") or one.get("reason") or one.get("text"))
    return str(answer.get("limit") or answer.get("summary") or "")


def row(module: Module, seconds: float) -> dict[str, object]:
    found: dict[str, object] = {"module": module.name, "package": module.package}
    for door in DOORS:
        verdict, took, why = ask(module, door, seconds)
        found[" ".join(door)] = verdict
        found[f"{' '.join(door)} s"] = round(took, 1)
        if verdict not in ("holds", "holds_up_to"):
            found[f"{' '.join(door)} why"] = why[:160]
    with tempfile.TemporaryDirectory(prefix="memfence-") as name:
        if not weakened(module, Path(name)):
            found["weaker"] = "no such text"
            return found
        held = [door for door in DOORS if found[" ".join(door)] != "violated"]
        by = next((door for door in held if ask(module, door, seconds, Path(name))[0] == "violated"), None)
        found["weaker"] = "not found" if by is None else " ".join(by)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--match", default="")
    parser.add_argument("--timeout", type=float, default=60)
    asked = parser.parse_args()
    rows = []
    for module in MODULES:
        if asked.match not in module.name or version(module.package) is None:
            continue
        rows.append(row(module, asked.timeout))
        print(json.dumps(rows[-1]), flush=True)
    decided = sum(any(one[" ".join(door)] in DECIDED for door in DOORS) for one in rows)
    weak = sum(one["weaker"] not in ("not found", "no such text") for one in rows)
    print(f"{len(rows)} modules, {decided} decided, weaker ones found: {weak}", file=sys.stderr)


if __name__ == "__main__":
    main()
