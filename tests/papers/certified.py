"""Which answers carry a certificate, what do the checkers say of it, and what does it cost? A table, in Markdown.

    python tests/papers/certified.py [GROUP ...] [--seconds N] [--states N] [--rows]

Every HOLDS of a group is certified, and judged by the C++ checker and by the Python one, the latter up to so many
states; by the proved one as well where it is built and knows the kind. A row counts what holds, what has a certificate,
and what the checkers accept; then what writing (a check with `--certificate`) and checking cost as multiples of a plain
check: processor time within one process, geometric mean and worst, and bytes per state beyond 100,000 states. `--rows`
prints every answer as well. Exit code 1 if a certificate of ours is refused.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import exp, inf, log
from pathlib import Path
from random import Random
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "papers")]

from memfence.api.certify import check_certified  # noqa: E402
from memfence.api.check import check  # noqa: E402
from memfence.api.fix import fix  # noqa: E402
from memfence.api.verify import verify  # noqa: E402
from memfence.certificates.checker.native import NotForTheFastChecker  # noqa: E402
from memfence.certificates.checker.proved import EXECUTABLE, VARIABLE  # noqa: E402
from memfence.certificates.format.container import read_chunks  # noqa: E402
from memfence.certificates.format.sections import SECTION  # noqa: E402
from memfence.diagnostics import InputError  # noqa: E402
from memfence.pipeline import load, load_text  # noqa: E402
from memfence.program.ir import Program  # noqa: E402
from memfence.program.load_options import COptions, LoadOptions  # noqa: E402
from memfence.program.text.properties import print_expression  # noqa: E402
from memfence.questions.ltl.parser import parse_formula  # noqa: E402
from memfence.source import SourceText  # noqa: E402
from memfence.synthesis.result import FixResult  # noqa: E402
from memfence.tasks.answer import Verdict  # noqa: E402
from support.corpus import CORPUS  # noqa: E402
from support.generators.cyclic_programs import cyclic_program  # noqa: E402

MODELS = ("sc", "tso", "pso")
MOST_BEEM_STATES = 300_000
FAST = {
    "invariant", "persistent", "implied", "sc-itself", "race-free", "robust", "triangular", "state-robust",
    "ranks", "automata", "dual", "alone", "minimum",
}  # fmt: skip
"""The kinds of sections that the C++ checker judges."""
FIXING = 20
"""Seconds for fences."""
REPEATED_BELOW = 0.2
"""Seconds: what is faster is measured three times, and the best counts."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: a program, and the options of `check`."""

    name: str
    program: Callable[[], Program]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Certified:
    """What became of one answer that holds."""

    name: str
    states: int = 0
    size: int = 0
    missing: str | None = None
    native: bool | None = None
    python: bool | None = None
    proved: bool | None = None
    proving: float = 0.0
    writing: float = 0.0
    checking: float = 0.0


def examples() -> Iterator[Asked]:
    folder = ROOT / "examples"
    paths = [p for p in sorted(folder.rglob("*")) if p.suffix in (".pml", ".litmus", ".dve", ".rmm", ".pst")]
    for path in paths:
        if "linden_wolper" not in path.parts:
            yield from _safety(path)


def examples_in_c() -> Iterator[Asked]:
    """The examples in C: safety, persistence and robustness; then those for any number of threads."""
    folder = ROOT / "examples" / "c"
    for path in sorted(folder.glob("*.c")):
        yield from _safety(path)
        for criterion in ("persistent", "robust"):
            yield Asked(f"{path.stem} {criterion}", lambda path=path: load(path), {"criterion": criterion})
    folder = ROOT / "examples" / "any_number" / "c"
    for row in csv.DictReader((folder / "verdicts.csv").open()):
        c = COptions(macros=(row["define"],) if row["define"] else ())
        options = LoadOptions(any_number=tuple(row["functions"].split()), c=c)
        for model in ("sc", "tso"):
            name = f"{row['program']} {row['functions']} {row['define']} {model}"
            path = folder / f"{row['program']}.c"
            yield Asked(name, lambda path=path, options=options: load(path, options), {"model": model})


