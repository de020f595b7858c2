"""How fences are chosen, and where the text with them goes."""

from __future__ import annotations

from pathlib import Path

from memfence.report.formats.table import FORMAT_NAMES
from memfence.verbs.option import MOST, Group, Option
from memfence.verbs.question_rules import edits, fixed_by_checks, shared_by_machines
from memfence.verbs.rules import (
    needs_model,
    needs_value,
    not_with,
    on_one_machine,
    one_with_states,
    orders_by_count_or_cost,
    several_sets,
    standard_input_is_free,
)

FIX, RELAX = frozenset({"fix"}), frozenset({"relax"})
C = frozenset({"c"})
FENCES, ATOMIC_WRITES = edits(atomic=False), edits(atomic=True)
ANSWER = frozenset({"output", "in_place", "diff", "json", "quiet"})
BY_RUNNING = ANSWER | FORMAT_NAMES | {"macros", "include", "std", "timeout", "model"}
"""What `fix --run` knows."""

CHOSEN = (
    Option(
        name="atomic",
        verbs=FIX,
        group=Group.FIXING,
        kind=Path,
        metavar="LIST",
        one_program=True,
        rules=(one_with_states, ATOMIC_WRITES),
        help="With --ltl: atomic writes, read and written.",
    ),
    Option(
        name="atomic_waits",
        verbs=FIX,
        group=Group.FIXING,
        choices=("own", "all"),
        default="own",
        rules=(one_with_states, ATOMIC_WRITES),
        help="An atomic write waits for its own process's stores, or for all (DVE).",
    ),
    Option(
        name="minimise",
        verbs=FIX,
        group=Group.FIXING,
        choices=("count", "cost", "first"),
        default="count",
        rules=(orders_by_count_or_cost,),
        help="Fewest edits, least cost, or the first set the papers' greedy loops find.",
    ),
    Option(
        name="every",
        verbs=FIX,
        group=Group.FIXING,
        keyword="all",
        kind=bool,
        flags=("--all",),
        default=False,
        rules=(FENCES, several_sets),
        help="List every minimal set.",
    ),
    Option(
        name="via",
        verbs=FIX,
        group=Group.FIXING,
        choices=("tso",),
        shows_default=False,
        rules=(needs_model("pso", because="--via tso requires --model pso"), FENCES),
        help="For PSO: mfences until it works under TSO, then sfences.",
    ),
    Option(
        name="kinds",
        verbs=FIX,
        group=Group.FIXING,
        metavar="LIST",
        rules=(one_with_states, FENCES),
        help="What may be written: some of mfence,sfence,locked.",
    ),
    Option(
        name="style",
        verbs=FIX,
        group=Group.FIXING,
        choices=("fence", "store", "asm"),
        default="fence",
        languages=C,
        rules=(one_with_states, FENCES),
        help="C: write C11 fences, make atomic stores seq_cst where possible, or write assembly.",
    ),
    Option(
        name="cost",
        verbs=FIX,
        group=Group.FIXING,
        keyword="costs",
        flags=("--cost", "--costs"),
        metavar="KIND=N,...|measured",
        rules=(one_with_states, needs_value("minimise", "cost", because="it goes with --minimise cost")),
        help="Default mfence=10,sfence=2,locked=10; a loop is times 10. measured: as on this processor.",
    ),
    Option(
        name="output",
        verbs=FIX | RELAX,
        group=Group.EVERYDAY,
        keyword="",
        kind=Path,
        flags=("-o", "--output"),
        metavar="OUT",
        one_program=True,
        rules=(not_with("in_place", because="use one of --in-place and -o"),),
        help="Write the text to OUT.",
    ),
    Option(
        name="in_place",
        verbs=FIX | RELAX,
        group=Group.EVERYDAY,
        keyword="",
        kind=bool,
        default=False,
        one_program=True,
        rules=(standard_input_is_free,),
        help="Write the text back to FILE.",
    ),
    Option(
        name="diff",
        verbs=FIX | RELAX,
        group=Group.EVERYDAY,
        keyword="",
        kind=bool,
        default=False,
        one_program=True,
        help="Print the diff only.",
    ),
    Option(
        name="keep",
        verbs=RELAX,
        group=Group.FIXING,
        kind=int,
        repeats=True,
        metavar="LINE",
        least=1,
        most=MOST,
        shows_default=False,
        help="Leave the orders of this line of FILE as they are; may be repeated.",
    ),
    Option(
        name="bench",
        verbs=FIX,
        group=Group.FIXING,
        keyword="",
        metavar="CMD",
        languages=C,
        goes_with=FORMAT_NAMES | {"json"},
        alone="it does not go with --bench, which times every way to write the fix",
        help="C: time every way to write the fix with CMD, where {} is the file.",
    ),
    Option(
        name="run",
        verbs=FIX,
        group=Group.FIXING,
        keyword="",
        kind=bool,
        default=False,
        languages=C,
        goes_with=BY_RUNNING,
        alone="it has no meaning together with --run",
        rules=(needs_model("tso", because="the executions that --run fences are those of TSO: use --model tso"),),
        help="C: run the compiled program, and fence its borderline executions.",
    ),
    Option(
        name="cluster",
        verbs=FIX,
        group=Group.SEARCHING,
        metavar="local|HOST:PORT",
        rules=(one_with_states, on_one_machine, shared_by_machines, fixed_by_checks),
        help="Share each search for what fails between the machines of a Ray cluster; local: this one.",
    ),
)
