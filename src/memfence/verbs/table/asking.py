"""What is asked: the model, the criterion, and what must hold."""

from __future__ import annotations

from memfence.models.catalogue import NAMES, USUAL, WITHOUT_STATES
from memfence.report.formats.table import FORMAT_NAMES
from memfence.tasks.criterion import Criterion
from memfence.verbs.models import RELAXED, WITH_RULES
from memfence.verbs.names import ABOUT_STATES, BY_MODELS, CHECKING
from memfence.verbs.option import MOST, Group, Option
from memfence.verbs.question_rules import buffers, defined_for_model, infinite_runs, persistence, safety
from memfence.verbs.rules import (
    certified_by_formulas,
    certified_weakly,
    executions,
    fences_do_something,
    needs,
    one_with_states,
    safety_of_models,
    states,
)

CYCLES = ("acceptance", "non-progress")
CRITERIA = tuple(criterion.value for criterion in Criterion)
_OTHERS = ", ".join(name for name in NAMES if name not in WITH_RULES)

MUTANTS_KNOW = (
    frozenset(
        {
            "model", "unroll", "mutate_at_least", "also", "json", "quiet", "forbid", "invariant", "final", "deadlock",
            "timeout", "memory", "threads", "compact", "language", "int_bits", "split_reads", "macros", "include",
            "std", "clang", "entry", "threads_bound", "heap_bound", "recursion_bound", "assertions_only", "allow",
            "as_compiled",
        }
    )
    | FORMAT_NAMES
)  # fmt: skip

