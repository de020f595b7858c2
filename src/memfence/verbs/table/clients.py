"""Which clients of an object are made, and what their outcomes are compared with."""

from __future__ import annotations

from pathlib import Path

from memfence.models.catalogue import USUAL
from memfence.verbs.option import MOST, Group, Option

TEST = frozenset({"test"})
CONSISTENCY = ("serialisable", "linearizable", "quiescent")

CLIENTS = (
    Option(
        name="model",
        verbs=TEST,
        group=Group.EVERYDAY,
        keyword="models",
        metavar="MODELS",
        default=USUAL,
        completed="models",
        help="The memory models, with commas between.",
    ),
    Option(
        name="objects",
        verbs=TEST,
        group=Group.EVERYDAY,
        repeats=True,
        flags=("--object",),
        metavar="NAME",
        shows_default=False,
        help="Only the object of this name. Default: every one that FILE describes.",
    ),
    Option(
        name="criterion",
        verbs=TEST,
        group=Group.EVERYDAY,
        choices=CONSISTENCY,
        default="serialisable",
        help="Every outcome is that of some order of the calls: one that respects each thread's, "
        "time as well, or neither.",
    ),
    Option(
        name="shape",
        verbs=TEST,
        group=Group.EVERYDAY,
        repeats=True,
        metavar="TxK",
        shows_default=False,
        help="Clients of up to T threads with up to K calls each: 2x2, 3x1; "
        "or by roles: '1 producer x 2, 1 consumer x 2'.",
    ),
    Option(
        name="clients",
        verbs=TEST,
        group=Group.EVERYDAY,
        kind=int,
        metavar="N",
        least=1,
        most=MOST,
        default=200,
        help="Look at N clients at most, smallest first.",
    ),
    Option(
        name="every",
        verbs=TEST,
        group=Group.EVERYDAY,
        keyword="all",
        kind=bool,
        flags=("--all",),
        default=False,
        help="Go on after a client that fails.",
    ),
    Option(
        name="output",
        verbs=TEST,
        group=Group.EVERYDAY,
        keyword="",
        kind=Path,
        flags=("-o", "--output"),
        metavar="OUT",
        help="Write the smallest client that fails to OUT, as a program.",
    ),
    Option(
        name="unroll",
        verbs=TEST,
        group=Group.SEARCHING,
        kind=int,
        metavar="K",
        least=0,
        most=MOST,
        default=4,
        help="Where loops need a bound, under rc11 and the like: follow them K times.",
    ),
)