def criteria() -> Iterator[Asked]:
    """Every criterion of every example in Promela that has a certain number of threads."""
    paths = sorted(path for path in (ROOT / "examples").rglob("*.pml") if "any_number" not in path.parts)
    for path in paths:
        for criterion in ("persistent", "robust", "state-robust", "trf", "drf"):
            for model in ("tso", "pso") if criterion in ("robust", "state-robust") else ("tso",):
                options = {"criterion": criterion, "model": model}
                name = f"{path.parent.name}/{path.stem} {criterion} {model}"
                yield Asked(name, lambda path=path: load(path), options)


def linden_wolper() -> Iterator[Asked]:
    for path in sorted((ROOT / "examples" / "linden_wolper").glob("*.pml")):
        yield from _safety(path)


def _safety(path: Path) -> Iterator[Asked]:
    for model in MODELS:
        yield Asked(f"{path.stem} {model}", lambda path=path: load(path), {"model": model})


def persistence() -> Iterator[Asked]:
    from test_persistence_table import ROWS, program

    for criterion in ("persistent", "robust"):
        for name in ROWS:
            yield Asked(f"{name} {criterion}", lambda name=name: program(name), {"criterion": criterion})


def fixed_persistence() -> Iterator[Asked]:
    """The rows that are not persistent, with the fences that make them so."""
    from test_persistence_table import ROWS, program

    for name in ROWS:
        if ROWS[name]["persist_fences"] != "0":
            yield Asked(f"{name} fixed", lambda name=name: _fixed(program(name)), {"criterion": "persistent"})


def _fixed(program: Program) -> Program:
    """The program with its fences, as its text has them."""
    result = fix(program, criterion="persistent", timeout_seconds=FIXING)
    if not isinstance(result, FixResult) or result.patched is None:
        raise ValueError("it was not fixed in time")
    return load_text(SourceText(program.source.path, result.patched), program.options)


def dual() -> Iterator[Asked]:
    from test_dual_corpus import ALSO_SAFE, SAFE

    for name in (*SAFE, *ALSO_SAFE):
        folder = CORPUS if name.startswith("memorax") else CORPUS / "persist" / "single"
        yield Asked(name, lambda path=folder / f"{name}.rmm": load(path), {"model": "tso"})


def beem() -> Iterator[Asked]:
    """Formulas that hold and states that are not reachable, by BEEM's known answers; the smallest models first."""
    from beem import property_of, small_instances
    from beem_answers import as_predicates

    ordered = sorted(small_instances(MOST_BEEM_STATES), key=lambda instance: (instance.states, instance.name))
    for instance in ordered:
        for known in instance.answers:
            if known.is_ltl == known.is_yes:
                stated = property_of(instance, known.number)
                define = tuple(as_predicates(stated.definitions).items())
                asked = {"ltl": stated.formula, "define": define} if known.is_ltl else _unreachable(instance, stated)
                yield Asked(f"{instance.name} {known.number}", instance.load, {"model": "sc"} | asked)


def _unreachable(instance: Any, stated: Any) -> dict[str, Any]:
    """What no state may be: the formula, which has no temporal operators."""
    from beem_answers import as_expression, as_predicates

    program = instance.load()
    parsed = parse_formula(stated.formula, program, as_predicates(stated.definitions))
    return {"forbid": print_expression(as_expression(parsed.formula, tuple(a.expr for a in parsed.atoms)), program)}


def random_programs(count: int = 4_700) -> Iterator[Asked]:
    for seed in range(count):
        random = Random(seed)
        program = cyclic_program(seed, ordered=seed % 3 == 0)
        places = " && ".join(f"P{p}@#{random.randrange(len(one.locations))}" for p, one in enumerate(program.processes))
        options = {"model": random.choice(MODELS), "forbid": places + random.choice(["", " && x0 == 1"])}
        yield Asked(f"random {seed}", lambda program=program: program, options)


GROUPS: dict[str, Callable[[], Iterator[Asked]]] = {
    "examples": examples,
    "c": examples_in_c,
    "criteria": criteria,
    "linden-wolper": linden_wolper,
    "persistence": persistence,
    "fixed": fixed_persistence,
    "dual": dual,
    "beem": beem,
    "random": random_programs,
}


