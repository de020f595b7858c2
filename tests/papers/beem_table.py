"""`make papers`, last part: every known answer of the BEEM database, beside memfence's, as a table.

State counts and reachability for instances up to `--states` states, LTL up to `--ltl-states`; `--family` and `--least`
take a part. The last line counts what agrees; the exit code is 1 if anything does not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from beem import Instance, small_instances  # noqa: E402
from beem_answers import Answered, answer, count_states  # noqa: E402

HEAD = "| instance | states | seconds | properties: answer (steps of the run, seconds) | as DiVinE |"


def main() -> int:
    options = arguments().parse_args()
    chosen = [
        instance
        for instance in small_instances(options.states)
        if instance.states >= options.least and (not options.family or instance.family in options.family)
    ]
    if not options.no_head:
        print(HEAD)
        print("|---|---:|---:|---|---|", flush=True)
    counted: list[Answered] = []
    for instance in sorted(chosen, key=lambda one: (one.family, one.number)):
        found = list(questions(instance, options.ltl_states, options.threads))
        counted += found
        print(row(instance, found), flush=True)
    if not options.no_head:
        print(f"\n{summary(counted)}")
    return 0 if all(one.agrees for one in counted) else 1


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=5_000_000)
    parser.add_argument("--ltl-states", type=int, default=1_000_000)
    parser.add_argument("--least", type=int, default=0)
    parser.add_argument("--family", action="append")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--no-head", action="store_true", help="rows only, to be put together")
    return parser


def questions(instance: Instance, ltl_states: int, threads: int) -> Iterator[Answered]:
    yield count_states(instance, threads)
    for known in instance.answers:
        if not known.is_ltl or instance.states <= ltl_states:
            yield answer(instance, known, threads)


def row(instance: Instance, found: list[Answered]) -> str:
    counted, *asked = found
    cells = ", ".join(cell(one) for one in asked)
    wrong = [one.question for one in found if not one.agrees]
    verdict = f"**no: {', '.join(wrong)}**" if wrong else "yes"
    return f"| {instance.name} | {counted.states:,} | {counted.seconds:.2f} | {cells} | {verdict} |"


def cell(one: Answered) -> str:
    steps = f"{one.length}, " if one.length else ""
    return f"{one.question}: {one.answer} ({steps}{one.seconds:.2f})"


def summary(counted: list[Answered]) -> str:
    kinds = (("state counts", "states"), ("reachability properties", "reach"), ("LTL properties", "LTL"))
    parts = []
    for name, start in kinds:
        these = [one for one in counted if one.question.startswith(start)]
        parts.append(f"{sum(one.agrees for one in these)} of {len(these)} {name}")
    return f"As DiVinE: {', '.join(parts)}; {sum(one.seconds for one in counted):.0f} s of processor time."


if __name__ == "__main__":
    sys.exit(main())
