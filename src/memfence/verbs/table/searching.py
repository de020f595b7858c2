"""How to search, and what may be spent on it."""

from __future__ import annotations

from memfence.verbs.names import ABOUT_STATES, CHECKING
from memfence.verbs.option import MOST, Group, Option, Unit
from memfence.verbs.question_rules import for_engine, shared_by_machines, states_one_by_one
from memfence.verbs.rules import for_models, on_one_machine, states

SEARCHING = (
    Option(
        name="engine",
        verbs=CHECKING,
        in_python_for=frozenset({"why", "reproduce"}),
        group=Group.SEARCHING,
        choices=("auto", "explicit", "symbolic", "dual", "graphs"),
        default="auto",
        rules=(for_models, for_engine),
        help="How to search for a violation of safety; graphs: execution by execution.",
    ),
    Option(
        name="reduce",
        verbs=CHECKING,
        in_python_for=frozenset({"why", "compare", "reproduce"}),
        group=Group.SEARCHING,
        metavar="all|none|LIST",
        default="all",
        rules=(states,),
        help="State space reductions: dead,fuse,order,slice,symmetry.",
    ),
    Option(
        name="timeout",
        verbs=frozenset({*ABOUT_STATES, "test", "explore", "run", "verify"}),
        in_python_for=frozenset({"simulate"}),
        group=Group.EVERYDAY,
        keyword="timeout_seconds",
        kind=float,
        unit=Unit.SECONDS,
        metavar="TIME",
        least=0,
        most=MOST,
        help="Give up after TIME: 30 (seconds), 5m, 1h30m.",
    ),
    Option(
        name="memory",
        verbs=frozenset({*ABOUT_STATES, "test", "verify"}),
        group=Group.SEARCHING,
        keyword="memory_megabytes",
        kind=int,
        unit=Unit.MEGABYTES,
        metavar="SIZE",
        least=1,
        most=MOST,
        help="Give up beyond SIZE: 500 (megabytes), 4G.",
    ),
    Option(
        name="threads",
        verbs=ABOUT_STATES,
        group=Group.SEARCHING,
        kind=int,
        metavar="N",
        least=0,
        most=1024,
        default=0,
        rules=(states,),
        help="Threads of a large search; 0: one per processor.",
    ),
    Option(
        name="compact",
        verbs=ABOUT_STATES,
        group=Group.SEARCHING,
        kind=bool,
        default=False,
        rules=(states, states_one_by_one),
        help="Less memory for visited states, more time for runs. Also chosen near --memory.",
    ),
    Option(
        name="cluster",
        verbs=frozenset({"check"}),
        group=Group.SEARCHING,
        metavar="local|HOST:PORT",
        rules=(states, on_one_machine, shared_by_machines),
        help="Share the search, or several FILEs, between the machines of a Ray cluster; local: this one.",
    ),
)