def certified(asked: Asked, place: Path, seconds: float, most_states: int) -> Certified | None:
    """What became of the answer; None where it is not HOLDS."""
    program = asked.program()
    options = asked.options | {"timeout_seconds": seconds}
    plain, proving = measured(lambda: check(program, **options))
    if plain.answer.verdict is not Verdict.HOLDS:
        return None
    found = Certified(asked.name, proving=proving)
    proof, found.writing = measured(lambda: check_certified(program, place, verified=False, **options))
    if proof.written is None:
        found.missing = proof.missing
        return found
    found.size = proof.written.size
    found.states = plain.stats.states
    if found.states <= most_states or _is_for_the_fast_checker(place):
        _judge(found, place, program, most_states)
    return found


def _is_for_the_fast_checker(place: Path) -> bool:
    """Whether no section is left to the Python checker, which takes its time."""
    with place.open("rb") as file:
        kinds = [json.loads(chunk.content)["kind"] for chunk in read_chunks(file) if chunk.kind == SECTION]
    return set(kinds) <= FAST


T = TypeVar("T")


def measured(ask: Callable[[], T]) -> tuple[T, float]:
    """The answer, and the processor time that it took, that of child processes included."""
    best = inf
    for _ in range(3):
        begin = sum(os.times()[2:4]) + time.process_time()
        answer = ask()
        best = min(best, sum(os.times()[2:4]) + time.process_time() - begin)
        if best > REPEATED_BELOW:
            break
    return answer, best


def _judge(found: Certified, place: Path, program: Program, most_states: int) -> None:
    fast, found.checking = measured(lambda: verify(place, program))
    assert fast.is_valid, f"{found.name}: {fast.refused}"
    assert fast.checked is not None
    found.states = fast.checked.states
    found.native = True if fast.checked.checker == "native" else None
    if found.native is None:
        found.python = True
    elif found.states <= most_states:
        found.python = verify(place, program, checker="python").is_valid
        assert found.python, found.name
    if found.states <= most_states and (os.environ.get(VARIABLE) or shutil.which(EXECUTABLE)):
        try:
            found.proved = verify(place, program, checker="proved").is_valid
        except InputError:
            return  # it does not know the kind
        assert found.proved, found.name


def row(group: str, all_found: list[Certified]) -> str:
    written = [one for one in all_found if one.missing is None]
    large = [one for one in written if one.states >= 100_000]
    cells = [
        group,
        len(all_found),
        len(written),
        sum(one.native is True for one in written),
        sum(one.python is True for one in written),
        sum(one.proved is True for one in written) or "-",
        f"{max((one.states for one in written), default=0):,}",
        _mean([one.writing / one.proving for one in written]),
        _mean([one.checking / one.proving for one in written if one.checking]),
        f"{max((one.size / one.states for one in large), default=0):.2f} ({len(large)})",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def _mean(ratios: list[float]) -> str:
    return f"{exp(sum(map(log, ratios)) / len(ratios)):.2f} ({max(ratios):.2f})" if ratios else "-"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("groups", nargs="*", default=list(GROUPS))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--states", type=int, default=20_000)
    parser.add_argument("--rows", action="store_true")
    given = parser.parse_args()
    print(
        "| group | holds | certified | C++ | Python | proved "
        "| most states | writing | checking | most bytes per state |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for group in given.groups:
            found = list[Certified]()
            for asked in GROUPS[group]():
                try:
                    one = certified(asked, Path(folder) / "proof.mfc", given.seconds, given.states)
                except AssertionError as problem:
                    print(f"refused: {asked.name}: {problem}", file=sys.stderr)
                    refused += 1
                    continue
                except (InputError, NotForTheFastChecker, ValueError) as problem:
                    print(f"not asked: {asked.name}: {problem!r}"[:200], file=sys.stderr)
                    continue
                if one is not None:
                    found.append(one)
                    if one.missing is not None:
                        print(f"no certificate: {one.name}: {one.missing}", file=sys.stderr)
                    elif given.rows:
                        cells = (one.proving, one.writing / one.proving, one.checking / one.proving)
                        shown = " ".join(f"{cell:.3f}" for cell in cells)
                        print(
                            f"{one.name}: {one.states} states, {one.size} bytes, {shown}", file=sys.stderr, flush=True
                        )
            print(row(group, found), flush=True)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
