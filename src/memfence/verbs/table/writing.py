"""What is printed, what is written beside it, and proofs."""

from __future__ import annotations

from pathlib import Path

from memfence.report.formats.table import FORMATS
from memfence.verbs.names import CHECKING, IN_JSON
from memfence.verbs.option import Group, Option
from memfence.verbs.question_rules import edits
from memfence.verbs.rules import one_with_states, sequential_consistency, statistics

C = frozenset({"c"})
FENCES = edits(atomic=False)
_MEASURED = "what a processor did is measured, not proved"
_NO_ANSWER = "this verb answers no question that could be proved"
UNPROVED = {
    "why": "a needed fence is shown by a run, which was replayed; to prove that another is not needed, remove it and "
    "use `memfence check --verify`",
    "relax": "the patched text is proved by `memfence check --verify`, once it is written",
    "run": "runs of a compiled program are no proof about its states; use `memfence check --verify` on the source",
    "simulate": "a walk is replayed step by step, and claims nothing about other runs",
    "monitor": "one recorded execution is judged, and nothing is claimed about others",
    "test": "the proof would be about one client; write the client and use `memfence check --verify`",
    **dict.fromkeys(("reproduce", "conform", "cost"), _MEASURED),
    **dict.fromkeys(("translate", "examples", "explain", "ui", "lsp", "mcp"), _NO_ANSWER),
}
"""Verbs whose answers no certificate can be about, and why."""

PRINTED = (
    Option(
        name="json",
        verbs=IN_JSON,
        group=Group.EVERYDAY,
        keyword="",
        kind=bool,
        default=False,
        help="Print one JSON object.",
    ),
    Option(
        name="quiet",
        verbs=frozenset({*CHECKING, "relax", "test", "explore", "run", "monitor", "verify", "reproduce", "conform"}),
        group=Group.EVERYDAY,
        keyword="",
        kind=bool,
        flags=("--quiet", "-q"),
        default=False,
        help="Print the verdict only.",
    ),
    Option(
        name="quiet",
        verbs=frozenset({"why"}),
        group=Group.EVERYDAY,
        keyword="",
        kind=bool,
        flags=("--quiet", "-q"),
        default=False,
        help="Print no runs.",
    ),
    Option(
        name="verbose",
        verbs=CHECKING | {"test"},
        group=Group.WRITTEN,
        keyword="",
        kind=bool,
        flags=("--verbose", "-v"),
        default=False,
        one_program=True,
        rules=(statistics,),
        help="Print every statistic.",
    ),
    Option(
        name="strict",
        verbs=frozenset({"check"}),
        group=Group.WRITTEN,
        keyword="",
        kind=bool,
        default=False,
        help="A warning makes the exit code 1.",
    ),
)

REPORTS = (
    *(
        Option(
            name=form.name,
            verbs=IN_JSON,
            group=Group.EVERYDAY if form.for_people else Group.WRITTEN,
            keyword="",
            kind=Path,
            metavar="OUT",
            one_program=True,
            help=form.help,
        )
        for form in FORMATS
    ),
    Option(
        name="witness",
        verbs=frozenset({"check"}),
        group=Group.WRITTEN,
        keyword="",
        kind=Path,
        metavar="OUT",
        one_program=True,
        languages=C,
        rules=(sequential_consistency,),
        help="C, --model sc: also write a violation as SV-COMP's witness (YAML 2.0).",
    ),
)

PROOFS = (
    Option(
        name="certificate",
        verbs=CHECKING,
        group=Group.WRITTEN,
        keyword="",
        kind=Path,
        metavar="OUT.mfc",
        one_program=True,
        rules=(one_with_states, FENCES),
        help="Also write the proof, for `memfence verify`.",
    ),
    Option(
        name="verify",
        verbs=CHECKING,
        group=Group.WRITTEN,
        keyword="",
        kind=bool,
        default=False,
        one_program=True,
        rules=(one_with_states, FENCES),
        help="Have the proof checked without the engines.",
    ),
    Option(
        name="verify",
        verbs=frozenset({"compare", "explore"}),
        group=Group.WRITTEN,
        keyword="",
        kind=bool,
        default=False,
        one_program=True,
        help="Have the proof checked without the engines.",
    ),
    *(
        Option(
            name="verify",
            verbs=frozenset({verb}),
            group=Group.WRITTEN,
            keyword="",
            kind=bool,
            default=False,
            never=reason,
        )
        for verb, reason in UNPROVED.items()
    ),
)

WRITTEN = (*PRINTED, *REPORTS, *PROOFS)