ASKING = (
    Option(
        name="model",
        verbs=frozenset({"check"}),
        group=Group.EVERYDAY,
        metavar="MODEL",
        default="tso",
        completed="models",
        help=f"{', '.join(WITH_RULES)}; {_OTHERS}, NAME.cat; or a list with commas.",
    ),
    Option(
        name="model",
        verbs=frozenset({"fix", "why"}),
        group=Group.EVERYDAY,
        metavar="MODEL",
        default="tso",
        completed="models",
        rules=(fences_do_something,),
        help=f"{', '.join(RELAXED)}; {_OTHERS}, NAME.cat or a list: orders in C.",
    ),
    Option(
        name="model",
        verbs=frozenset({"relax"}),
        group=Group.EVERYDAY,
        metavar="LIST",
        default=USUAL,
        completed="models",
        help="The models under which FILE must work: a list with commas.",
    ),
    Option(
        name="model",
        verbs=frozenset({"reproduce"}),
        group=Group.EVERYDAY,
        choices=RELAXED,
        default="tso",
        help="The model that finds what to look for.",
    ),
    Option(
        name="criterion",
        verbs=CHECKING,
        in_python_for=frozenset({"reproduce"}),
        group=Group.EVERYDAY,
        choices=CRITERIA,
        rules=(safety_of_models, defined_for_model),
        help="What must hold. Default: safety if a property or assertion is stated, else robust. "
        "persistent, povso, po and trf are about TSO; trf and drf about SC runs.",
    ),
    Option(
        name="criterion",
        verbs=frozenset({"why"}),
        group=Group.EVERYDAY,
        keyword="criteria",
        repeats=True,
        choices=CRITERIA,
        rules=(safety_of_models, defined_for_model),
        help="For which criterion, may be repeated. Default: as for check.",
    ),
    Option(
        name="unroll",
        verbs=BY_MODELS | {"relax"},
        group=Group.SEARCHING,
        kind=int,
        metavar="K",
        least=0,
        most=MOST,
        rules=(executions,),
        help=f"For {', '.join(WITHOUT_STATES)} and cat files: follow loops K times.",
    ),
    Option(
        name="mutate",
        verbs=frozenset({"check"}),
        group=Group.ASKED,
        keyword="",
        kind=bool,
        default=False,
        goes_with=MUTANTS_KNOW,
        alone="it does not go with --mutate, which asks about safety again and again",
        one_program=True,
        help="What does the test not notice? Each order one step weaker, each fence dropped, each locked operation "
        "split, one at a time.",
    ),
    Option(
        name="mutate_at_least",
        verbs=frozenset({"check"}),
        group=Group.ASKED,
        keyword="",
        kind=int,
        metavar="PERCENT",
        least=0,
        most=100,
        rules=(needs("mutate", because="it goes with --mutate"),),
        help="With --mutate: exit with 1 where fewer are noticed.",
    ),
    Option(
        name="forbid",
        verbs=ABOUT_STATES,
        group=Group.ASKED,
        repeats=True,
        metavar="EXPR",
        rules=(safety,),
        help="No reachable state satisfies this: 'P0@cs && P1@cs'.",
    ),
    Option(
        name="invariant",
        verbs=ABOUT_STATES,
        group=Group.ASKED,
        repeats=True,
        metavar="EXPR",
        rules=(safety,),
        help="Every reachable state satisfies this: 'P0.r <= x'.",
    ),
    Option(
        name="final",
        verbs=ABOUT_STATES,
        group=Group.ASKED,
        repeats=True,
        metavar="EXPR",
        rules=(safety,),
        help="Every final state satisfies this: all ended, nothing pending.",
    ),
    Option(
        name="ltl",
        verbs=BY_MODELS | {"compare"},
        in_python_for=frozenset({"reproduce"}),
        group=Group.ASKED,
        metavar="F",
        rules=(safety,),
        help="Every fair run satisfies this formula.",
    ),
    Option(
        name="define",
        verbs=CHECKING | {"compare"},
        in_python_for=frozenset({"why", "reproduce"}),
        group=Group.ASKED,
        repeats=True,
        metavar="NAME=EXPR",
        rules=(states, infinite_runs),
        help="A name for a predicate, to use in --ltl.",
    ),
    Option(
        name="fair",
        verbs=CHECKING | {"compare"},
        in_python_for=frozenset({"why", "reproduce"}),
        group=Group.ASKED,
        kind=bool,
        default=False,
        rules=(states, infinite_runs),
        help="With --ltl: weakly fair processes only.",
    ),
    Option(
        name="strongly_fair",
        verbs=CHECKING | {"compare"},
        in_python_for=frozenset({"why", "reproduce"}),
        group=Group.ASKED,
        kind=bool,
        default=False,
        rules=(states, infinite_runs, certified_weakly),
        help="With --ltl: strongly fair processes only.",
    ),
    Option(
        name="cycles",
        verbs=frozenset({"check"}),
        group=Group.ASKED,
        metavar="KIND",
        choices=CYCLES,
        languages=frozenset({"promela"}),
        rules=(states, safety, certified_by_formulas),
        help="No fair run goes round an `accept` label, or never comes to `progress`.",
    ),
    Option(
        name="deadlock",
        verbs=BY_MODELS,
        in_python_for=frozenset({"compare", "reproduce"}),
        group=Group.ASKED,
        kind=bool,
        default=False,
        rules=(safety,),
        help="Some step is always possible before the end; Spin's `end` labels count.",
    ),
    Option(
        name="ends",
        verbs=frozenset({"check"}),
        group=Group.ASKED,
        kind=bool,
        default=False,
        rules=(one_with_states, safety),
        help="Every thread returns, under fair scheduling.",
    ),
    Option(
        name="buffer_bound",
        verbs=CHECKING | {"compare"},
        in_python_for=frozenset({"why", "reproduce"}),
        group=Group.SEARCHING,
        kind=int,
        metavar="K",
        least=1,
        most=65_535,
        rules=(states, buffers),
        help="At most K stores pending in a buffer. Default: any.",
    ),
    Option(
        name="bound_per",
        verbs=CHECKING,
        in_python_for=frozenset({"why", "compare", "reproduce"}),
        group=Group.SEARCHING,
        choices=("variable", "process"),
        default="variable",
        rules=(states, infinite_runs),
        help="With --ltl, TSO: the bound is one for each variable of a process, or for all of them.",
    ),
    Option(
        name="abstract",
        verbs=frozenset({"check", "fix"}),
        group=Group.SEARCHING,
        kind=int,
        metavar="K",
        least=0,
        most=MOST,
        rules=(one_with_states, persistence),
        help="For persistent: first flatten all but one process after K steps.",
    ),
)
